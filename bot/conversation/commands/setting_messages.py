"""Messages about settings that are changed in chat."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.conversation.answers.choice_messages import GRANTS
from bot.conversation.counts import count
from bot.conversation.messages import HowToType
from memory.model import ChatSetting, SettingChange, StandingPermission
from memory.rules.chat_settings import (
    ALLOWED_CHANNELS,
    ALLOWED_PEOPLE,
    APPROVALS,
    CONTROL_ARM,
    DIGEST,
    DIRECT,
    KNOWN_ANSWERS,
    MODE,
    OFF,
    TEACHERS,
    Settable,
    allowed_values,
)
from memory.rules.retrieval.prompt import shown_line

ADMINISTRATORS_ONLY = "That is for administrators and teachers."
ONLY_HERE = "You teach in the channel that you created; what holds everywhere is for others to change."
NOTHING_CHANGED = "Nothing of that was changed in chat."
NO_CHANGES = "Nothing was changed in chat yet."

ABOUT = {
    MODE: "which messages of a channel I answer",
    KNOWN_ANSWERS: "whether I give what people taught without asking the language model",
    TEACHERS: "who decides for everybody, beside those whom the platform and the settings file name",
    ALLOWED_PEOPLE: "who may use me; administrators always may",
    ALLOWED_CHANNELS: "where I may be used, besides direct messages",
    DIGEST: "where teachers are reminded of what waits: to each of them, in a channel, or not at all",
    APPROVALS: "whether I ask before each action with effects, or do alone what teachers approved of here (learned)",
    CONTROL_ARM: "the share of my answers that are made without lessons, to see what lessons are worth",
}
_NOBODY_SET = {
    TEACHERS: "nobody is named here",
    ALLOWED_PEOPLE: "nobody is named here",
    ALLOWED_CHANNELS: "none is named here",
}
_DIGEST = {DIRECT: "to each teacher", OFF: "off"}


def shown_value(setting: Settable, value: str) -> str:
    """A value in words; ids as they are."""
    if setting.name == CONTROL_ARM:
        return f"{float(value):.3%}".rstrip("%").rstrip("0").rstrip(".") + "%"
    if setting.name == DIGEST:
        return _DIGEST.get(value, f"in {shown_line(value, 80)}")
    return shown_line(", ".join(value.split()), 2000)


def setting_line(setting: Settable, chosen: ChatSetting | None, of_file: str) -> str:
    """The line of a setting: `mode: always here, set by ana`, or the settings file's value."""
    name = f"`{setting.name}`"
    if chosen is None:
        kept = shown_value(setting, of_file) if of_file else _NOBODY_SET.get(setting.name, "not set")
        return f"{name}: {kept}" + (" (settings file)" if of_file else "")
    where = " here" if chosen.channel else ""
    by = f", set by {chosen.changed_by}" if chosen.changed_by else ""
    return f"{name}: {shown_value(setting, chosen.value)}{where}{by}"


def overview(lines: Sequence[str], kept_in_file: Sequence[str], how_to_type: HowToType) -> str:
    """The list of all settings that may be changed in chat."""
    text = ["**Settings.** What is set here comes before the settings file, and holds at once.", ""]
    text += [f"- {line}" for line in lines]
    if kept_in_file:
        text += ["", f"Only the settings file decides {', '.join(f'`{each}`' for each in kept_in_file)}."]
    text += ["", f"`{how_to_type('settings mode')}` shows one, `{how_to_type('settings history')}` what was changed."]
    return "\n".join(text)


def one_setting(setting: Settable, line: str, how_to_type: HowToType, *, is_direct: bool) -> str:
    """One setting, and how to change it."""
    default = how_to_type(f"settings {setting.name} default")
    text = [f"{line}.", f"That is {ABOUT[setting.name]}."]
    if setting.is_list:
        what = "@somebody" if setting.name != ALLOWED_CHANNELS else "#channel"
        add, remove = (how_to_type(f"settings {setting.name} {verb} {what}") for verb in ("add", "remove"))
        text.append(f"`{add}`, `{remove}`, `{default}` for the settings file's.")
    else:
        text.append(f"It takes {allowed_values(setting)}, or `default` for the settings file's: `{default}`.")
    if setting.is_per_channel:
        there = "In direct messages" if is_direct else "For all channels at once"
        text.append(f"{there} say `everywhere` behind it.")
    return "\n".join(text)


def allowed_here(permissions: Sequence[StandingPermission]) -> str:
    """The list of actions that teachers allowed in the channel, for below the setting."""
    if not permissions:
        return ""
    lines = [
        f"{number}. `{shown_line(each.tool, 64)}`{f' ({shown_line(each.what, 80)})' if each.what else ''}: "
        f"{GRANTS[each.grant]}, by {shown_line(each.by, 30)}"
        for number, each in enumerate(permissions, start=1)
    ]
    return "\n".join(["\n\n**Allowed here**, for the same kind of arguments:", "", *lines])


def numbered(ids: Sequence[str]) -> str:
    """The ids of a list, each with the number that its button names."""
    return "\n".join(f"{number}. {shown_line(each, 80)}" for number, each in enumerate(ids, start=1))


def changes_text(changes: Sequence[SettingChange], places: Mapping[str, str], now: datetime) -> str:
    """The latest changes, newest first."""
    if not changes:
        return NO_CHANGES
    return "\n".join(["**Changed in chat, newest first:**", "", *(_change(each, places, now) for each in changes)])


def _change(change: SettingChange, places: Mapping[str, str], now: datetime) -> str:
    hours = int((now - change.at).total_seconds() // 3600)
    when = "just now" if hours < 1 else f"{count(hours, 'hour') if hours < 48 else count(hours // 24, 'day')} ago"
    where = f" in {places.get(change.channel, change.channel)}" if change.channel else ""
    before, after = (shown_line(each, 200) if each is not None else "default" for each in (change.before, change.after))
    return f"- `{change.name}`{where}: {before} → {after}, by {change.changed_by}, {when}"
