"""What a recall costs on PostgreSQL, beside the same recall on SQLite.

    python -m tests.benchmarks.bench_postgres [--episodes 10000,100000] [--rounds 200] [--folder FOLDER]

The stores of `bench_scale` are moved into a server on this machine, which the benchmark starts itself
(`tests/doubles/postgres.py`) and reaches over a Unix socket. Vectors are given and no model runs. Wall time, and the
time that this process's own thread ran (`cpu`), without the server's.
"""

import argparse
import tempfile
from contextlib import closing
from pathlib import Path

from bot.app.processes.gc_tuning import collect_rarely
from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies.move import move
from memory.rules.retrieval.prompt import render_lessons
from tests.benchmarks.bench_scale import ACTIONS, CONFIG, Given, Row, timed
from tests.benchmarks.bulk import CHANNELS, TEXTS, fill, people
from tests.doubles.memory_world import World, scope
from tests.doubles.postgres import new_database

WARM = 20
"""So many people ask again and again."""


def measure(url: str, episodes: int, rounds: int, embedder: Given) -> list[Row]:
    """A row for each kind of recall in one database."""
    goals = [f"goal {number * 37 % TEXTS} asked again {number}" for number in range(2 * rounds)]
    embedder.prepare(goals)
    askers = [
        scope(f"p{person}", channel=f"c{number % CHANNELS}")
        for number, person in enumerate(people(max(WARM, rounds), 5))
    ]
    with closing(SqlStore.open(url)) as store:
        world = World(store, CONFIG, embedder)

        def recall(number: int, *, people: int, has_evidence: bool = True) -> None:
            asker, goal = askers[number % people], goals[number % len(goals)]
            found = world.memory.recalling.recall(asker, goal, actions=ACTIONS if has_evidence else None)
            render_lessons(found.exemplars, budget_tokens=1500)

        return [
            timed("over all people", episodes, lambda n: recall(n, people=len(askers)), rounds),
            timed("in one scope, warm", episodes, lambda n: recall(n, people=WARM), rounds, 2 * WARM),
            timed(
                "the same without evidence",
                episodes,
                lambda n: recall(n, people=WARM, has_evidence=False),
                rounds,
                2 * WARM,
            ),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", default="10000")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    embedder = Given()
    collect_rarely()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        for episodes in map(int, options.episodes.split(",")):
            path = folder / f"{episodes}.db"
            if not path.exists():
                fill(path, episodes)
            file, server = f"sqlite:///{path}", new_database()
            move(file, server, lambda *_: None)
            for name, url in (("PostgreSQL", server), ("SQLite", file)):
                for row in measure(url, episodes, options.rounds, embedder):
                    print(
                        f"{episodes:>9,}  {name:<10}  recall {row.operation:<26} median {row.median:7.2f} ms   "
                        f"p99 {row.p99:7.2f}   cpu {row.cpu:7.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
