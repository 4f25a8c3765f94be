"""Settings that people change in chat, the log of the changes, listening modes and muted threads."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSetting:
    """One value that was set in chat: for one channel, or for the whole workspace."""

    workspace: str
    channel: str = ""
    """Empty: the whole workspace."""
    name: str
    """One of `memory.rules.chat_settings.CATALOGUE`."""
    value: str
    """As `memory.rules.chat_settings.canonical_value` writes it."""
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
    """The settings in effect in a channel, by name, given the workspace's and the channel's, which override those."""
    return {each.name: each for each in sorted(settings, key=lambda each: each.channel != "")}


class ListeningMode(StrEnum):
    """Which messages of a channel are meant for the bot."""

    MENTION = "mention"
    """Messages that mention it."""
    THREADS = "threads"
    """Also follow-ups to its answers that are clearly meant for it."""
    ALWAYS = "always"
    """Every message that is not for somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutedThread:
    """A thread, or without threads a channel, in which the bot answers only mentions."""

    workspace: str
    channel: str
    thread: str
    since: datetime
