"""The command `settings`: shows and changes settings in chat, by words and buttons."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.conversation.commands import setting_messages as texts
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.messages import sentence
from bot.conversation.reply import CommandReply
from bot.errors import CommandRefused
from bot.model import Choice
from memory.errors import InvalidInput
from memory.model import ChatSetting, Role, Visibility
from memory.rules.chat_settings import (
    ALLOWED_CHANNELS,
    APPROVALS,
    CATALOGUE,
    CONTROL_ARM,
    DIGEST,
    Settable,
    SettingKind,
    setting_named,
)

SETTINGS = "settings"
_DEFAULT, _UNDO, _HISTORY, _EVERYWHERE = "default", "undo", "history", "everywhere"
_MENTION = re.compile(r"<[@#][!&]?(?P<id>[^>|\s]+)(?:\|[^>]*)?>")
_SHARES = ("0", "0.05", "0.1", "0.2")
_LONGEST_ARGUMENT = 80 - len(SETTINGS)
"""The longest argument of a button."""
_KEY = 16
"""Characters of a permission's key in a button."""
_MOST_BUTTONS = 15
"""The most buttons for the ids of one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The values of the settings file, which count if nothing is set in chat."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name."""
    lists: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict[tuple[str, str], tuple[str, ...]])
    """Ids by platform and name."""
    is_offline: bool = False
    """Whether the model is the offline one, which is no language model."""

    def of(self, platform: str, name: str) -> str:
        """The file's value of a setting for a platform; empty if there is none."""
        return self.values.get(name, "") or " ".join(self.lists.get((platform, name), ()))


def settings(context: CommandContext, file: SettingsFile) -> CommandReply:
    """`settings`, `settings NAME`, `settings NAME VALUE [everywhere]`, `settings NAME add ID`, `settings undo NAME`."""
    if not context.role.may_promote:
        return CommandReply(text=texts.ADMINISTRATORS_ONLY)
    words = [_bare(word) for word in context.argument.split()]
    everywhere = len(words) > 1 and words[-1].lower() == _EVERYWHERE
    if everywhere and context.command.is_role_local:
        return CommandReply(text=texts.ONLY_HERE)
    words = words[:-1] if everywhere else words
    try:
        return _carried_out(context, file, words, everywhere=everywhere)
    except InvalidInput as error:
        raise CommandRefused(sentence(error)) from error


def _bare(word: str) -> str:
    """The id in a mention, or the word without `@` or `#`."""
    mention = _MENTION.fullmatch(word)
    return mention["id"] if mention else word.lstrip("@#")


def _carried_out(context: CommandContext, file: SettingsFile, words: list[str], *, everywhere: bool) -> CommandReply:
    store, scope, role = context.memory.chat_settings, context.scope, context.role
    match [words[0].lower(), *words[1:]] if words else []:
        case []:
            return _all(context, file)
        case ["history"]:
            return _history(context)
        case ["undo", name]:
            if not store.undo(scope, role, name.lower(), everywhere=everywhere):
                return CommandReply(text=texts.NOTHING_CHANGED)
            return _one(context, file, setting_named(name.lower()))
        case [name, "revoke", key] if name.lower() == APPROVALS:
            context.memory.approvals.revoke(scope, role, key)
        case [name]:
            return _one(context, file, setting_named(name))
        case [name, verb, *ids] if verb.lower() in ("add", "remove") and setting_named(name).is_list and ids:
            _edit(context, file, name, verb.lower(), ids)
        case [name, *value]:
            wanted = None if value[0].lower() == _DEFAULT else " ".join(value)
            store.change(scope, role, name, wanted, everywhere=everywhere)
    return _one(context, file, setting_named(words[0].lower()))


def _edit(context: CommandContext, file: SettingsFile, name: str, verb: str, ids: list[str]) -> None:
    """Add ids to a list or remove some. The first change starts from the settings file's list, which it replaces."""
    store, scope, role = context.memory.chat_settings, context.scope, context.role
    is_first = name not in store.here(scope) and setting_named(name).replaces_file
    begun = file.of(scope.platform, name).split() if is_first else []
    if verb == "add":
        store.edit_list(scope, role, name, add=" ".join([*begun, *ids]))
    else:
        store.edit_list(scope, role, name, add=" ".join(begun), remove=" ".join(ids))


def _all(context: CommandContext, file: SettingsFile) -> CommandReply:
    here, platform = context.memory.chat_settings.here(context.scope), context.scope.platform
    may_be_set = context.memory.core.settable
    open_ = [each for each in CATALOGUE.values() if each.name in may_be_set]
    lines = [texts.setting_line(each, here.get(each.name), file.of(platform, each.name)) for each in open_]
    closed = [name for name in CATALOGUE if name not in may_be_set]
    choices = [
        Choice(label=f"Change {each.name}", command=SETTINGS, argument=each.name)
        for each in open_
        if each.may_be_changed_by(context.role)
    ]
    people = dict.fromkeys(person for each in here.values() for person in _people(each))
    return CommandReply(
        text=texts.overview(lines, closed, context.how_to_type), choices=tuple(choices), people=tuple(people)
    )


def _people(chosen: ChatSetting) -> list[str]:
    """The people in a setting: who changed it, and who is in its value."""
    named = chosen.value.split() if CATALOGUE[chosen.name].kind is SettingKind.PEOPLE else []
    return [each for each in (chosen.changed_by, *named) if each]


def _one(context: CommandContext, file: SettingsFile, setting: Settable) -> CommandReply:
    scope = context.scope
    chosen = context.memory.chat_settings.here(scope).get(setting.name)
    is_direct = scope.visibility is Visibility.DIRECT
    line = texts.setting_line(setting, chosen, file.of(scope.platform, setting.name))
    ids = chosen.value.split() if setting.is_list and chosen else []
    text = texts.one_setting(setting, line, context.how_to_type, is_direct=is_direct)
    if ids:
        text += f"\n{texts.numbered(ids)}"
    choices = _choices(context, setting, ids, is_direct=is_direct) if setting.may_be_changed_by(context.role) else ()
    people = _people(chosen) if chosen else []
    if setting.name == APPROVALS:
        standing = context.memory.approvals.standing_permissions(scope)
        text += texts.allowed_here(standing)
        choices += tuple(
            Choice(label=f"Take back {number}", command=SETTINGS, argument=f"{APPROVALS} revoke {each.key[:_KEY]}")
            for number, each in enumerate(standing[:_MOST_BUTTONS], start=1)
        )
        people += [each.by for each in standing]
    return CommandReply(text=text, choices=choices, people=tuple(dict.fromkeys(people)))


def _choices(context: CommandContext, setting: Settable, ids: list[str], *, is_direct: bool) -> tuple[Choice, ...]:
    behind = f" {_EVERYWHERE}" if setting.is_per_channel and is_direct else ""
    if behind and context.command.is_role_local:
        return ()
    here, name = context.scope.channel, setting.name
    offered = [(each, f"{name} {each}{behind}") for each in setting.choices]
    if name == CONTROL_ARM:
        offered = [(texts.shown_value(setting, share), f"{name} {share}") for share in _SHARES]
    if name == DIGEST and not is_direct:
        offered.append(("This channel", f"{name} {here}"))
    if name == ALLOWED_CHANNELS and not is_direct and here not in ids:
        offered.append(("Add this channel", f"{name} add {here}"))
    offered += [(f"Remove {number}", f"{name} remove {each}") for number, each in enumerate(ids[:_MOST_BUTTONS], 1)]
    offered.append(("As in the settings file", f"{name} {_DEFAULT}{behind}"))
    offered.append(("Undo the last change", f"{_UNDO} {name}{behind}"))
    return tuple(
        Choice(label=label, command=SETTINGS, argument=argument)
        for label, argument in offered
        if len(argument) <= _LONGEST_ARGUMENT
    )


def _history(context: CommandContext) -> CommandReply:
    changes = context.memory.chat_settings.changes(context.scope.workspace)
    if context.role is not Role.ADMIN:  # a private channel's are for its people
        changes = [each for each in changes if each.channel in ("", context.scope.channel)]
    listed = [_ids_in(each.before) + _ids_in(each.after) + [each.changed_by] for each in changes]
    people = dict.fromkeys(person for each in listed for person in each if person)
    places = {context.scope.channel: context.scope.place} if context.scope.place else {}
    text = texts.changes_text(changes, places, context.memory.clock())
    return CommandReply(text=text, people=tuple(people))


def _ids_in(value: str | None) -> list[str]:
    return value.split() if value else []
