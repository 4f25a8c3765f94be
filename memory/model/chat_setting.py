"""Settings that people change in chat, and the changes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSetting:
    """One value that was set in chat: for one channel, or for the whole workspace."""

    workspace: str
    channel: str = ""
    """Empty: the whole workspace."""
    name: str
    """One of `memory.rules.chat_settings.CATALOGUE`."""
    value: str
    """As `memory.rules.chat_settings.canonical` writes it."""
    changed_by: str
    """Empty once this person was forgotten."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """One entry of the record of changes. `before` and `after` are None where nothing was set in chat."""

    channel: str
    name: str
    before: str | None
    after: str | None
    changed_by: str
    at: datetime


def in_force(settings: Iterable[ChatSetting]) -> dict[str, ChatSetting]:
    """By name, of a workspace's and one channel's settings those that hold in the channel: its own come first."""
    return {each.name: each for each in sorted(settings, key=lambda each: each.channel != "")}
