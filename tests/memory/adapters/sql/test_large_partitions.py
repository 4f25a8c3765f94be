"""Large partitions: whoever changes them, and whatever becomes of their planes, a search finds what a scan does."""

import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.adapters.sql.recall import partition_cache, plane_cache
from memory.adapters.vectors import planes
from memory.adapters.vectors.codes import packed
from memory.adapters.vectors.planes import read, rotated, sign_words
from memory.errors import NotADatabase
from tests.doubles.process import python
from tests.memory.adapters.sql.large_partitions import EXACT_ROWS, add, file_of, files_of, found, opened, ready, scanned
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE, MODEL, aborted, episode, nearest
from tests.memory.adapters.vectors.vector_samples import vector_of

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(opened(tmp_path / "goodbot.db")) as store:
        yield store


def test_a_large_partition_is_searched_by_planes_and_what_came_after(store: SqlStore) -> None:
    add(store, *range(30))
    assert found(store, vector_of(99)) == scanned(store, vector_of(99))
    ready(store)
    (path,) = files_of(store)
    made = read(path)
    assert made is not None
    assert len(made) == 30
    add(store, 30, 31)
    for query in range(80, 99):
        for include_gave_up in (True, False):
            near = found(store, vector_of(query), include_gave_up=include_gave_up)
            assert near == scanned(store, vector_of(query), include_gave_up=include_gave_up)
    assert store._recall._plane_cache is store._plane_cache
    assert nearest(store, "w", ["workspace"], MODEL, vector_of(0), 3, -1.0).searched == 32


def test_what_approves_an_action_is_told_by_the_rows_of_the_planes_too(store: SqlStore) -> None:
    add(store, *range(30))
    for _ in range(2):  # before they are there, and after
        with store.read() as tx:
            near = tx.episodes.nearest("w", ["workspace"], MODEL, vector_of(3), 3, -1.0, actions=["answer"])
        mean = np.mean([vector_of(n) @ vector_of(3) for n in range(30) if n % 4])
        assert near.fits["answer"].lessons == pytest.approx(10)  # of one person no more count
        assert near.fits["answer"].cosine == pytest.approx(mean, abs=0.02)
        ready(store)


def test_files_that_are_not_mapped_any_more_are_mapped_again(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane_cache, "MOST_BYTES", 1)
    add(store, *range(30))
    for name in ("workspace", "channel/C1"):
        found(store, vector_of(1), partitions=[name])
        ready(store)
    monkeypatch.setattr(planes, "_checksum", lambda *_: 1 / 0)
    before = files_of(store)
    for name in ("workspace", "channel/C1", "workspace"):
        assert store._plane_cache is not None
        assert len(store._plane_cache._ready) == 1
        assert found(store, vector_of(9), partitions=[name]) == scanned(store, vector_of(9), partitions=[name])
        assert store._plane_cache._building == {}
    assert files_of(store) == before


@pytest.mark.parametrize("include_gave_up", [True, False])
def test_what_changed_since_the_planes_were_made_is_not_found_by_them(store: SqlStore, include_gave_up: bool) -> None:
    add(store, *range(30))
    found(store, vector_of(3))
    ready(store)
    with store.write() as tx:
        tx.episodes.set_index("w", "e3", [])
        tx.episodes.put_vector("w", "e5", MODEL, vector_of(500))
    for query in (3, 5, 8, 500):
        near = found(store, vector_of(query), 30, include_gave_up=include_gave_up)
        assert dict(near) == dict(scanned(store, vector_of(query), 30, include_gave_up=include_gave_up))


def test_no_planes_are_made_of_a_verdict_nobody_knows(store: SqlStore) -> None:
    add(store, *range(30))
    with closing(sqlite3.connect(file_of(store))) as connection, connection:
        connection.execute("UPDATE recall_index SET verdict = 'excellent' WHERE episode_id = 'e3'")
    with pytest.raises(NotADatabase):
        found(store, vector_of(3), 3)
    ready(store)
    assert files_of(store) == []


def test_another_process_maps_the_file_and_makes_none(store: SqlStore) -> None:
    add(store, *range(30))
    found(store, vector_of(1))
    ready(store)
    before = [path.stat().st_mtime_ns for path in files_of(store)]
    with closing(SqlStore(SqliteDatabase(file_of(store)), exact_rows=EXACT_ROWS)) as other:
        assert found(other, vector_of(98)) == scanned(store, vector_of(98))
        ready(other)
        assert other._plane_cache is not None
        assert len(other._plane_cache._ready) == 1
        add(other, 40)
        assert found(store, vector_of(40))[0] == ("e40", 1.0)
    assert [path.stat().st_mtime_ns for path in files_of(store)] == before


def test_what_is_forgotten_leaves_the_files(store: SqlStore) -> None:
    add(store, *range(30))
    found(store, vector_of(1))
    ready(store)
    turned = rotated(np.asarray(vector_of(7), "<f2").reshape(1, -1).view(np.uint16))
    codes, words = packed(turned)[0].tobytes(), sign_words(turned).tobytes()
    assert codes in files_of(store)[0].read_bytes()
    vector = np.asarray(vector_of(7), "<f2").tobytes()
    assert all(part in files_of(store)[0].read_bytes() for part in (words, vector, b"e7"))
    with store.write() as tx:
        tx.episodes.delete("w", ["e7"])
    store.erase_free_space()
    assert files_of(store) == []
    assert found(store, vector_of(7)) == scanned(store, vector_of(7))
    ready(store)
    assert words not in files_of(store)[0].read_bytes()
    assert not any(part in files_of(store)[0].read_bytes() for part in (codes, vector, b"e7"))
    assert "e7" not in [name for name, _ in found(store, vector_of(7), 30)]


def test_a_file_of_another_database_is_not_used(store: SqlStore, tmp_path: Path) -> None:
    add(store, *range(30))
    found(store, vector_of(1))
    ready(store)
    with closing(opened(tmp_path / "other.db")) as other:
        add(other, *range(30, 60))
        (tmp_path / "other.db-planes").mkdir()
        (path,) = files_of(store)
        (tmp_path / "other.db-planes" / path.name).write_bytes(path.read_bytes())
        for _ in range(2):
            assert found(other, vector_of(98)) == scanned(other, vector_of(98))
            ready(other)


def test_many_changes_are_read_once_and_lead_to_new_planes(store: SqlStore) -> None:
    add(store, *range(30))
    found(store, vector_of(1))
    ready(store)
    (path,) = files_of(store)
    before = path.read_bytes()
    add(store, *range(30, 34))
    assert found(store, vector_of(2)) == scanned(store, vector_of(2))
    ready(store)
    assert path.read_bytes() != before
    assert [each.suffix for each in files_of(store)] == ["", ".old"]
    add(store, *range(34, 90))
    assert found(store, vector_of(3)) == scanned(store, vector_of(3))
    ready(store)
    assert found(store, vector_of(3)) == scanned(store, vector_of(3))


class Shared(RuleBasedStateMachine):
    """Two stores on one file, as two processes have them; planes are made, erased and out of date meanwhile.

    What these stores did not use for some searches, of whatever number, takes half of the memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "goodbot.db"
        self.stores = [opened(path), opened(path)]
        self._turns = cycle((0, 1))
        self._vectors = 0
        self._idle = partition_cache.IDLE

    def teardown(self) -> None:
        partition_cache.IDLE = self._idle
        for store in self.stores:
            store.close()
        self._folder.cleanup()

    @property
    def _store(self) -> SqlStore:
        return self.stores[next(self._turns)]

    @rule(numbers=st.sets(st.integers(0, 40), min_size=1, max_size=12))
    def learn(self, numbers: set[int]) -> None:
        add(self._store, *numbers)

    @rule(number=st.integers(0, 40), is_filed=st.booleans())
    def file_or_archive(self, number: int, is_filed: bool) -> None:
        with self._store.write() as tx:
            if tx.episodes.vectors("w", [f"e{number}"]):
                tx.episodes.set_index("w", f"e{number}", [CHANNEL] if is_filed else [])

    @rule(number=st.integers(0, 40))
    def embed_anew(self, number: int) -> None:
        self._vectors += 1
        with self._store.write() as tx:
            if tx.episodes.get("w", f"e{number}"):
                tx.episodes.put_vector("w", f"e{number}", MODEL, vector_of(1000 + self._vectors))

    @rule(number=st.integers(0, 40), model=st.sampled_from([MODEL, "another"]))
    def embed_by_another_model(self, number: int, model: str) -> None:
        with self._store.write() as tx:
            if tx.episodes.get("w", f"e{number}"):
                tx.episodes.put_vector("w", f"e{number}", model, vector_of(number))

    @rule(number=st.integers(0, 40))
    def give_up(self, number: int) -> None:
        with aborted(self._store) as tx:
            tx.episodes.put(episode(f"e{number}"))
            tx.episodes.put_vector("w", f"e{number}", MODEL, vector_of(500))
            tx.episodes.set_index("w", f"e{number}", [EVERYONE])
            hit = tx.episodes.nearest("w", ["workspace"], MODEL, vector_of(500), 1, -1.0).hits[0]
            assert hit.episode_id == f"e{number}"

    @rule(numbers=st.sets(st.integers(0, 40), max_size=5), is_swept=st.booleans())
    def erase(self, numbers: set[int], is_swept: bool) -> None:
        store = self._store
        with store.write() as tx:
            tx.episodes.delete("w", [f"e{number}" for number in numbers])
        if is_swept:
            for each in self.stores:
                ready(each)  # whoever reads for long keeps erasing waiting
            store.erase_free_space()

    @rule()
    def make_ready(self) -> None:
        for store in self.stores:
            ready(store)

    @rule(searches=st.integers(0, 3))
    def call_it_idle(self, searches: int) -> None:
        partition_cache.IDLE = searches

    @rule(which=st.integers(0, 1))
    def start_again(self, which: int) -> None:
        path = file_of(self.stores[which])
        self.stores[which].close()
        self.stores[which] = opened(path)

    @rule(which=st.integers(0, 3), keep=st.integers(0, 300))
    def damage_a_file(self, which: int, keep: int) -> None:
        for path in files_of(self.stores[0])[which : which + 1]:
            content = path.read_bytes()
            path.unlink()  # as a power failure leaves it; nobody writes into one that is mapped
            path.write_bytes(content[:keep])

    @invariant()
    def both_find_what_a_scan_finds(self) -> None:
        for store in self.stores:
            for partitions in (["workspace"], ["channel/C1", "workspace"]):
                query = vector_of(99)
                for include_gave_up in (True, False):
                    near = found(store, query, 12, partitions, include_gave_up=include_gave_up)
                    assert near == scanned(store, query, 12, partitions, include_gave_up=include_gave_up)


TestShared = Shared.TestCase
TestShared.settings = settings(stateful_step_count=30)

WRITER = """
import random, sys
from pathlib import Path
from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE, MODEL, episode
from tests.memory.adapters.vectors.vector_samples import vector_of
store, first = SqlStore(SqliteDatabase(Path(sys.argv[1])), exact_rows=5), int(sys.argv[2])
chance = random.Random(first)
for number in range(first, first + 60):
    with store.write() as tx:
        tx.episodes.put(episode(f"e{number}"))
        tx.episodes.put_vector("w", f"e{number}", MODEL, vector_of(number))
        tx.episodes.set_index("w", f"e{number}", [EVERYONE])
        if number % 4 == 3:
            tx.episodes.delete("w", [f"e{chance.randrange(first, number)}"])
    with store.read() as tx:
        tx.episodes.nearest("w", ["workspace"], MODEL, vector_of(number), 3, -1.0)
store.close()
"""


@pytest.mark.process
def test_several_processes_write_while_another_searches(store: SqlStore) -> None:
    add(store, *range(30))
    script = [sys.executable, "-c", WRITER, str(file_of(store))]
    writers = [subprocess.Popen([*script, str(first)]) for first in (100, 200, 300)]
    while any(writer.poll() is None for writer in writers):
        query = vector_of(random.randrange(100, 360))
        names = [name for name, _ in found(store, query, 5)]
        assert len(names) == len(set(names)) == 5
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    for number in range(100, 360, 13):
        assert found(store, vector_of(number)) == scanned(store, vector_of(number))
    ready(store)
    for number in range(100, 360, 13):
        assert found(store, vector_of(number)) == scanned(store, vector_of(number))


BUILDER = """
import sys
from pathlib import Path
from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from tests.memory.adapters.store_samples import MODEL, nearest
from tests.memory.adapters.vectors.vector_samples import vector_of
store = SqlStore(SqliteDatabase(Path(sys.argv[1])), exact_rows=5)
from memory.adapters.sql.recall.partition_cache import Key
key = Key("w", "workspace", MODEL, 16)
print("building", flush=True)
while True:
    store._plane_cache.prepare(key)
    store._plane_cache.wait()
"""


@pytest.mark.process
def test_a_process_that_is_killed_while_it_makes_planes_leaves_a_valid_file_or_none(store: SqlStore) -> None:
    add(store, *range(200))
    for number in range(4):
        builder = python(BUILDER, str(file_of(store)))
        assert builder.stdout is not None
        assert builder.stdout.readline() == b"building\n"
        for query in range(20 * number):
            found(store, vector_of(query))
        builder.kill()
        builder.communicate(b"", timeout=60)
        add(store, 300 + number)
        with closing(SqlStore(SqliteDatabase(file_of(store)), exact_rows=EXACT_ROWS)) as other:
            for query in range(5):
                assert found(other, vector_of(query)) == scanned(other, vector_of(query))
                assert found(store, vector_of(query)) == scanned(store, vector_of(query))
            ready(other)
    ready(store)
    store._plane_cache.prepare(next(iter(store._plane_cache._ready))) if store._plane_cache is not None else None
    ready(store)
    assert [path.suffix for path in files_of(store) if path.suffix == ".part"] == []
