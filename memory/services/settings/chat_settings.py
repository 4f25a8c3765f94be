"""Settings that people change in chat: stored, logged, undone, and read on each use so that they apply at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from memory.errors import InvalidInput, NotAdmitted
from memory.model import EventKind, Reaction, Role, Scope, Visibility
from memory.model.chat_setting import ChatSetting, SettingChange, in_force
from memory.model.scope import platform_of
from memory.model.validation import require_whole
from memory.ports import Store, Transaction
from memory.rules.chat_settings import Settable, admits, canonical_value, effective_role, setting_named
from memory.services.core import Core, event_of_workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What a person may do in a place, by the lists set in chat."""

    role: Role
    is_admitted: bool = True


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The use cases of settings changed in chat. Only names in the core's `setting_named` have an effect."""

    _core: Core

    def here(self, scope: Scope) -> dict[str, ChatSetting]:
        """The settings in effect at the place, by name; a channel's own value overrides the workspace's."""
        with self._core.store.read() as tx:
            return settings_at(self._core, tx, scope.workspace, scope.channel)

    def values(self, workspace: str, channel: str = "") -> dict[str, str]:
        """The values set for a channel, or without one for the workspace, by name, without those of the settings file.

        The value of the digest is `dm`, `off` or the id of a channel.
        """
        with self._core.store.read() as tx:
            return values_of(settings_at(self._core, tx, workspace, channel))

    def lists_naming(self, workspace: str, person: str) -> list[str]:
        """The lists that name a person. Lists belong to the workspace and are not erased with the person."""
        with self._core.store.read() as tx:
            stored = tx.settings.within(workspace, "")
            return sorted(
                each.name for each in stored if setting_named(each.name).is_list and person in each.value.split()
            )

    def admission(self, scope: Scope, role: Role) -> Admission:
        """The effective role of a person with this role on the platform, and whether they may use the bot there."""
        with self._core.store.read() as tx:
            return admission(self._core, tx, scope, role)

    def change(self, scope: Scope, role: Role, name: str, value: str | None, *, everywhere: bool = False) -> None:
        """Set a value for the channel; for the workspace with `everywhere`, or if the setting has no channel values.

        None removes the value. Raises `InvalidInput` for an unknown name, an unusable value, a person who may not
        change it, or a setting that the settings file does not allow to change.
        """
        setting = self._may_change(scope, role, name, everywhere=everywhere)
        after = canonical_value(name, value) if value is not None else None
        with self._core.store.write() as tx:
            self._set(tx, scope, _channel(setting, scope, everywhere=everywhere), name, after)

    def edit_list(self, scope: Scope, role: Role, name: str, *, add: str = "", remove: str = "") -> None:
        """Add ids to a list or remove them. Raises as `change` does, and for a setting that is no list."""
        setting = self._may_change(scope, role, name, everywhere=True)
        if not setting.is_list:
            raise InvalidInput(f"{name} is no list")
        added = set(canonical_value(name, add).split()) if add else set[str]()
        with self._core.store.write() as tx:
            now = tx.settings.get(scope.workspace, "", name)
            ids = (set(now.value.split() if now else ()) | added) - set(remove.split())
            self._set(tx, scope, "", name, canonical_value(name, " ".join(ids)) if ids else None)

    def undo(self, scope: Scope, role: Role, name: str, *, everywhere: bool = False) -> bool:
        """Restore the value before the last change at this place; a second undo redoes the change.

        False if there was no change. Raises as `change` does.
        """
        setting = self._may_change(scope, role, name, everywhere=everywhere)
        channel = _channel(setting, scope, everywhere=everywhere)
        with self._core.store.write() as tx:
            changes = _changes(tx, scope.workspace)
            last = next((each for each in changes if (each.channel, each.name) == (channel, name)), None)
            if last is not None:
                self._set(tx, scope, channel, name, last.before)
            return last is not None

    def changes(self, workspace: str, limit: int = 20) -> list[SettingChange]:
        """The log of changes in a workspace, newest first, without those of people who were forgotten."""
        require_whole(limit, "limit")
        with self._core.store.read() as tx:
            return _changes(tx, workspace)[:limit]

    def _may_change(self, scope: Scope, role: Role, name: str, *, everywhere: bool) -> Settable:
        setting = setting_named(name)
        if name not in self._core.settable:
            raise InvalidInput(f"{name} is decided in the settings file of whoever runs me, and not in chat")
        if not setting.may_be_changed_by(role):
            who = "teachers and administrators" if setting.changed_by is Role.TEACHER else "administrators"
            raise InvalidInput(f"only {who} change {name}")
        if setting.is_per_channel and not everywhere and scope.visibility is Visibility.DIRECT:
            raise InvalidInput(f"{name} is for channels: in direct messages say `everywhere`, or change it there")
        return setting

    def _set(self, tx: Transaction, scope: Scope, channel: str, name: str, after: str | None) -> None:
        workspace, now = scope.workspace, self._core.clock()
        before = tx.settings.get(workspace, channel, name)
        if (before.value if before else None) == after:
            return
        if after is None:
            tx.settings.drop(workspace, channel, name)
        else:
            setting = ChatSetting(
                workspace=workspace, channel=channel, name=name, value=after, changed_by=scope.person, at=now
            )
            tx.settings.put(setting)
        detail = {"channel": channel, "name": name, "before": before.value if before else None, "after": after}
        tx.log.append(event_of_workspace(workspace, EventKind.SETTING_CHANGED, scope.person, now, detail))


def named_anywhere(store: Store, platform: str, name: str) -> list[str]:
    """The ids in a list set in chat, of all workspaces of a platform."""
    workspaces = [each for each in store.workspaces() if platform_of(each) == platform]
    with store.read() as tx:
        found = [each for workspace in workspaces for each in tx.settings.within(workspace, "") if each.name == name]
    return sorted({one for each in found for one in each.value.split()})


def settings_at(core: Core, tx: Transaction, workspace: str, channel: str) -> dict[str, ChatSetting]:
    """The settings in effect in a channel that may be set in chat, by name."""
    return settable_of(core, tx.settings.within(workspace, channel))


def settable_of(core: Core, stored: Iterable[ChatSetting]) -> dict[str, ChatSetting]:
    """Of the settings stored for a channel and its workspace, those in effect that may be set in chat, by name."""
    found = in_force(stored)
    return {name: each for name, each in found.items() if name in core.settable}


def admission(core: Core, tx: Transaction, scope: Scope, role: Role) -> Admission:
    """What a person with this role on the platform may do, by the lists set in chat."""
    values = values_of(settings_at(core, tx, scope.workspace, scope.channel))
    role = effective_role(role, scope.person, values)
    is_direct = scope.visibility is Visibility.DIRECT
    return Admission(role=role, is_admitted=admits(role, scope.person, scope.channel, values, is_direct=is_direct))


def require_admitted(core: Core, tx: Transaction, scope: Scope, role: Role) -> None:
    """Raise `NotAdmitted` for a person who may not use the bot in a place."""
    if not admission(core, tx, scope, role).is_admitted:
        raise NotAdmitted("the lists in chat do not name this person, or not this channel")


def admitted(core: Core, tx: Transaction, reactions: Iterable[Reaction]) -> list[Reaction]:
    """The reactions of people who may use the bot where they react, with the roles that the lists give."""
    found: list[Reaction] = []
    for each in reactions:
        place = Scope(workspace=each.workspace, channel=each.channel, person=each.actor)
        allowed = admission(core, tx, place, each.role)
        found += [replace(each, role=allowed.role)] if allowed.is_admitted or not each.is_active else []
    return found


def values_of(settings: Mapping[str, ChatSetting]) -> dict[str, str]:
    """The values of settings, by name."""
    return {name: each.value for name, each in settings.items()}


def _channel(setting: Settable, scope: Scope, *, everywhere: bool) -> str:
    return scope.channel if setting.is_per_channel and not everywhere else ""


def _changes(tx: Transaction, workspace: str) -> list[SettingChange]:
    events = [each for each in tx.log.of_episode(workspace, "") if each.kind is EventKind.SETTING_CHANGED]
    return [
        SettingChange(
            channel=str(each.detail["channel"]),
            name=str(each.detail["name"]),
            before=_text(each.detail["before"]),
            after=_text(each.detail["after"]),
            changed_by=each.actor,
            at=each.at,
        )
        for each in reversed(events)
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
