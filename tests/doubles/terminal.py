"""A keyboard, a pipe, a clock and ids for the terminal messenger, so that it runs without a terminal."""

import asyncio
import io
import itertools
import queue
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from bot.adapters.terminal import Streams, TerminalMessenger
from bot.config import TerminalSettings
from bot.model import BotMessage, MessageRef

SETTINGS = TerminalSettings()


class FedPipe:
    """A byte source that gives what it is fed, and waits while there is nothing."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        for chunk in chunks:
            self.feed(chunk)

    def feed(self, chunk: bytes) -> None:
        """Bytes to be read; b"" is the end."""
        self._chunks.put(chunk)

    def read(self, size: int, /) -> bytes:
        """The next chunk. Chunks must be no longer than the reader asks for."""
        chunk = self._chunks.get()
        assert len(chunk) <= size
        return chunk


class Recorded(TerminalMessenger):
    """Remembers which answers it showed, in order: the first is number 1 on the screen."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.answers: list[MessageRef] = []

    async def post(self, message: BotMessage) -> MessageRef:
        ref = await super().post(message)
        if message.is_answer:
            self.answers.append(ref)
        return ref


def ticking_clock() -> Callable[[], datetime]:
    """One second passes with every look."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    seconds = itertools.count()
    return lambda: start + timedelta(seconds=next(seconds))


def counted_ids() -> Callable[[], str]:
    """`id-0001`, `id-0002`, ..."""
    numbers = itertools.count(1)
    return lambda: f"id-{next(numbers):04}"


async def nothing_to_wait_for() -> None:
    """A bot that is always at rest."""


def piped(
    source: FedPipe | io.BytesIO,
    *,
    folder: Path = Path(),
    teacher: bool = False,
    greeting: str = "",
    wait: Callable[[], Awaitable[None]] | None = nothing_to_wait_for,
) -> tuple[Recorded, io.StringIO]:
    """A messenger between two pipes, and what it writes."""
    out = io.StringIO()
    messenger = Recorded(
        streams=Streams(stdin=source, stdout=out),
        settings=SETTINGS,
        clock=ticking_clock(),
        new_id=counted_ids(),
        folder=folder,
        teacher=teacher,
        greeting=greeting,
        wait_until_answered=wait,
    )
    return messenger, out


class WatchedScreen(io.StringIO):
    """An output that says when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def write(self, text: str, /) -> int:
        self.written.set()
        return super().write(text)


class Typist:
    """A person at a keyboard, and the screen before them."""

    def __init__(
        self, keyboard: PipeInput, folder: Path = Path(), stop: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.keyboard = keyboard
        self.out = WatchedScreen()
        self.messenger = Recorded(
            streams=Streams(
                stdin=io.BytesIO(), stdout=self.out, interactive=True, keyboard=keyboard, cursor=DummyOutput()
            ),
            settings=SETTINGS,
            clock=ticking_clock(),
            new_id=counted_ids(),
            folder=folder,
            greeting="memory in /tmp/here.db",
            stop=stop,
        )

    def type(self, text: str) -> None:
        """Press keys; `\\r` is Enter."""
        self.keyboard.send_text(text)

    async def until_seen(self, text: str) -> None:
        """Wait until it stands on the screen."""
        async with asyncio.timeout(10):
            while text not in self.out.getvalue():
                self.out.written.clear()
                await self.out.written.wait()


@contextmanager
def typist(folder: Path = Path(), stop: Callable[[], Awaitable[None]] | None = None) -> Iterator[Typist]:
    """A keyboard that is put away at the end."""
    with ExitStack() as stack:
        yield Typist(stack.enter_context(create_pipe_input()), folder, stop)


def said(text: str, *, is_answer: bool = True, lessons: tuple[str, ...] = (), private_to: str = "") -> BotMessage:
    """Something the bot says in the terminal's channel."""
    return BotMessage(
        workspace=SETTINGS.workspace,
        channel=SETTINGS.channel,
        text=text,
        is_answer=is_answer,
        lessons=lessons,
        private_to=private_to,
    )
