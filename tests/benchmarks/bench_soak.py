"""Whether a message and a reaction cost the same after many others, through the whole bot.

    python -m tests.benchmarks.bench_soak [--messages 10000] [--pace hour|days] [--statements 10]

The conversation layer, the offline model, the hashing embedder and SQLite with synchronous=FULL in a temporary file;
the messenger only counts. Every message is answered, and two people react to each answer. The clock is simulated: at
the pace of an `hour` all votes fall into one window of the limit; at the pace of `days` ten minutes lie between two
messages and the upkeep jobs run when they are due, beside the measurement. Prints medians, statements and memory for
each window of a tenth of the messages, how far the last window is from the second one (the first warms the caches and
files the first lessons), and on demand the statements whose time grew most.
"""

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sqlalchemy import event

from bot.app.wiring.build import Running, assemble
from bot.app.wiring.policies import retrieval_config
from bot.config import load_settings
from bot.model import BotMessage, MessageRef, PersonMessage, PersonReaction
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.secrets import FormatFinder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds
from memory.model import Scope
from memory.services import Memory
from memory.services.upkeep import JOBS
from tests.benchmarks.bench_load import resident_mib
from tests.doubles.conversation import RecordingMessenger
from tests.doubles.memory_world import FakeClock, scope

PEOPLE = ("ana", "bob", "cy", "dan", "eve")
CHANNELS = ("c1", "c2", "c3")
THINGS = ("router", "desk", "printer", "van", "bike", "door", "lamp", "badge", "phone", "chair", "screen", "oven")
VERBS = ("reset", "clean", "order", "return", "book", "open", "close", "paint", "repair", "rent", "move", "print")
KINDS = ("old", "new", "red", "green", "small", "large", "spare", "broken", "heavy", "wooden", "shared", "cheap")
PACES = {"hour": timedelta(minutes=59), "days": timedelta(minutes=10)}


class CountingMessenger(RecordingMessenger):
    """Keeps the id of the last message it posted, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.posted = 0

    @property
    def last(self) -> str:
        return f"post-{self.posted}"

    async def post(self, message: BotMessage) -> MessageRef:
        self.posted += 1
        return MessageRef(workspace=message.workspace, channel=message.channel, message_id=self.last)

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        return

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        return


@dataclass
class Window:
    """What one part of the soak cost."""

    messages: list[float] = field(default_factory=list[float])
    """Milliseconds of the processor, each: what else the machine does counts little."""
    reactions: list[float] = field(default_factory=list[float])
    waits: dict[str, list[float]] = field(default_factory=lambda: {"message": [], "reaction": []})
    """Milliseconds by the clock on the wall."""
    statements: dict[str, list[int]] = field(default_factory=lambda: {"message": [], "reaction": []})
    times: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds by statement."""
    mib: float = 0.0

    def row(self, number: int) -> str:
        asked, reacted = (statistics.median(each) for each in self.statements.values())
        waited, waited_for = (statistics.median(each) for each in self.waits.values())
        return (
            f"{number:6d} {statistics.median(self.messages):11.2f} {statistics.median(self.reactions):11.2f} "
            f"{waited:11.2f} {waited_for:11.2f} {asked:10.0f} {reacted:10.0f} {self.mib:7.0f}"
        )


HEADER = (
    f"{'':>6} {'processor ms':>23} {'elapsed ms':>23} {'statements':>21}\n"
    f"{'up to':>6} {'message':>11} {'reaction':>11} {'message':>11} {'reaction':>11} {'message':>10} {'reaction':>10} "
    f"{'MiB':>7}"
)


class Statements:
    """Counts what the store runs, and how long each statement takes."""

    def __init__(self, store: SqlStore) -> None:
        self.count = 0
        self.times: defaultdict[str, float] = defaultdict(float)
        self._began = 0.0
        event.listen(store._engine, "before_cursor_execute", self._before)
        event.listen(store._engine, "after_cursor_execute", self._after)

    def _before(self, *_: object) -> None:
        self.count += 1
        self._began = time.perf_counter()

    def _after(self, _: object, __: sqlite3.Cursor, statement: str, *___: object) -> None:
        self.times[statement] += time.perf_counter() - self._began


class Soak:
    """One bot that is talked to for long."""

    def __init__(self, running: Running, memory: Memory, store: SqlStore, clock: FakeClock, step: timedelta) -> None:
        self._running = running
        self._memory = memory
        self._clock = clock
        self._step = step
        self._chance = random.Random(7)
        self._messenger = CountingMessenger()
        self._sink = running.goodbot.sink(self._messenger)
        self._statements = Statements(store)

    async def window(self, messages: int) -> Window:
        """So many messages, each with its reactions; then the jobs that are due, which are not measured."""
        window = Window()
        self._statements.times.clear()
        for _ in range(messages):
            who, other = self._chance.sample(PEOPLE, 2)
            here = scope(who, channel=self._chance.choice(CHANNELS))
            window.messages.append(await self._timed(self._ask(here), window, "message"))
            answer = self._messenger.last
            for person in (who, other):
                said = self._react(scope(person, channel=here.channel), answer)
                window.reactions.append(await self._timed(said, window, "reaction"))
            self._clock.now += self._step
        window.times = dict(self._statements.times)
        window.mib = resident_mib()
        for job in JOBS:
            self._memory.upkeep.run_due(job.name, "soak")
        return window

    async def _timed(self, work: Awaitable[None], window: Window, what: str) -> float:
        before, started, used = self._statements.count, time.perf_counter(), time.process_time()
        await work
        window.statements[what].append(self._statements.count - before)
        window.waits[what].append((time.perf_counter() - started) * 1000)
        return (time.process_time() - used) * 1000

    async def _ask(self, by: Scope) -> None:
        words = (self._chance.choice(each) for each in (VERBS, KINDS, THINGS))
        text, name = "how do I {} the {} {}?".format(*words), self._memory.new_id()
        message = PersonMessage(event_id=name, scope=by, message_id=name, text=text, at=self._clock())
        await self._sink(message)
        await self._running.goodbot.idle()

    async def _react(self, by: Scope, answer: str) -> None:
        self._clock.now += timedelta(microseconds=1)
        await self._sink(
            PersonReaction(
                event_id=self._memory.new_id(),
                scope=by,
                message_id=answer,
                emoji=self._chance.choices("👍👎", (9, 1))[0],
                added=True,
                at=self._clock(),
            )
        )


async def soak(folder: Path, messages: int, pace: str) -> list[Window]:
    """Talk to a fresh bot for so many messages and print a row for each tenth of them."""
    settings = load_settings(
        {"DATABASE_URL": f"sqlite:///{folder / 'soak.db'}"}, config_path=None, cwd=folder, data_dir=folder
    )
    clock = FakeClock()
    store = SqlStore.open(settings.storage.database_url.get_secret_value())
    memory = Memory(
        store,
        HashingEmbedder(),
        clock=clock,
        new_id=TimeOrderedIds(clock, random.Random(7).getrandbits),
        secrets=FormatFinder(),
        retrieval=retrieval_config(settings),
        candidates=settings.recall.candidates,
    )
    running = assemble(settings, memory)
    await running.warm_up
    step = PACES[pace] / messages if pace == "hour" else PACES[pace]
    bot = Soak(running, memory, store, clock, step)
    windows = []
    print(HEADER)
    for number in range(1, 11):
        windows.append(await bot.window(messages // 10))
        print(windows[-1].row(number * messages // 10), flush=True)
    await running.close()
    store.close()
    return windows


def growth(name: str, earlier: list[float], later: list[float]) -> str:
    """How the median changed from one window to another."""
    before, after = statistics.median(earlier), statistics.median(later)
    return f"{name}: {before:.2f} -> {after:.2f} ms ({after / before - 1:+.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--pace", choices=list(PACES), default="hour")
    parser.add_argument("--statements", type=int, default=0, help="how many of those that grew most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        windows = asyncio.run(soak(Path(folder), options.messages, options.pace))
    second, last = windows[1], windows[-1]
    print(growth("message", second.messages, last.messages))
    print(growth("reaction", second.reactions, last.reactions))
    grown = {text: took - second.times.get(text, 0.0) for text, took in last.times.items()}
    for text, seconds in sorted(grown.items(), key=lambda each: -each[1])[: options.statements]:
        each = seconds * 1000 / len(last.messages)
        print(f"{each:+8.3f} ms for each message: {' '.join(text.split())[:400]}")


if __name__ == "__main__":
    main()
