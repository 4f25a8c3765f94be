"""The SQLite store keeps the contract, and what only a file can go wrong with."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines import sqlite_engine
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.adapters.sql.transaction.driver import as_memory_error
from memory.errors import (
    Conflict,
    InvalidInput,
    MemoryFault,
    NotADatabase,
    SchemaMismatch,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from memory.model import EventKind, Origin
from memory.ports import Store
from tests import CHECKOUT
from tests.doubles.process import python
from tests.doubles.stores import open_file
from tests.memory.adapters.store_contract import StoreContract
from tests.memory.adapters.store_contract_channels import ChannelsContract
from tests.memory.adapters.store_contract_deliveries import DeliveriesContract
from tests.memory.adapters.store_contract_episodes import EpisodesContract
from tests.memory.adapters.store_contract_judgements import JudgementsContract
from tests.memory.adapters.store_contract_recall import RecallContract, learn, near
from tests.memory.adapters.store_contract_snapshots import SnapshotsContract
from tests.memory.adapters.store_contract_steps import StepsContract
from tests.memory.adapters.store_contract_tables import TablesContract
from tests.memory.adapters.store_contract_topics import WorldContract
from tests.memory.adapters.store_contract_turns import TurnsContract
from tests.memory.adapters.store_contract_upkeep import UpkeepContract
from tests.memory.adapters.store_samples import ALL, CHANNEL, EVERYONE, MODEL, dump, episode, fill, unit


def open_at(path: Path) -> SqlStore:
    return SqlStore.open(f"sqlite:///{path}")


class TestSqlStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlRecall(RecallContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlSnapshots(SnapshotsContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlChannels(ChannelsContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlJudgements(JudgementsContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlSteps(StepsContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlUpkeep(UpkeepContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlTurns(TurnsContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlTables(TablesContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlDeliveries(DeliveriesContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlEpisodes(EpisodesContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


class TestSqlWorld(WorldContract):
    def make_store(self, folder: Path) -> Store:
        return open_file(folder / "goodbot.db")


@pytest.fixture
def pair(path: Path) -> Iterator[tuple[SqlStore, SqlStore]]:
    """Two stores on one file, as two processes would have them."""
    with closing(open_at(path)) as first, closing(open_at(path)) as second:
        yield first, second


# two on one file


def test_each_sees_what_the_other_commits(pair: tuple[SqlStore, SqlStore]) -> None:
    first, second = pair
    for round_number in range(3):
        learn(first, f"a{round_number}", (1, 0, 0))
        assert f"a{round_number}" in near(second, "workspace")
        learn(second, f"b{round_number}", (1, 0, 0))
        assert f"b{round_number}" in near(first, "workspace")
    with second.write() as tx:
        tx.episodes.set_index("w", "b2", [])
        tx.episodes.delete("w", ["a0"])
    assert near(first, "workspace") == ["b1", "b0", "a2", "a1"]
    assert dump(first, "w") == dump(second, "w")


def test_copies_survive_a_sweep_by_the_other(pair: tuple[SqlStore, SqlStore]) -> None:
    first, second = pair
    for name in "abc":
        learn(first, name, (1, 0, 0), EVERYONE, CHANNEL)
    assert near(second, "workspace", "channel/C1") == ["c", "b", "a"]
    with first.write() as tx:
        tx.episodes.delete("w", ["b"])
    first.erase_free_space()  # the traces of `b` are gone before the second one looked
    assert near(second, "workspace", "channel/C1") == ["c", "a"]
    learn(first, "b", (1, 0, 0))
    assert near(second, "workspace", "channel/C1") == ["c", "b", "a"]


def test_what_marks_a_row_as_gone_keeps_nothing_of_it(path: Path) -> None:
    with closing(open_at(path)) as store:
        with store.write() as tx:
            tx.episodes.put(episode("e1", action="clock", output="use it", origin=Origin.TAUGHT, author="bo"))
            tx.episodes.put_vector("w", "e1", MODEL, unit(1, 0, 0))
            tx.episodes.set_index("w", "e1", [EVERYONE])
        wanted = "SELECT action, words, author, model, vector IS NULL FROM recall_index"
        with store.connected() as connection:
            assert tuple(connection.exec_driver_sql(wanted).one()) == ("clock", "use it", "bo", MODEL, 0)
        with store.write() as tx:
            tx.episodes.delete("w", ["e1"])
        with store.connected() as connection:
            assert tuple(connection.exec_driver_sql(wanted).one()) == ("", "", "", "", 1)


def test_a_replaced_file_is_noticed(pair: tuple[SqlStore, SqlStore], path: Path) -> None:
    first, second = pair
    learn(first, "old", (1, 0, 0))
    assert near(first, "workspace") == ["old"]
    other = path.with_name("other.db")
    with closing(open_at(other)) as store:
        learn(store, "new", (1, 0, 0))
    second.erase_free_space()  # as whoever restores a backup must: nothing of the old file is left in its log
    second.close()
    other.replace(path)
    assert near(first, "workspace") == ["new"]
    with first.read() as tx:
        assert [e.id for e in tx.episodes.search("w", ALL)] == ["new"]


def test_a_removed_file_is_noticed(path: Path) -> None:
    with closing(open_at(path)) as store:
        learn(store, "a", (1, 0, 0))
        path.unlink()
        with pytest.raises(StoreUnavailable, match="is gone"):
            near(store, "workspace")
        with pytest.raises(StoreUnavailable, match="is gone"), store.write():
            pass


def test_copies_beyond_the_budget_are_made_again(path: Path) -> None:
    open_at(path).close()
    with closing(SqlStore(SqliteDatabase(path), recall_bytes=1)) as store:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        for _ in range(2):
            assert near(store, "workspace", "channel/C1") == ["a"]
        assert len(store._recall._copies) == 1


def test_of_a_large_file_more_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_at(path).close()
    monkeypatch.setattr(sqlite_engine, "LEAST_KEPT", 2048)
    for most, kept in ((2**20, path.stat().st_size // 64), (4096, 4096), (2048, 2048)):
        monkeypatch.setattr(sqlite_engine, "MOST_KEPT", most)
        with closing(open_at(path)) as store, store.connected() as connection:
            assert connection.exec_driver_sql("PRAGMA cache_size").scalar() == -(kept // 1024)


def test_another_process_is_waited_for(pair: tuple[SqlStore, SqlStore], path: Path) -> None:
    script = """
import sys, time
from memory.adapters.sql import SqlStore
from tests.memory.adapters.store_samples import episode
store = SqlStore.open(sys.argv[1])
with store.write() as tx:
    tx.episodes.put(episode("theirs"))
    print("writing", flush=True)
    sys.stdin.readline()
"""
    process = python(script, f"sqlite:///{path}")
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    with pair[0].read() as tx:
        assert tx.episodes.get("w", "theirs") is None
    process.communicate(b"go on\n", timeout=30)
    with pair[0].write() as tx:
        assert tx.episodes.get("w", "theirs") is not None


def test_two_processes_lose_nothing(path: Path) -> None:
    script = """
import sys
from memory.adapters.sql import SqlStore
from memory.model import EventKind
from tests.memory.adapters.store_samples import EVERYONE, MODEL, episode, event, nearest, unit
store = SqlStore.open(sys.argv[1])
for number in range(200):
    name = f"{sys.argv[2]}-{number:03d}"
    with store.write() as tx:
        tx.episodes.put(episode(name))
        tx.episodes.put_vector("w", name, MODEL, unit(1, 0, 0))
        tx.episodes.set_index("w", name, [EVERYONE])
        tx.log.append(event(name, EventKind.CREATED))
    assert nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 1000, 0.0).searched > number
"""
    processes = [python(script, f"sqlite:///{path}", name) for name in ("a", "b")]
    for process in processes:
        assert process.communicate(b"", timeout=120)[1] == b""
        assert process.returncode == 0
    with closing(open_at(path)) as store:
        with store.read() as tx:
            assert len(tx.episodes.search("w", ALL)) == 400
            log = tx.log.by_actor("w", "ana", [EventKind.CREATED], 1000)
        assert sorted(e.seq for e in log) == list(range(1, 401))
        assert len(near(store, "workspace", k=1000)) == 400


# erasing


def test_erased_text_is_in_no_byte_of_the_files(path: Path) -> None:
    secret, person = "Kq7vWz0secret", "U0secretperson"
    with closing(open_at(path)) as store, closing(open_at(path)) as reader:
        with store.write() as tx:
            fill(tx, "w")
            tx.episodes.put(episode("e9", goal=secret * 2000, output=secret))
            tx.episodes.put_vector("w", "e9", MODEL, unit(1, 2, 3))
            entry = EVERYONE.__class__(
                partition=f"person/{person}", audience=EVERYONE.audience, verdict=EVERYONE.verdict
            )
            tx.episodes.set_index("w", "e9", [entry])
        assert near(reader, f"person/{person}") == ["e9"]
        assert _holds(path, secret)
        assert _holds(path, person)
        with store.write() as tx:
            tx.episodes.delete("w", ["e9"])
        store.erase_free_space()
        assert not _holds(path, secret)
        assert not _holds(path, person)
        assert near(reader, f"person/{person}") == []
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert _holds(path, "secret of w")


def test_erasing_says_when_a_reader_is_in_the_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite_engine.BUSY_SECONDS", 0.05)
    with closing(open_at(path)) as store, closing(open_at(path)) as reader:
        with store.write() as tx:
            fill(tx, "w")
        with reader.read() as tx:
            assert len(tx.episodes.search("w", ALL)) == 2
            with pytest.raises(StoreUnavailable, match="still reading"):
                store.erase_free_space()
        store.erase_free_space()


def _holds(path: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in path.parent.iterdir())


# opening


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql+pymysql://me:hunter2@host/db", "SQLite and PostgreSQL"),
        ("postgresql://me:hunter2@host:port/db", "not an address"),
        ("sqlite://", "name a file"),
        ("sqlite:///:memory:", "name a file"),
        ("sqlite:////tmp/x.db?mode=hunter2", "name a file"),
        ("hunter2", "not an address"),
        ("", "not an address"),
    ],
)
def test_other_addresses_are_refused_without_repeating_them(url: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        SqlStore.open(url)
    assert "hunter2" not in str(caught.value)


def test_makes_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "a b" / "ü#1%20" / "goodbot.db"
    with closing(open_at(path)) as store, store.write() as tx:
        fill(tx, "w")
    assert path.exists()


@pytest.mark.parametrize("content", [b"hello", b"x" * 100_000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(NotADatabase, match=str(path)):
        open_at(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(NotADatabase, match="not a file"):
        open_at(tmp_path)


def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    for migrate in (True, False):
        with pytest.raises(NotADatabase, match="another program"):
            SqlStore.open(f"sqlite:///{path}", migrate=migrate)
    assert path.read_bytes() == before


def test_a_damaged_database_is_said_to_be_damaged(path: Path) -> None:
    with closing(open_at(path)) as store:
        for number in range(200):
            with store.write() as tx:
                tx.episodes.put(episode(f"e{number}", output="x" * 2000))
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(NotADatabase, match="damaged"):
        _use(path)


def _use(path: Path) -> None:
    with closing(open_at(path)) as store, store.read() as tx:
        tx.episodes.search("w", ALL)


def test_without_migrating_nothing_is_created(path: Path) -> None:
    with pytest.raises(SchemaMismatch, match="goodbot migrate"):
        SqlStore.open(f"sqlite:///{path}", migrate=False)
    assert not path.exists()


@contextmanager
def _ordinary_user() -> Iterator[Path]:
    """A folder of one's own and no superuser rights, which would ignore permissions."""
    folder = Path(tempfile.mkdtemp())
    was = os.geteuid()
    try:
        if was == 0:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        yield folder
    finally:
        os.seteuid(was)
        for each in (folder, *folder.iterdir()):
            each.chmod(0o700)
        shutil.rmtree(folder)


def test_a_read_only_folder_is_named() -> None:
    with _ordinary_user() as folder:
        folder.chmod(0o500)
        with pytest.raises(StoreReadOnly, match=str(folder)):
            open_at(folder / "goodbot.db")
        with pytest.raises(StoreReadOnly, match=str(folder)):
            open_at(folder / "deeper" / "goodbot.db")


def test_a_folder_that_may_not_be_entered_is_named() -> None:
    with _ordinary_user() as folder:
        folder.chmod(0)
        for path in (folder / "goodbot.db", folder / "deeper" / "goodbot.db"):
            with pytest.raises(StoreReadOnly, match=rf"{folder}.*Set DATABASE_URL"):
                open_at(path)


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly, match=r"too long.*Set DATABASE_URL"):
        open_at(tmp_path / ("n" * 300))


@pytest.mark.parametrize("address", [None, Path("goodbot.db"), 3])
def test_an_address_is_a_text(address: Any) -> None:
    with pytest.raises(InvalidInput, match="address of the database must be a text"):
        SqlStore.open(address)


def test_a_value_of_another_type_is_refused_when_it_is_looked_up(path: Path) -> None:
    wrong: Any = ["e1"]
    with closing(open_at(path)) as store, pytest.raises(InvalidInput, match="cannot be looked up"), store.read() as tx:
        tx.episodes.get("w", wrong)


def test_a_read_only_file_is_named() -> None:
    with _ordinary_user() as folder:
        path = folder / "goodbot.db"
        open_at(path).close()
        path.chmod(0o400)
        with pytest.raises(StoreReadOnly, match=str(path)):
            open_at(path)


def test_a_file_that_becomes_read_only_loses_nothing() -> None:
    with _ordinary_user() as folder:
        path = folder / "goodbot.db"
        with closing(open_at(path)) as store, store.write() as tx:
            fill(tx, "w")
        database = SqliteDatabase(path)
        database._file = (path.stat().st_dev, path.stat().st_ino)
        store = SqlStore(database)
        path.chmod(0o400)
        with closing(store):
            with pytest.raises(StoreReadOnly, match="read-only"), store.write() as tx:
                tx.episodes.put(episode("e9"))
            path.chmod(0o600)


def test_opening_an_up_to_date_database_loads_no_migration_library(path: Path) -> None:
    open_at(path).close()
    script = """
import sys
from memory.adapters.sql import SqlStore
SqlStore.open(sys.argv[1]).close()
print(sorted({"alembic", "torch", "pydantic_ai"} & set(sys.modules)))
"""
    new_interpreter = [sys.executable, "-c", script, f"sqlite:///{path}"]
    done = subprocess.run(new_interpreter, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# faults


def _sqlite_error(statements: list[str]) -> sqlite3.Error:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            for statement in statements:
                connection.execute(statement)
        except sqlite3.Error as exc:
            return exc
    raise AssertionError("no error")


@pytest.mark.parametrize(
    ("statements", "kind", "words"),
    [
        (["PRAGMA max_page_count=2", "CREATE TABLE t (x)", "INSERT INTO t VALUES (zeroblob(99999))"],
         StoreFull, "is full"),
        (["CREATE TABLE t (x PRIMARY KEY)", "INSERT INTO t VALUES (1), (1)"], Conflict, "contradicting"),
        (["CREATE TABLE t (x)", "PRAGMA query_only=ON", "INSERT INTO t VALUES (1)"], StoreReadOnly, "read-only"),
        (["SELECT * FROM nothing"], StoreUnavailable, "goodbot doctor"),
        (["ATTACH '/nowhere/at/all.db' AS x"], StoreUnavailable, "cannot be opened"),
    ],
)  # fmt: skip
def test_errors_of_the_driver_are_named(statements: list[str], kind: type[MemoryFault], words: str) -> None:
    found = as_memory_error(OperationalError("statement", {}, _sqlite_error(statements)), Path("/data/goodbot.db"))
    assert type(found) is kind
    assert words in str(found)


@pytest.mark.parametrize(("free", "kind", "words"), [(0, StoreFull, "is full"), (2**30, StoreUnavailable, "failed")])
def test_a_file_beside_the_database_that_finds_no_room_is_a_full_disk(
    monkeypatch: pytest.MonkeyPatch, free: int, kind: type[MemoryFault], words: str
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=free))
    found = as_memory_error(error, Path("/data/goodbot.db"))
    assert type(found) is kind
    assert words in str(found)


def test_a_lock_that_is_not_released_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite_engine.BUSY_SECONDS", 0.05)
    with (
        closing(open_at(path)) as first,
        closing(open_at(path)) as second,
        first.write(),
        pytest.raises(StoreUnavailable, match="locked by another process"),
        second.write(),
    ):
        pass


def test_the_connections_are_as_durable_as_promised(path: Path) -> None:
    with closing(open_at(path)) as store, store._engine.connect() as connection:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]
    assert found == ["wal", 2, 1, 1, 10_000]
