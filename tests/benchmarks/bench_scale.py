"""What recall, a message and a reaction cost with 1,000 to 1,000,000 episodes in the file: the shape of the curve.

    python -m tests.benchmarks.bench_scale [--episodes 1000,10000,100000,1000000] [--rounds 300] [--plot FILE]

Vectors are given and no model runs; 1,000 people by Zipf's law in 50 channels, all tables filled, a tenth of the
lessons shared with the workspace, `synchronous=FULL`. `--folder` keeps the stores for the next run. Wall time and the
time that the thread itself ran (`cpu`), which other work on the machine disturbs less. Each store is measured in a new
process: one that has filled a store takes memory from what that gave back, and not from the system.
"""

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import timedelta
from importlib import import_module
from math import ceil, floor, log10
from pathlib import Path

import numpy as np

from bot.app.processes.gc_tuning import collect_rarely
from memory.adapters.sql import SqlStore
from memory.model import Scope, Vector
from memory.model.evidence import ActionText
from memory.ports import EpisodeFilter
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.prompt import render_lessons
from tests.benchmarks.bulk import ANSWER, CHANNELS, EVERYTHING, TEXTS, Texts, fill, people
from tests.doubles.memory_world import World, scope

ACTIONS = tuple(ActionText(name=f"goal_{number}", description=f"goal {number} by a tool") for number in range(6))
CONFIG = RetrievalConfig(env_threshold=0.5, top_k=None, final_k=4, min_intent=0.6, soft_gate=True, max_per_author=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One operation with so many episodes; milliseconds."""

    operation: str
    episodes: int
    median: float
    p99: float
    cpu: float
    """Median of the thread's own time."""
    cpu_p99: float


class Given:
    """An embedder to which every vector is known already."""

    name, dimension = Texts.name, Texts.dimension

    def __init__(self) -> None:
        self._texts = Texts()
        self._known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors; what was not `prepared` is made now."""
        self.prepare(texts)
        return [self._known[text] for text in texts]

    def prepare(self, texts: Sequence[str]) -> None:
        """Know them from now on."""
        for text in texts:
            if text not in self._known:
                (self._known[text],) = self._texts.embed([text])


def timed(operation: str, episodes: int, action: Callable[[int], object], rounds: int, warm: int = 0) -> Row:
    """Each round once; the first `warm` do not count."""
    walls, cpus = [], []
    for number in range(rounds + warm):
        wall, cpu = time.perf_counter(), time.thread_time()
        action(number)
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.thread_time() - cpu) * 1000)
    walls, cpus = walls[warm:], cpus[warm:]
    return Row(
        operation=operation,
        episodes=episodes,
        median=statistics.median(walls),
        p99=_p99(walls),
        cpu=statistics.median(cpus),
        cpu_p99=_p99(cpus),
    )


def _p99(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(0.99 * len(times)))]


def measure(path: Path, episodes: int, rounds: int) -> tuple[list[Row], dict[str, float]]:
    """The rows of one store, and what else is told of it."""
    embedder = Given()
    goals = [f"goal {number * 37 % TEXTS} asked again {number}" for number in range(2 * rounds)]
    embedder.prepare(goals)
    collect_rarely()  # as the bot does: else looking through all modules counts as part of some recall or message
    before = _memory()
    askers = [
        scope(f"p{person}", channel=f"c{number % CHANNELS}") for number, person in enumerate(people(max(20, rounds), 5))
    ]
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        world = World(store, CONFIG, embedder)

        def recall(asker: Scope, number: int, actions: Sequence[ActionText] | None = ACTIONS) -> None:
            found = world.memory.recalling.recall(asker, goals[number % len(goals)], actions=actions)
            render_lessons(found.exemplars, budget_tokens=1500)

        everything = scope("p1", channel=EVERYTHING)
        first = time.perf_counter()
        recall(everything, 0)
        first_ms = (time.perf_counter() - first) * 1000
        assert store._plane_cache is not None
        store._plane_cache.wait()
        facts = {"first recall of all lessons, ms": first_ms, "planes ready, s": time.perf_counter() - first}
        rows = [timed("recall over all people, with first touch", episodes, lambda n: recall(askers[n], n), rounds)]
        facts |= {f"{name}, while all people ask": size - before[name] for name, size in _memory().items()}
        rows += [
            timed("recall in one scope", episodes, lambda n: recall(askers[n % 20], n), rounds, 40),
            timed(
                "recall in one scope, without evidence", episodes, lambda n: recall(askers[n % 20], n, None), rounds, 40
            ),
            timed("recall over all lessons", episodes, lambda n: recall(everything, n), rounds, 5),
        ]
        facts |= {name: size - before[name] for name, size in _memory().items()}
        facts["recall@10 over all lessons"] = recalled(store, embedder, goals[:20])
        rows += _written(world, goals, askers, episodes, rounds)
        store._plane_cache.wait()
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        world = World(store, CONFIG, embedder)
        rows.append(timed("recall over all people after a new start", episodes, lambda n: recall(askers[n], n), rounds))
    return rows, facts


def _written(world: World, goals: Sequence[str], askers: Sequence[Scope], episodes: int, rounds: int) -> list[Row]:
    """A whole message with an answer of real length, a reaction as people send them, and one within a full hour."""
    world.actions = ACTIONS
    with world.memory.store.read() as tx:
        [newest] = tx.episodes.search(askers[0].workspace, EpisodeFilter(limit=1))
    # Also after what an earlier run left in a store that is kept, whose ids would else come again.
    world.clock.now = newest.created_at + timedelta(days=400)
    asked = [world.ask(goals[number], ANSWER.format(number), of=askers[number % 20]) for number in range(rounds // 3)]

    def message(number: int) -> None:
        world.ask(goals[-1 - number], ANSWER.format(number), of=askers[number % 20])

    def react(number: int, minutes: float) -> None:
        world.clock.tick(minutes=minutes)
        world.react(asked[number], "👎" if minutes < 1 else "👍", by=asked[number].person)

    return [
        timed("whole message, answers of real length", episodes, message, rounds // 3, 5),
        timed("reaction, minutes apart", episodes, lambda n: react(n, 7), rounds // 3),
        timed("reaction, one a second", episodes, lambda n: react(n, 1 / 60), rounds // 3),
    ]


def recalled(store: SqlStore, embedder: Given, goals: Sequence[str]) -> float:
    """Of the ten nearest of all lessons, the share that is found; the nearest are told by looking at every row."""
    partition, workspace = f"channel/{EVERYTHING}", scope().workspace
    queries = np.stack(embedder.embed(goals))
    nearest: list[list[tuple[float, str]]] = [[] for _ in goals]
    with store.connected() as connection:
        rows = connection.exec_driver_sql(
            "SELECT episode_id, vector FROM recall_index WHERE workspace = ? AND partition = ?", (workspace, partition)
        )
        while some := rows.fetchmany(20_000):
            matrix = np.frombuffer(b"".join(vector for _, vector in some), "<f2").reshape(len(some), -1)
            for known, cosines in zip(nearest, queries @ matrix.astype(np.float32).T, strict=True):
                best = np.argsort(-cosines)[:10].tolist()
                known += [(cosines[place].item(), some[place][0]) for place in best]
                known[:] = sorted(known, reverse=True)[:10]
    found = 0
    for vector, known in zip(queries, nearest, strict=True):
        with store.read() as tx:
            hits = tx.episodes.nearest(workspace, [partition], embedder.name, vector, 10, -1.0).hits
        found += len({name for _, name in known} & {hit.episode_id for hit in hits})
    return found / (10 * len(goals))


def _memory() -> dict[str, float]:
    """Of this process, in MB: all, its own, and what of files is mapped, which others share and the system may drop."""
    names = {"VmRSS": "memory", "RssAnon": "memory, its own", "RssFile": "memory, mapped files"}
    lines = [line.split() for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines()]
    found = {line[0][:-1]: float(line[1]) * 1024 / 1e6 for line in lines if line[0][:-1] in names}
    return {f"{names[name]} beyond the imports, MB": size for name, size in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    anew = import_module("tests.benchmarks.bench_scale").measure  # as another process knows it
    everything: list[Row] = []
    facts: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        for episodes in map(int, options.episodes.split(",")):
            path = folder / f"{episodes}.db"
            if not path.exists():
                started = time.perf_counter()
                fill(path, episodes)
                print(f"{episodes:,} episodes written in {time.perf_counter() - started:.0f} s")
            with multiprocessing.get_context("spawn").Pool(1) as processes:
                rows, facts[episodes] = processes.apply(anew, (path, episodes, options.rounds))
            everything += rows
            for row in rows:
                print(
                    f"{episodes:>9,}  {row.operation:<46} median {row.median:8.2f} ms   p99 {row.p99:8.2f}   "
                    f"cpu {row.cpu:8.2f}   p99 {row.cpu_p99:8.2f}",
                    flush=True,
                )
            for name, value in facts[episodes].items():
                print(f"{episodes:>9,}  {name:<46} {value:15.3f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"rows": [asdict(row) for row in everything], "facts": facts}, indent=1))
    if options.plot:
        options.plot.write_text(plot(everything), encoding="utf-8")


WIDTH, HEIGHT, MARGIN = 860, 420, 50
NAMES = 330
"""Room for the names of the lines, beside their ends."""
LINE_HEIGHT = 15
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f")


def plot(rows: Sequence[Row]) -> str:
    """The medians by the number of episodes, both axes logarithmic, as SVG."""
    sizes = sorted({row.episodes for row in rows})
    decades = range(floor(log10(min(row.median for row in rows))), ceil(log10(max(row.median for row in rows))) + 1)

    def x_of(episodes: int) -> float:
        share = log10(episodes / sizes[0]) / max(1e-9, log10(sizes[-1] / sizes[0]))
        return MARGIN + share * (WIDTH - 2 * MARGIN - NAMES)

    def y_of(ms: float) -> float:
        return HEIGHT - MARGIN - (log10(ms) - decades[0]) / (len(decades) - 1 or 1) * (HEIGHT - 2 * MARGIN)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">']
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    for decade in decades:
        y = y_of(10.0**decade)
        parts.append(f'<path d="M{MARGIN} {y:.1f}H{x_of(sizes[-1]):.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" font-size="12" text-anchor="end">{10.0**decade:g}</text>')
    parts += [
        f'<text x="{x_of(size):.1f}" y="{HEIGHT - MARGIN + 20}" font-size="12" text-anchor="middle">{size:,}</text>'
        for size in sizes
    ]
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(row.operation, []).append(row)
    below = 0.0
    for number, (name, own) in enumerate(sorted(lines.items(), key=lambda line: -line[1][-1].median)):
        colour, last = COLOURS[number % len(COLOURS)], own[-1]
        points = " ".join(f"{x_of(row.episodes):.1f},{y_of(row.median):.1f}" for row in own)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        below = max(below + LINE_HEIGHT, y_of(last.median) + 4)
        parts.append(
            f'<text x="{x_of(sizes[-1]) + 8:.1f}" y="{below:.1f}" font-size="12" fill="{colour}">'
            f"{last.median:.1f}  {name}</text>"
        )
    parts.append(f'<text x="{MARGIN}" y="{HEIGHT - 8}" font-size="12">milliseconds (median) by episodes</text></svg>')
    return "\n".join(parts)


if __name__ == "__main__":
    main()
