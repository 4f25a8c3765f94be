"""The settings that may be changed in chat: their names, values and scopes, and who may change them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from memory.errors import InvalidInput
from memory.model import ListeningMode, Role


class SettingKind(StrEnum):
    """The kind of a setting's value."""

    CHOICE = "choice"
    """One of a few words."""
    SHARE = "share"
    """A number within a range, or a percentage."""
    PEOPLE = "people"
    """Ids of people."""
    CHANNELS = "channels"
    """Ids of channels."""
    CHOICE_OR_CHANNEL = "choice or channel"
    """One of a few words, or the id of a channel."""


MODE = "mode"
KNOWN_ANSWERS = "known-answers"
TEACHERS = "teachers"
ALLOWED_PEOPLE = "allowed-people"
ALLOWED_CHANNELS = "allowed-channels"
DIGEST = "digest"
CONTROL_ARM = "control-arm"
APPROVALS = "approvals"
ALWAYS_ASK, LEARNED = "ask", "learned"
ON, OFF, DIRECT = "on", "off", "dm"

MOST_IDS = 100
_ID = re.compile(r"[A-Za-z0-9][\w.:-]{0,79}")
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s?(%?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settable:
    """A setting that may be changed in chat."""

    name: str
    kind: SettingKind
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    """The range of a share."""
    is_per_channel: bool = False
    """Whether each channel may have its own value; otherwise, there is one for the workspace."""
    changed_by: Role = Role.ADMIN
    """The lowest role that may change it."""

    @property
    def replaces_file(self) -> bool:
        """Whether a value replaces that of the settings file. Teachers named in chat are added to the file's."""
        return self.name != TEACHERS

    @property
    def is_list(self) -> bool:
        """Whether its value is a list of ids."""
        return self.kind in (SettingKind.PEOPLE, SettingKind.CHANNELS)

    def may_be_changed_by(self, role: Role) -> bool:
        """Whether a person of this role may change it."""
        return role is Role.ADMIN or (self.changed_by is Role.TEACHER and role.may_promote)


_ALL = (
    Settable(
        name=MODE, kind=SettingKind.CHOICE, choices=tuple(ListeningMode), is_per_channel=True, changed_by=Role.TEACHER
    ),
    Settable(
        name=KNOWN_ANSWERS, kind=SettingKind.CHOICE, choices=(ON, OFF), is_per_channel=True, changed_by=Role.TEACHER
    ),
    Settable(name=TEACHERS, kind=SettingKind.PEOPLE),
    Settable(name=ALLOWED_PEOPLE, kind=SettingKind.PEOPLE),
    Settable(name=ALLOWED_CHANNELS, kind=SettingKind.CHANNELS),
    Settable(name=DIGEST, kind=SettingKind.CHOICE_OR_CHANNEL, choices=(DIRECT, OFF)),
    Settable(name=CONTROL_ARM, kind=SettingKind.SHARE, low=0.0, high=0.5),
    Settable(
        name=APPROVALS,
        kind=SettingKind.CHOICE,
        choices=(ALWAYS_ASK, LEARNED),
        is_per_channel=True,
        changed_by=Role.TEACHER,
    ),
)
CATALOGUE: Mapping[str, Settable] = MappingProxyType({each.name: each for each in _ALL})
NAMES = frozenset(CATALOGUE)


def setting_named(name: str) -> Settable:
    """The setting of this name. Raises `InvalidInput`, which lists the known names."""
    if name not in CATALOGUE:
        raise InvalidInput(f"there is no setting {name!r} to change in chat; there are {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def canonical_value(name: str, value: str) -> str:
    """The value in its stored form. Raises `InvalidInput`, which describes valid values."""
    setting, words = setting_named(name), value.split()
    found = _read(setting, words)
    if found is None:
        raise InvalidInput(f"{name} takes {allowed_values(setting)}")
    return found


def _read(setting: Settable, words: list[str]) -> str | None:
    if setting.is_list:
        ids = sorted(set(words))
        return " ".join(ids) if 0 < len(ids) <= MOST_IDS and all(map(_ID.fullmatch, ids)) else None
    if setting.kind is SettingKind.SHARE:
        return _share(setting, " ".join(words))
    if len(words) != 1:
        return None
    word = words[0].lower()
    if word in setting.choices:
        return word
    # "digest on" names no channel.
    is_id = setting.kind is SettingKind.CHOICE_OR_CHANNEL and word != ON and _ID.fullmatch(words[0])
    return words[0] if is_id else None


def _share(setting: Settable, text: str) -> str | None:
    number = _NUMBER.fullmatch(text)
    if number is None:
        return None
    share = float(number[1]) / (100 if number[2] else 1)
    return f"{share:.8g}" if setting.low <= share <= setting.high else None


def allowed_values(setting: Settable) -> str:
    """A setting's valid values in words: `mention, threads or always`."""
    match setting.kind:
        case SettingKind.CHOICE:
            return f"{', '.join(setting.choices[:-1])} or {setting.choices[-1]}"
        case SettingKind.CHOICE_OR_CHANNEL:
            return f"{', '.join(setting.choices)} or a channel"
        case SettingKind.SHARE:
            return f"a share from {setting.low:g} to {setting.high:g}, for example 0.05 or 5%"
        case SettingKind.PEOPLE:
            return f"up to {MOST_IDS} people"
        case SettingKind.CHANNELS:
            return f"up to {MOST_IDS} channels"


def listed_ids(name: str, values: Mapping[str, str]) -> list[str]:
    """The ids on a list that is set in chat; none where it is not set."""
    return values.get(name, "").split()


def effective_role(role: Role, person: str, values: Mapping[str, str]) -> Role:
    """A person's role with these values of settings. Settings in chat make members teachers, and lower no role."""
    is_named = role is Role.MEMBER and person in listed_ids(TEACHERS, values)
    return Role.TEACHER if is_named else role


def admits(role: Role, person: str, channel: str, values: Mapping[str, str], *, is_direct: bool) -> bool:
    """Whether a person may use the bot in a channel. Administrators always may, as only they can correct the lists."""
    if role is Role.ADMIN:
        return True
    people, channels = listed_ids(ALLOWED_PEOPLE, values), listed_ids(ALLOWED_CHANNELS, values)
    return (not people or person in people) and (is_direct or not channels or channel in channels)


def names_of(chosen: Collection[str]) -> frozenset[str]:
    """The names that a settings file allows to change in chat. Raises `ValueError` for an unknown one."""
    unknown = sorted(set(chosen) - NAMES)
    if unknown:
        raise ValueError(f"{unknown[0]} cannot be changed in chat; {', '.join(CATALOGUE)} can")
    return frozenset(chosen)
