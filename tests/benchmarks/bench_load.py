"""The whole bot under load: many conversations at once, then a steady stream of reactions, on one process.

    python -m tests.benchmarks.bench_load [--conversations 200] [--seconds 60] [--embedder packaged]

Slack's messenger with the real slack-bolt over Socket Mode, the offline model, SQLite in a temporary file; Slack and
its people run in another process. Measured in the bot's event loop by a task that wakes every 5 ms: how late it was.
Baselines in the same run: the same loop with nothing to do; an idle process that measures itself at the same time
(`other idle`: its worst case), which shows what the machine alone does; and the same bot whose memory works on the
event loop instead of beside it (shorter). Prints medians and worst cases.
"""

import argparse
import asyncio
import gc
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ParamSpec, TypeVar

from bot.conversation.executor import Executor
from tests.benchmarks.slack_crowd import Seen, crowd
from tests.benchmarks.stage import TICK_S, Stage, beside

P = ParamSpec("P")
R = TypeVar("R")

PER_SECOND = 50
TARGET_MS = 50.0
_IDLE_S = 5.0


@dataclass
class Phase:
    """How late the loop was, in seconds, and how much memory the process held at the end."""

    name: str
    late: list[float] = field(default_factory=list[float])
    collected: list[float] = field(default_factory=list[float])
    """How long each garbage collection took."""
    mib: float = 0.0
    elsewhere: float = 0.0
    """How late an idle process was at worst, in seconds."""
    busy: float = 0.0
    """Processor time per second: 1 is one core."""

    def row(self) -> str:
        median, p99, worst = _spread(self.late)
        pause = max(self.collected, default=0.0) * 1000
        over = sum(late * 1000 > TARGET_MS for late in self.late)
        return (
            f"{self.name:<34} {median:8.2f} {p99:8.2f} {worst:8.2f} {over:6d} {self.elsewhere * 1000:10.2f} "
            f"{pause:9.2f} {self.mib:8.0f} {self.busy:6.2f}   ({len(self.late)} ticks)"
        )


HEADER = (
    f"{'event loop late by, ms':<34} {'median':>8} {'p99':>8} {'worst':>8} {'>50ms':>6} {'other idle':>10} "
    f"{'worst gc':>9} {'MiB':>8} {'cores':>6}"
)


def _spread(seconds: Sequence[float]) -> tuple[float, float, float]:
    ordered = sorted(seconds)
    return (
        statistics.median(ordered) * 1000,
        ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000,
        ordered[-1] * 1000,
    )


def resident_mib() -> float:
    """What the process holds in memory now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def watched(name: str, control: Connection) -> Iterator[Phase]:
    """Measure the running loop until the block ends, and an idle process beside it."""
    control.send("from now on")
    control.recv()
    phase, started = Phase(name), 0.0

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            phase.late.append(max(0.0, time.perf_counter() - before - TICK_S))

    def collecting(when: str, _: dict[str, int]) -> None:
        nonlocal started
        if when == "start":
            started = time.perf_counter()
        else:
            phase.collected.append(time.perf_counter() - started)

    gc.callbacks.append(collecting)
    began, used = time.perf_counter(), time.process_time()
    ticking = asyncio.get_running_loop().create_task(tick())
    try:
        yield phase
    finally:
        ticking.cancel()
        gc.callbacks.remove(collecting)
        control.send("how late?")
        phase.elsewhere = control.recv()
        phase.mib = resident_mib()
        phase.busy = (time.process_time() - used) / (time.perf_counter() - began)


async def on_the_loop(self: Executor, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """The baseline: everything synchronous is done where it is asked for."""
    return function(*args, **kwargs)


async def _serve(stage: Stage, seconds: float) -> tuple[list[Phase], Seen]:
    """Let the crowd at the bot. Returns what each phase was like."""
    async with stage.bot("slack"):
        with watched("idle (baseline)", stage.idle) as idle:
            await asyncio.sleep(_IDLE_S)
        with watched("conversations at once", stage.idle) as talking:
            stage.crowd.send("ask")
            assert await asyncio.to_thread(stage.crowd.recv) == "answered"
        phases = [idle, talking]
        stage.crowd.send("react")
        seen = asyncio.create_task(asyncio.to_thread(stage.crowd.recv))
        for part in ("first", "second"):
            with watched(f"{PER_SECOND} reactions/s, {part} half", stage.idle) as reacting:
                await asyncio.wait({seen}, timeout=seconds / 2 if part == "first" else None)
            phases.append(reacting)
        stage.crowd.send("leave")
    result: Seen = seen.result()
    return phases, result


def measure(conversations: int, seconds: float, embedder: str, on_loop: bool) -> None:
    """One bot in this process from its start to its end; prints a table."""
    if on_loop:
        Executor.__call__ = on_the_loop  # type: ignore[method-assign]  # the baseline is this bot but for one thing
    with beside(crowd, conversations, int(seconds * PER_SECOND), PER_SECOND, embedder=embedder) as stage:
        phases, seen = asyncio.run(_serve(stage, seconds))
    report(phases, seen)


def report(phases: Sequence[Phase], seen: Seen) -> None:
    """Print the rows of one bot."""
    print(HEADER)
    for phase in phases:
        print(phase.row())
    rows = {"question to answer": seen.answers, "reaction to committed": seen.reactions}
    for name, values in rows.items():
        median, p99, worst = _spread(values)
        print(f"{name:<34} {median:8.1f} {p99:8.1f} {worst:8.1f} ms   ({len(values)} of them)")
    worst = max(_spread(phase.late)[2] for phase in phases[1:])
    print(f"worst case {worst:.1f} ms, which is {worst / _spread(phases[0].late)[2]:.1f} times that of the idle loop")
    grown = phases[-1].mib - phases[-2].mib
    print(f"memory grew by {grown:+.1f} MiB over the second half of the reactions")
    print(f"what Slack objected to: {seen.complaints or 'nothing'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the reactions go on")
    parser.add_argument("--embedder", default="packaged", help="packaged, hashing, or any other model")
    parser.add_argument("--without-baseline", action="store_true", help="leave out the bot that works on its loop")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    runs = [("as it is", options.seconds, False)]
    if not options.without_baseline:
        runs.append(("with its memory on the event loop (baseline)", min(options.seconds, 10.0), True))
    for name, seconds, on_loop in runs:
        print(f"\nThe bot {name}: {options.conversations} conversations, {seconds:g} s of reactions", flush=True)
        bot = spawn.Process(target=measure, args=(options.conversations, seconds, options.embedder, on_loop))
        bot.start()
        bot.join()


if __name__ == "__main__":
    main()
