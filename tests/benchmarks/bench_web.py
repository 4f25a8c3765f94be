"""How long pages and the HTTP interface take with many episodes, and how many statements each costs.

    python -m tests.benchmarks.bench_web [--episodes 100000] [--database FILE] [--json FILE] [--skip-reads]

Prints one row for each page and each address: median and slowest of some visits, the processor's part of it, which is
what counts where others work on the machine too, and its statements. Then `POST /v1/query` beside the same question
asked of memory itself, and how many of them a second one process, and two on the same database, answer to several
clients at once, with the processor's time for each. The embedder is the hashing one, so that what is measured is not a
model. A database that is named is kept, and used again.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

from memory.adapters.sql import SqlStore
from memory.ports import EpisodeFilter
from tests.benchmarks.many_episodes import NOUNS, PEOPLE, PLACES, make
from tests.benchmarks.web_process import KEY, cpu_s, serving
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


async def measure_queries(path: Path, memory_ms: float, processes: int) -> dict[str, object]:
    """What a query costs over HTTP, and how many there are in a second where so many processes answer."""
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(path)) for _ in range(processes)]
        one = await _Client.to(servers[0][0])
        await one.ask()
        alone = statistics.median([await one.ask() for _ in range(200)])
        health = statistics.median([await one.request(b"GET", "/healthz") for _ in range(100)])
        clients = [await _Client.to(url) for _ in range(CLIENTS // processes) for url, _ in servers]
        await asyncio.gather(*(client.ask() for client in clients))
        waits, before, begun = list[float](), sum(cpu_s(pid) for _, pid in servers), time.perf_counter()

        async def keep_asking(client: "_Client") -> None:
            while time.perf_counter() < begun + SECONDS:
                waits.append(await client.ask())

        await asyncio.gather(*map(keep_asking, clients))
        taken = time.perf_counter() - begun
        cpu_ms = 1000 * (sum(cpu_s(pid) for _, pid in servers) - before) / len(waits)
    slow = statistics.quantiles(waits, n=20)[-1]
    print(f"query of memory itself {memory_ms:.1f} ms, over HTTP {alone:.1f} ms, /healthz {health:.1f}")
    print(
        f"{len(clients)} clients, {processes} processes: {len(waits) / taken:.0f} queries a second, p95 {slow:.0f} ms, "
        f"cpu {cpu_ms:.2f} ms each"
    )
    return {
        "processes": processes,
        "memory_ms": round(memory_ms, 2),
        "http_ms": round(alone, 2),
        "overhead_ms": round(alone - memory_ms, 2),
        "health_ms": round(health, 2),
        "per_second": round(len(waits) / taken),
        "p95_ms": round(slow, 1),
        "cpu_ms": round(cpu_ms, 2),
    }


class _Client:
    """One connection that is kept; written out, so that asking costs little beside answering."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._chance = random.Random(3)

    @classmethod
    async def to(cls, url: str) -> Self:
        """Connect."""
        host, _, port = url.removeprefix("http://").partition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self) -> float:
        """Query something; how long that took, in milliseconds."""
        question = f"where is the {self._chance.choice(NOUNS)} of the {self._chance.choice(PLACES)}?"
        asker = {"person": f"p{self._chance.randrange(PEOPLE)}", "channel": "c1"}
        return await self.request(b"POST", "/v1/query", json.dumps({"q": question, "scope": asker}).encode())

    async def request(self, method: bytes, path: str, body: bytes = b"") -> float:
        """Send it and read the whole response; how long that took, in milliseconds."""
        begun = time.perf_counter()
        head = f"{path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._writer.write(method + b" " + head.encode() + body)
        answered = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        assert b" 200 " in answered.partition(b"\r\n")[0], answered
        size = answered.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await self._reader.readexactly(int(size))
        return 1000 * (time.perf_counter() - begun)


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
    parser.add_argument("--skip-reads", action="store_true")
    parser.add_argument("--skip-queries", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.database or Path(folder) / "bench.db"
        if not path.exists():
            begun = time.perf_counter()
            make(path, options.episodes)
            print(f"{options.episodes} questions stored in {time.perf_counter() - begun:.0f} s")
        with closing(SqlStore.open(f"sqlite:///{path}")) as store:
            reads = [] if options.skip_reads else measure_reads(store)
            found: dict[str, object] = {"episodes": options.episodes, "reads": reads}
            memory_ms = query_of_memory_ms(store)
        if not options.skip_queries:
            found["query"] = [asyncio.run(measure_queries(path, memory_ms, number)) for number in (1, 2)]
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
