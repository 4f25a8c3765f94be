"""How long the store takes, as medians and ratios of one run: `python tests/benchmarks/bench_store.py [entries ...]`.

Compare only numbers of the same run. The baseline reads and scores every vector of the partition in each search, as a
store without a copy in the process has to.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import LargeBinary, create_engine, select, type_coerce

sys.path.insert(0, str(Path(__file__).parents[2]))

from memory.adapters.sql import SqlStore
from memory.adapters.sql.tables.episodes import recall_index
from memory.model import Audience, Episode, Event, EventKind, Step, StepKind, Vector, Verdict
from memory.ports import EpisodeFilter, IndexEntry, Store

DIMENSION = 384
ENTRY = IndexEntry(partition="workspace", audience=Audience.WORKSPACE, verdict=Verdict.SUCCESS)
NOW = datetime(2025, 1, 1, tzinfo=UTC)
ROUNDS = 60


def median_ms(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median of `rounds` calls after one that is not counted, in milliseconds."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def random_vectors(count: int, seed: int) -> Iterator[Vector]:
    """Unit vectors."""
    chance = np.random.default_rng(seed)
    for _ in range(count):
        vector = chance.standard_normal(DIMENSION, np.float32)
        yield vector / np.float32(np.linalg.norm(vector))


def make_episode(number: int) -> Episode:
    """An ordinary one: a few steps, a paragraph of output."""
    steps = tuple(Step(kind=StepKind.OBSERVE, text="observation " * 20) for _ in range(3))
    return Episode(
        id=f"e{number:07d}",
        workspace="w",
        goal=f"goal {number}",
        trajectory=steps,
        output="answer " * 30,
        run_id=f"r{number}",
        channel="C1",
        person="ana",
        created_at=NOW,
    )


def fill(store: Store, count: int) -> None:
    """`count` findable episodes in transactions of a thousand."""
    numbered = enumerate(random_vectors(count, seed=1))
    for _ in range(0, count, 1000):
        with store.write() as tx:
            for number, vector in (pair for pair, _ in zip(numbered, range(1000), strict=False)):
                tx.episodes.put(make_episode(number))
                tx.episodes.put_vector("w", f"e{number:07d}", "m", vector)
                tx.episodes.set_index("w", f"e{number:07d}", [ENTRY])


@contextmanager
def full_scan(path: Path) -> Iterator[Callable[[Vector], object]]:
    """The baseline: read the partition, score it, take the best ten."""
    engine = create_engine(f"sqlite:///{path}")
    columns = recall_index.c
    statement = select(columns.episode_id, type_coerce(columns.vector, LargeBinary)).where(
        columns.workspace == "w", columns.partition == "workspace", columns.vector.is_not(None)
    )

    def search(query: Vector) -> object:
        with engine.connect() as connection:
            rows = connection.execute(statement).all()
        matrix = np.frombuffer(b"".join(row[1] for row in rows), "<f2").reshape(-1, DIMENSION).astype(np.float32)
        scores = matrix @ query
        return [rows[place][0] for place in np.argsort(scores)[-10:]]

    yield search
    engine.dispose()


def measure(count: int, folder: Path) -> None:
    """One line per operation for a store of this size."""
    path = folder / f"{count}.db"
    queries = list(random_vectors(500, seed=2))
    turn = iter(queries * 100)
    with closing(SqlStore.open(f"sqlite:///{path}")) as store, full_scan(path) as scan:
        start = time.perf_counter()
        fill(store, count)
        show(count, "fill, per episode", 1000 * (time.perf_counter() - start) / count)
        start = time.perf_counter()
        nearest(store, queries[0])
        show(count, "first search", 1000 * (time.perf_counter() - start))
        near = median_ms(lambda: nearest(store, next(turn)))
        show(count, "nearest 10", near)
        base = median_ms(lambda: scan(next(turn)), 5)
        show(count, "full scan", base, f"{base / near:.0f} x nearest")
        show(count, "nearest 10 + get_many", median_ms(lambda: recall(store, next(turn))))
        show(count, "list of 50", median_ms(lambda: listed(store, "")))
        show(count, "list of 50 by text", median_ms(lambda: listed(store, "goal 1"), 10))
        numbers = iter(range(count, count + 10_000))
        show(count, "write: one event, FULL", median_ms(lambda: log(store, next(numbers))))
        show(count, "write: episode + vector + index + event", median_ms(lambda: write(store, next(numbers))))
        both = median_ms(lambda: learn_and_recall(store, next(numbers), next(turn)))
        show(count, "write, then nearest 10 + get_many", both)


def learn_and_recall(store: Store, number: int, query: Vector) -> None:
    """A search that has to take over one new entry."""
    write(store, number)
    recall(store, query)


def nearest(store: Store, query: Vector) -> object:
    """The search alone."""
    with store.read() as tx:
        return tx.episodes.nearest("w", ["workspace"], "m", query, 10, -1.0)


def recall(store: Store, query: Vector) -> object:
    """What one recall asks of the store."""
    with store.read() as tx:
        hits = tx.episodes.nearest("w", ["person/ana", "channel/C1", "workspace"], "m", query, 10, -1.0).hits
        return tx.episodes.get_many("w", [hit.episode_id for hit in hits])


def listed(store: Store, text: str) -> object:
    """The first page of a list."""
    with store.read() as tx:
        return tx.episodes.search("w", EpisodeFilter(text=text))


def log(store: Store, number: int) -> None:
    """The smallest committed transaction."""
    with store.write() as tx:
        tx.log.append(Event(workspace="w", episode_id=f"e{number}", kind=EventKind.VOTED, actor="ana", at=NOW))


def write(store: Store, number: int) -> None:
    """One learned episode, committed."""
    with store.write() as tx:
        tx.episodes.put(make_episode(number))
        tx.episodes.put_vector("w", f"e{number:07d}", "m", next(random_vectors(1, seed=number)))
        tx.episodes.set_index("w", f"e{number:07d}", [ENTRY])
        tx.log.append(Event(workspace="w", episode_id=f"e{number:07d}", kind=EventKind.CREATED, actor="ana", at=NOW))


def show(count: int, what: str, milliseconds: float, note: str = "") -> None:
    """One line."""
    print(f"{count:>9,}  {what:<42} {milliseconds:>9.3f} ms  {note}", flush=True)


def main() -> None:
    """Measure at the sizes named on the command line."""
    sizes = [int(size) for size in sys.argv[1:]] or [1_000, 10_000, 100_000]
    with tempfile.TemporaryDirectory() as folder:
        for count in sizes:
            measure(count, Path(folder))


if __name__ == "__main__":
    main()
