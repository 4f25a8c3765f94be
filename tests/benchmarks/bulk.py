"""A large store in little time: the rows of one real conversation, again and again with other names and vectors.

What one person asked, was answered and approved is done once through the real memory; of every row that leaves, copies
are written straight to the file. So all tables are as full as use would have made them.
"""

import random
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np

from memory.adapters.sql import SqlStore
from memory.model import Audience, Role, Vector, Visibility
from tests.doubles.memory_world import World, scope

DIMENSION, TEXTS = 384, 20_000
PEOPLE, CHANNELS = 1000, 50
EVERYTHING = "everything"
"""A channel where all lessons are found."""
GOAL, PERSON, CHANNEL, GATE = "GOALOFTHIS", "PERSONOFTHIS", "CHANNELOFTHIS", "98765"
_EVENTS = 10
"""So many numbers of the log each answer has, used or not."""
_NEXT = "\0"
SPACING = timedelta(seconds=30)
"""Between two questions: a million of them in a year."""
ANSWER = (
    "To open gate {0}, ask the desk on the ground floor for the grey key and sign for it in the book beside the lift. "
    "Turn it twice to the left, wait until the lamp above the gate is green, and pull; pushing blocks the lock for ten "
    "minutes. The code of the night alarm is on the card in drawer {0}, and changes on the first Monday of a month. If "
    "the lamp stays red, call extension 4{0} and read them the number of the gate. Bring the key back before eight in "
    "the evening, because the desk is not staffed later and the next shift counts the keys.\n\n"
    "Visitors need a badge as well, which the host orders the day before; deliveries go to ramp {0} instead."
)
"""About as long as what a model answers, in each of which other numbers stand."""
_TIMES = {"at", "created_at", "graded_at", "posted_at", "expires_at", "sent_at", "salience_at", "known_from"}
_ONCE = {
    *("counters", "alembic_version", "thresholds", "settings", "channels", "people", "job_runs", "leases"),
    "lesson_versions",
}
Row = dict[str, object]


class Texts:
    """Unit vectors of texts: each of two of many meanings, one more than the other, and something of its own."""

    name, dimension = "table", DIMENSION

    def __init__(self) -> None:
        chance = np.random.default_rng(7)
        found = chance.standard_normal((TEXTS, DIMENSION)) / np.sqrt(1 + np.arange(DIMENSION) / 40)
        self._meanings = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Of a text that begins with `goal N`: those of the same N are of one first meaning."""
        return [self.of([int(text.split()[1])], hash_of(text))[0] for text in texts]

    def of(self, numbers: Sequence[int], seed: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        """Vectors of texts with these first meanings."""
        chance = np.random.default_rng(seed)
        others = self._meanings[chance.integers(0, TEXTS, len(numbers))]
        noise = chance.standard_normal((len(numbers), DIMENSION), np.float32) * (0.15 / np.sqrt(DIMENSION))
        share = chance.uniform(0.15, 0.55, (len(numbers), 1)).astype(np.float32)
        made = self._meanings[np.asarray(numbers) % TEXTS] + share * others + noise
        found: np.ndarray[tuple[int, int], np.dtype[np.float32]] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return found


def hash_of(text: str) -> int:
    """The same for the same text, in every process."""
    return int.from_bytes(text.encode()[-8:], "big")


def people(count: int, seed: int = 7) -> list[int]:
    """Who asks, by Zipf's law."""
    weights = [1 / (rank + 1) for rank in range(PEOPLE)]
    return random.Random(seed).choices(range(PEOPLE), weights, k=count)


def fill(path: Path, count: int) -> None:
    """Write `count` approved answers, a tenth of them shared with the workspace, into a new file."""
    texts = Texts()
    SqlStore.open(f"sqlite:///{path}").close()
    plain, shared = (_left_by(texts, is_shared=each) for each in (False, True))
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for pragma in ("synchronous=OFF", "journal_mode=WAL", "cache_size=-400000", "temp_store=MEMORY"):
            file.execute(f"PRAGMA {pragma}")
        _write(file, texts, count, plain, shared)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _left_by(texts: Texts, *, is_shared: bool) -> dict[str, list[Row]]:
    """Every row that one approved answer leaves."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.db"
        with closing(SqlStore.open(f"sqlite:///{path}")) as store:
            world = World(store, embedder=texts)
            episode = world.ask(f"goal 1 {GOAL}", ANSWER.format(GATE), of=scope(PERSON, channel=CHANNEL))
            world.react(episode, by=PERSON)
            if is_shared:
                promote = world.memory.curation.promote
                promote(episode.workspace, episode.id, Audience.WORKSPACE, actor="teacher", role=Role.TEACHER)
        return {name: rows for name, rows in _rows(path).items() if rows and name not in _ONCE}


def _rows(path: Path) -> dict[str, list[Row]]:
    with closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        tables = file.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        return {name: [dict(row) for row in file.execute(f"SELECT * FROM {name}")] for (name,) in tables}


def _write(
    file: sqlite3.Connection, texts: Texts, count: int, plain: dict[str, list[Row]], shared: dict[str, list[Row]]
) -> None:
    workspace = str(plain["episodes"][0]["workspace"])
    makers = [_Maker(plain), _Maker(shared)]
    seqs: dict[str, int] = defaultdict(lambda: 10)
    asked, goals = people(count), random.Random(8).choices(range(TEXTS), k=count)
    for start in range(0, count, 5000):
        numbers = range(start, min(count, start + 5000))
        vectors = texts.of([goals[n] for n in numbers], start).astype("<f2")
        batches: dict[str, list[list[object]]] = defaultdict(list)
        for n, vector in zip(numbers, vectors, strict=True):
            names: dict[str, object] = {
                "n": f"{n:08x}",
                "person": f"p{asked[n]}",
                "channel": f"c{n % CHANNELS}",
                "goal": f"{goals[n]} word {n}",
                "gate": goals[n] % 1000,
                "digest": f"{n:032x}",
            }
            names |= {f"seq{each}": 1000 + _EVENTS * n + each for each in range(_EVENTS)}
            makers[n % 10 == 0].make(names, n * (SPACING // timedelta(microseconds=1)), vector.tobytes(), seqs, batches)
        file.execute("BEGIN")
        for statement, rows in batches.items():
            file.executemany(statement, rows)
        file.execute("COMMIT")
    seen = sorted(set(asked))
    file.executemany("INSERT OR IGNORE INTO people VALUES (?, ?, 0)", [(workspace, f"p{person}") for person in seen])
    channels = [(workspace, f"c{number}", Visibility.PUBLIC.value) for number in range(CHANNELS)]
    file.executemany("INSERT INTO channels VALUES (?, ?, ?, 0)", channels)


class _Maker:
    """Writes the rows of one answer again."""

    def __init__(self, rows: dict[str, list[Row]]) -> None:
        ids = [str(rows["episodes"][0][name]) for name in ("id", "run_id")]
        for table, name in (("incoming", "event_id"), ("outgoing", "message_id"), ("retrievals", "id")):
            ids += [str(row[name]) for row in rows.get(table, [])]
        self._ids = sorted({each for each in ids if each}, key=len, reverse=True)
        self._first = min(int(str(row["seq"])) for row in rows["events"])
        index = [row for row in rows["recall_index"] if row["vector"] is not None]
        index.append({**index[0], "partition": f"channel/{EVERYTHING}"})
        self._filed = [(str(row["partition"]), *self._plan("recall_index", row)) for row in index]
        self._plans = [
            self._plan(name, row) for name, several in rows.items() if name != "recall_index" for row in several
        ]

    def make(
        self,
        names: dict[str, object],
        later: int,
        vector: bytes,
        seqs: dict[str, int],
        batches: dict[str, list[list[object]]],
    ) -> None:
        """Add the rows of an answer with these names to `batches`, by statement."""
        for statement, pattern, times, has_vector in self._plans:
            given = names | {name: at + later for name, at in times.items()}
            batches[statement].append((pattern % given).split(_NEXT) + ([vector] if has_vector else []))
        for partition, statement, pattern, _, _ in self._filed:
            name = partition.replace(PERSON, str(names["person"])).replace(CHANNEL, str(names["channel"]))
            seqs[name] += 1
            given = names | {"place": seqs[name], "partition": name}
            batches[statement].append([*(pattern % given).split(_NEXT), vector])

    def _plan(self, table: str, row: Row) -> tuple[str, str, dict[str, int], bool]:
        """The statement, a pattern of what it is given, the times in that, and whether a vector is given last."""
        text = {name: value for name, value in row.items() if value is not None and name != "vector"}
        times = {f"t{n}": int(str(value)) for n, (name, value) in enumerate(text.items()) if name in _TIMES}
        parts = [self._part(table, n, name, value) for n, (name, value) in enumerate(text.items())]
        has_vector = "vector" in row
        names = [*text, "vector"] if has_vector else list(text)
        columns = ", ".join(f'"{each}"' for each in names)
        statement = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})"
        return statement, _NEXT.join(parts), times, has_vector

    def _part(self, table: str, place: int, name: str, value: object) -> str:
        if name in _TIMES:
            return f"%(t{place})d"
        if name == "seq":
            return "%(place)d" if table == "recall_index" else f"%(seq{int(str(value)) - self._first})d"
        if name == "partition":
            return "%(partition)s"
        if name in ("goal_digest", "event_digest"):
            return f"%(digest)s{str(value)[:4]}"
        text = str(value).replace("%", "%%")
        for each in self._ids:
            text = text.replace(each, f"%(n)s{each[8:]}")
        for known, key in ((PERSON, "person"), (CHANNEL, "channel"), (f"1 {GOAL}", "goal"), (GATE, "gate")):
            text = text.replace(known, f"%({key})s")
        return text


def lessons_of(path: Path) -> Iterator[int]:
    """How many rows each partition of the index has, largest first."""
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT count(*) FROM recall_index GROUP BY partition ORDER BY 1 DESC")
        yield from (number for (number,) in found)
