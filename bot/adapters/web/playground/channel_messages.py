"""The messages of the test channels, and what changed since a browser looked. Kept in this process alone."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.model import Attachment, Choice

KEPT = 200
"""Messages kept of each channel, the newest ones."""
KEPT_CHANNELS = 50
"""Channels kept, those last written in."""
KEPT_FILES = 5
"""Files kept, the newest ones."""
PING_S = 15.0
"""After so long without a change whoever looks is told that there is none, so that a dead connection is noticed."""


@dataclass(slots=True, kw_only=True)
class Shown:
    """One message as it is to be seen now."""

    id: str
    channel: str
    author: str
    """The test person; empty for the bot."""
    text: str
    at: datetime
    is_answer: bool = False
    is_growing: bool = False
    """There is more of the text to come."""
    private_to: str = ""
    """The only person who sees it; empty for everybody."""
    beside: str = ""
    """The id of the answer that it stands beside."""
    asks_correction: bool = False
    """It asks what would have been right."""
    is_for: str = ""
    """Of an answer: who asked."""
    note: str = ""
    lessons: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Who put each emoji on it."""
    marks: list[str] = field(default_factory=list[str])
    """The bot's own emoji."""
    file: Attachment | None = None
    changed: int = 0
    """The number of its last change."""


@dataclass(frozen=True, slots=True)
class News:
    """What changed in a channel for one person, up to a change's number."""

    number: int
    messages: tuple[Shown, ...] = ()
    progress: str | None = None
    """What the bot is doing there; empty for nothing, None where that did not change."""


class ChannelMessages:
    """The messages of all test channels. For use on the event loop alone."""

    def __init__(self, name: str = "messages") -> None:
        self.name = name
        """Another one after a restart, when numbers begin again."""
        self._channels: OrderedDict[str, OrderedDict[str, Shown]] = OrderedDict()
        self._progress: dict[str, tuple[str, int]] = {}
        self._number = 0
        self._waiting: set[asyncio.Event] = set()
        self._with_file: list[Shown] = []
        self.is_closed = False

    def show(self, message: Shown) -> None:
        """Show a message, or another state of it."""
        channel = self._channels.setdefault(message.channel, OrderedDict())
        channel[message.id] = message
        self._channels.move_to_end(message.channel)
        while len(channel) > KEPT:
            channel.popitem(last=False)
        while len(self._channels) > KEPT_CHANNELS:
            gone, _ = self._channels.popitem(last=False)
            self._progress.pop(gone, None)
        if message.file is not None and message not in self._with_file:
            self._with_file.append(message)
            for old in self._with_file[:-KEPT_FILES]:
                old.file = None
            del self._with_file[:-KEPT_FILES]
        message.changed = self._changed()

    def progress(self, channel: str, text: str) -> None:
        """Show what the bot is doing in a channel; an empty text takes it away."""
        if text != self._progress.get(channel, ("", 0))[0]:
            self._progress[channel] = (text, self._changed())

    def find(self, channel: str, message_id: str) -> Shown | None:
        """A message of a channel."""
        return self._in(channel).get(message_id)

    def _in(self, channel: str) -> Mapping[str, Shown]:
        return self._channels.get(channel, OrderedDict())

    def seen(self, channel: str, person: str, after: int = 0) -> News:
        """What this person sees there that changed after a number."""
        messages = self._in(channel).values()
        text, number = self._progress.get(channel, ("", 0))
        return News(
            self._number,
            tuple(each for each in messages if each.changed > after and each.private_to in ("", person)),
            text if number > after else None,
        )

    async def follow(self, channel: str, person: str, after: int) -> AsyncIterator[News]:
        """What changes there for this person, from a number on, until it is closed.

        Changes that come faster than they are taken are taken together. Empty news come after `PING_S` of silence.
        """
        more = asyncio.Event()
        self._waiting.add(more)
        try:
            while not self.is_closed:
                news = self.seen(channel, person, after)
                if news.messages or news.progress is not None:
                    after = news.number
                    yield news
                    continue
                more.clear()
                try:
                    await asyncio.wait_for(more.wait(), PING_S)
                except TimeoutError:
                    yield News(after)
        finally:
            self._waiting.discard(more)

    def close(self) -> None:
        """Nobody looks any more."""
        self.is_closed = True
        self._wake()

    def _changed(self) -> int:
        self._number += 1
        self._wake()
        return self._number

    def _wake(self) -> None:
        for each in self._waiting:
            each.set()
