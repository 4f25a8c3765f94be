"""The messages of the test channels and their changes, kept in this process only."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.model import Attachment, Choice

KEPT = 200
"""Messages kept per channel, newest first."""
KEPT_CHANNELS = 50
"""Channels kept, by their last message."""
KEPT_FILES = 5
"""Files kept, newest first."""
PING_S = 15.0
"""Seconds without a change after which an empty update is sent, so that dead connections are noticed."""


@dataclass(slots=True, kw_only=True)
class Shown:
    """A message in its current state."""

    id: str
    channel: str
    author: str
    """The test person who wrote it; empty for the bot."""
    text: str
    at: datetime
    is_answer: bool = False
    is_growing: bool = False
    """Whether the text is incomplete."""
    private_to: str = ""
    """The only person who sees it; empty for everybody."""
    beside: str = ""
    """The id of the answer that it is shown next to."""
    asks_correction: bool = False
    """Whether it asks for a correction."""
    is_for: str = ""
    """The person who asked, for an answer."""
    note: str = ""
    lessons: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """People who reacted, by emoji."""
    marks: list[str] = field(default_factory=list[str])
    """The bot's own emoji."""
    file: Attachment | None = None
    changed: int = 0
    """The number of its last change."""


@dataclass(frozen=True, slots=True)
class News:
    """The changes in a channel for a person, up to a change's number."""

    number: int
    messages: tuple[Shown, ...] = ()
    progress: str | None = None
    """The progress text; empty for none, None if it did not change."""


class ChannelMessages:
    """The messages of all test channels. For one event loop only."""

    def __init__(self, name: str = "messages") -> None:
        self.name = name
        """A name for this process, as the numbers start again after a restart."""
        self._channels: OrderedDict[str, OrderedDict[str, Shown]] = OrderedDict()
        self._progress: dict[str, tuple[str, int]] = {}
        self._number = 0
        self._waiting: set[asyncio.Event] = set()
        self._with_file: list[Shown] = []
        self.is_closed = False

    def show(self, message: Shown) -> None:
        """Add or update a message."""
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
        """Set the progress text of a channel; an empty one removes it."""
        if text != self._progress.get(channel, ("", 0))[0]:
            self._progress[channel] = (text, self._changed())

    def find(self, channel: str, message_id: str) -> Shown | None:
        """A message of a channel, or None."""
        return self._in(channel).get(message_id)

    def _in(self, channel: str) -> Mapping[str, Shown]:
        return self._channels.get(channel, OrderedDict())

    def seen(self, channel: str, person: str, after: int = 0) -> News:
        """The changes that a person sees in a channel after a number."""
        messages = self._in(channel).values()
        text, number = self._progress.get(channel, ("", 0))
        return News(
            self._number,
            tuple(each for each in messages if each.changed > after and each.private_to in ("", person)),
            text if number > after else None,
        )

    async def follow(self, channel: str, person: str, after: int) -> AsyncIterator[News]:
        """Yield the changes for a person in a channel after a number, until the messages are closed.

        Changes are combined if they are faster than the consumer. After `PING_S` without a change, empty news is
        yielded.
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
        """End all `follow` iterators."""
        self.is_closed = True
        self._wake()

    def _changed(self) -> int:
        self._number += 1
        self._wake()
        return self._number

    def _wake(self) -> None:
        for each in self._waiting:
            each.set()
