"""How long pages and the HTTP interface take with many episodes, and how many statements each costs.

    python -m tests.benchmarks.bench_web [--episodes 100000] [--database FILE] [--json FILE]

Prints one row for each page and each address: median and slowest of some visits, the processor's part of it, which is
what counts where others work on the machine too, and its statements. Then `POST /v1/query` beside the same question
asked of memory itself, and how many of them a second one process answers to several clients at once. The embedder is
the hashing one, so that what is measured is not a model. A database that is named is kept, and used again.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx2

from memory.adapters.sql import SqlStore
from memory.ports import EpisodeFilter
from tests.benchmarks.many_episodes import NOUNS, PEOPLE, PLACES, make
from tests.benchmarks.web_process import KEY, serving
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import Visitor, counted_statements, site_parts

ROUNDS = 9
CLIENTS, SECONDS = 8, 10.0

PAGES = (
    "overview",
    "episodes",
    "episodes?text=keya+of+the+labj",
    "episodes?text=nowhere+to+be+found",
    "episodes?verdict=failure",
    "episodes?verdict=disputed",
    "episodes?audience=channel",
    "episodes?person=p7&channel=c3",
    "episodes?author=nobody",
    "episodes?held=on",
    "episodes?since=2026-01-05&until=2026-01-06",
    "episodes?after={old}",
    "episodes/{id}",
    "episodes/{id}/recall",
    "map",
    "topics",
    "review",
    "people",
    "people?person=p7",
    "people?person=p7&closely=on",
    "jobs",
    "log",
    "log?actor=p7",
    "log?kind=corrected",
    "settings",
    "health",
)
READS = (
    "/v1/episodes",
    "/v1/episodes?text=nowhere+to+be+found",
    "/v1/episodes?undecided=true",
    "/v1/episodes/{id}",
    "/v1/episodes/{id}/feedback",
    "/v1/people/p7",
    "/v1/stats",
    "/v1/gaps",
    "/v1/jobs",
)


SLOW = ("/w/terminal:w/people?person=p7&closely=on",)
"""Visited once: it looks for everything that repeats somebody's words."""


def times_ms(work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float, float]:
    """The median and the longest of some calls, after one that does not count; and what of the median was work."""
    work()
    found, worked = [], []
    for _ in range(rounds):
        begun, before = time.perf_counter(), time.process_time()
        work()
        found.append(1000 * (time.perf_counter() - begun))
        worked.append(1000 * (time.process_time() - before))
    return statistics.median(found), max(found), statistics.median(worked)


def measure_reads(store: SqlStore) -> list[dict[str, object]]:
    """A row for each page and address that is read."""
    world = World(store)
    visitor = Visitor(world.memory, site_parts(world.memory))
    visitor.log_in()
    with store.read() as tx:
        newest = tx.episodes.search("terminal:w", EpisodeFilter(limit=1))[0]
        old = tx.episodes.search("terminal:w", EpisodeFilter(limit=100, newest_first=False))[-1]
    rows: list[dict[str, object]] = []
    for path in (*(f"/w/terminal:w/{page}" for page in PAGES), *READS):
        address = path.replace("{id}", newest.id).replace("{old}", old.id)

        def visit(address: str = address) -> None:
            response = visitor.http.get(address, headers={"X-API-Key": "the first key of all"})
            assert response.status_code == 200, (address, response.status_code, response.text[:300])

        with counted_statements(store) as statements:
            visit()
        median, worst, worked = times_ms(visit, 1 if path in SLOW else ROUNDS)
        row = {
            "what": path,
            "median_ms": round(median, 1),
            "worst_ms": round(worst, 1),
            "cpu_ms": round(worked, 1),
            "statements": len(statements),
        }
        print(
            f"{path:<50} {median:8.1f} ms  worst {worst:8.1f} ms  cpu {worked:8.1f} ms  {len(statements):3} statements",
            flush=True,
        )
        rows.append(row)
    return rows


async def measure_queries(path: Path, memory_ms: float) -> dict[str, object]:
    """What a query costs over HTTP, and how many there are in a second."""
    chance = random.Random(3)

    def body() -> dict[str, object]:
        question = f"where is the {chance.choice(NOUNS)} of the {chance.choice(PLACES)}?"
        return {"q": question, "scope": {"person": f"p{chance.randrange(PEOPLE)}", "channel": "c1"}}

    with serving(path) as url:
        async with httpx2.AsyncClient(base_url=url, headers={"X-API-Key": KEY}, timeout=60) as client:

            async def ask() -> float:
                begun = time.perf_counter()
                response = await client.post("/v1/query", json=body())
                assert response.status_code == 200, response.text
                return 1000 * (time.perf_counter() - begun)

            for _ in range(20):
                await ask()
            alone = statistics.median([await ask() for _ in range(200)])
            health = []
            for _ in range(100):
                begun = time.perf_counter()
                await client.get("/healthz")
                health.append(1000 * (time.perf_counter() - begun))
            until, waits = time.perf_counter() + SECONDS, list[float]()

            async def keep_asking() -> None:
                while time.perf_counter() < until:
                    waits.append(await ask())

            await asyncio.gather(*(keep_asking() for _ in range(CLIENTS)))
    slow = statistics.quantiles(waits, n=20)[-1]
    print(
        f"query of memory itself {memory_ms:.1f} ms, over HTTP {alone:.1f} ms, /healthz {statistics.median(health):.1f}"
    )
    print(f"{CLIENTS} clients: {len(waits) / SECONDS:.0f} queries a second, p95 {slow:.0f} ms")
    return {
        "memory_ms": round(memory_ms, 2),
        "http_ms": round(alone, 2),
        "overhead_ms": round(alone - memory_ms, 2),
        "health_ms": round(statistics.median(health), 2),
        "per_second": round(len(waits) / SECONDS),
        "p95_ms": round(slow, 1),
    }


def query_of_memory_ms(store: SqlStore) -> float:
    """The same questions without HTTP."""
    memory, chance = World(store).memory, random.Random(3)
    times = []
    for number in range(220):
        question = f"where is the {chance.choice(NOUNS)} of the {chance.choice(PLACES)}?"
        asker = scope(f"p{chance.randrange(PEOPLE)}", channel="c1")
        begun = time.perf_counter()
        memory.world.query(asker, {"q": question})
        if number >= 20:
            times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--skip-queries", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.database or Path(folder) / "bench.db"
        if not path.exists():
            begun = time.perf_counter()
            make(path, options.episodes)
            print(f"{options.episodes} questions stored in {time.perf_counter() - begun:.0f} s")
        with closing(SqlStore.open(f"sqlite:///{path}")) as store:
            found: dict[str, object] = {"episodes": options.episodes, "reads": measure_reads(store)}
            memory_ms = query_of_memory_ms(store)
        if not options.skip_queries:
            found["query"] = asyncio.run(measure_queries(path, memory_ms))
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
