"""Connections to a file are used again, and none keeps anything of the transactions before."""

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest
from sqlalchemy import event, text

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.sqlite import MOST_IDLE, MOST_OPEN, SqliteDatabase
from memory.adapters.sql.transaction.session import Session
from memory.errors import Conflict, MemoryFault, StoreUnavailable
from tests.doubles.stores import open_file
from tests.memory.adapters.store_samples import ALL, episode


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    with closing(open_file(path)) as made:
        yield made


@pytest.fixture
def other(store: SqlStore, path: Path) -> Iterator[SqlStore]:
    """Another one on the same file, as another process would have it."""
    with closing(open_file(path)) as made:
        yield made


def put(store: SqlStore, *names: str) -> None:
    with store.write() as tx:
        for name in names:
            tx.episodes.put(episode(name))


def stored(store: SqlStore) -> list[str]:
    with store.read() as tx:
        return sorted(each.id for each in tx.episodes.search("w", ALL))


def times_open(path: Path) -> int:
    """How many descriptors of this process are the file, also when it was removed."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists
            found += str(each.readlink()).removesuffix(" (deleted)") == str(path)
    return found


only_linux = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux tells")


def test_one_transaction_after_the_other_has_the_same_connection(store: SqlStore) -> None:
    connects: list[object] = []
    event.listen(store._engine, "connect", lambda driver, _: connects.append(driver))
    for number in range(10):
        put(store, f"e{number}")
        assert len(stored(store)) == number + 1
    assert connects == []  # it is the one that looked at the schema


def test_each_connection_keeps_to_the_rules_of_its_file(path: Path) -> None:
    wanted = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "query_only")
    with closing(SqlStore.open(f"sqlite:///{path}")) as store, ExitStack() as transactions:  # the tables are made
        for _ in range(3):
            session, _ = transactions.enter_context(store._session(writes=False))
            found = [session._connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in wanted]
            assert found == ["wal", 2, 1, 1, 0]


# a transaction that does not end as it should


class _Aborted(Exception):
    pass


@pytest.mark.parametrize("kind", [_Aborted, KeyboardInterrupt, SystemExit, GeneratorExit, Conflict])
def test_what_an_exception_ends_is_rolled_back_at_once(
    store: SqlStore, other: SqlStore, kind: type[BaseException]
) -> None:
    for _ in range(2):
        with pytest.raises(kind), store.write() as tx:
            tx.episodes.put(episode("never"))
            raise kind
        assert stored(store) == stored(other)
        put(other, "theirs")  # nobody holds the lock
    put(store, "e1")
    assert stored(store) == stored(other) == ["e1", "theirs"]


def test_a_transaction_that_is_given_up_is_rolled_back(store: SqlStore, other: SqlStore) -> None:
    begun = store.write()
    begun.__enter__().episodes.put(episode("never"))
    del begun
    gc.collect()
    put(other, "theirs")
    put(store, "e1")
    assert stored(store) == ["e1", "theirs"]


def test_a_commit_that_fails_leaves_nothing_and_keeps_no_lock(store: SqlStore, other: SqlStore) -> None:
    with pytest.raises(Conflict, match="contradicting"), store._session(writes=True) as (session, _):
        session._connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        session._connection.exec_driver_sql("INSERT INTO borrowed_words VALUES ('w', 'nobody', 'ana')")
    put(other, "theirs")
    put(store, "e1")
    assert stored(store) == stored(other) == ["e1", "theirs"]


@pytest.mark.parametrize("is_committed", [False, True])
def test_an_interrupted_commit_leaves_nothing_open(
    store: SqlStore, other: SqlStore, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    def interrupted(self: SqliteDatabase, connection: object, transaction: object) -> None:
        if is_committed:
            commit(self, connection, transaction)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    commit = SqliteDatabase.commit
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(SqliteDatabase, "commit", interrupted)
        put(store, "e1")
    assert stored(store) == stored(other) == ["e1"] * is_committed
    put(other, "theirs")
    put(store, "e2")


# what somebody keeps of a transaction


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("change", ["goal = CAST(x'ff41' AS TEXT)", "created_at = 'never'"])
def test_whoever_keeps_an_error_keeps_no_connection_at_what_it_read(
    store: SqlStore, other: SqlStore, path: Path, change: str, times: int
) -> None:
    put(store, "damaged", "e1", "e2")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE episodes SET {change} WHERE id = 'damaged'")
    kept: list[MemoryFault] = []
    for number in range(times):  # a statement runs otherwise from its second time on
        with pytest.raises(MemoryFault) as caught, store.read() as tx:
            tx.episodes.search("w", ALL) if number else tx.episodes.get("w", "damaged")
        kept.append(caught.value)
    put(other, "later")
    with store.read() as tx:
        assert tx.episodes.get("w", "later") is not None
    other.erase_free_space()
    assert len(kept) == times


def _in_batches(session: Session) -> Iterator[object]:
    return session.batches("SELECT id FROM episodes", (), 1)


def _one_by_one(session: Session) -> Iterator[object]:
    return session.each_driver_row(text("SELECT id FROM episodes WHERE workspace = :w"), {"w": "w"})


@pytest.mark.parametrize("kind", [_in_batches, _one_by_one])
def test_whoever_keeps_rows_that_were_not_read_keeps_no_connection_at_them(
    store: SqlStore,
    other: SqlStore,
    kind: Callable[[Session], Iterator[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(store, "e1", "e2", "e3")
    read, kept = list[Iterator[object]](), list[Iterator[object]]()
    for rows in (read, kept):
        with store._session(writes=False) as (session, _):
            rows.append(kind(session))
            assert next(rows[0])
    put(other, "later")
    assert stored(store) == ["e1", "e2", "e3", "later"]
    other.erase_free_space()
    with pytest.raises(StoreUnavailable):
        next(read[0])
    failed: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", failed.append)
    store.close()
    kept.clear()
    gc.collect()
    assert failed == []


def test_idle_connections_are_not_in_the_way_of_erasing(store: SqlStore, other: SqlStore, path: Path) -> None:
    put(store, "e1")
    for each in (store, other):
        with ExitStack() as transactions:
            for _ in range(MOST_IDLE + 1):
                transactions.enter_context(each.read()).episodes.search("w", ALL)
    other.erase_free_space()
    assert path.with_name("goodbot.db-wal").stat().st_size == 0
    assert stored(store) == stored(other) == ["e1"]


# another file


def _another(path: Path) -> Path:
    made = path.with_name("another.db")
    with closing(open_file(made)) as store:
        put(store, "new")
    return made


def test_what_was_opened_before_a_file_was_replaced_is_not_used_after_it(store: SqlStore, path: Path) -> None:
    put(store, "old")
    with ExitStack() as transactions:
        running = [transactions.enter_context(store.read()) for _ in range(MOST_IDLE)]
        assert stored(store) == ["old"]  # and one is idle
        store.erase_free_space()
        _another(path).replace(path)
        assert stored(store) == ["new"]
        for tx in running:
            assert [each.id for each in tx.episodes.search("w", ALL)] == ["old"]
    with ExitStack() as transactions:
        for _ in range(2 * MOST_IDLE):
            tx = transactions.enter_context(store.read())
            assert [each.id for each in tx.episodes.search("w", ALL)] == ["new"]


def test_what_is_opened_while_a_file_is_replaced_is_not_used_after_it(store: SqlStore, path: Path) -> None:
    put(store, "old")
    another, found = _another(path), []

    def replace(*_: object) -> None:
        if another.exists():
            another.replace(path)
            found.append(stored(store))  # somebody else's transaction, who notices it

    store.erase_free_space()
    with store.read():  # the only one that is idle
        event.listen(store._engine, "connect", replace)
        assert stored(store) == ["old"]
    assert found == [["new"]]
    assert stored(store) == ["new"]


@only_linux
def test_a_file_that_was_replaced_is_let_go(store: SqlStore, path: Path) -> None:
    put(store, "old")
    store.erase_free_space()
    with store.read(), store.read():
        _another(path).replace(path)
        assert stored(store) == ["new"]
    with store.read():
        assert times_open(path) == 1


# closing


@only_linux
def test_a_transaction_that_outlives_its_store_is_closed_with_it(store: SqlStore, path: Path) -> None:
    with store.write() as tx:
        tx.episodes.put(episode("e1"))
        store.close()
        tx.episodes.put(episode("e2"))
    assert times_open(path) == 0
    with closing(open_file(path)) as again:
        assert stored(again) == ["e1", "e2"]


@only_linux
def test_a_transaction_that_begins_while_its_store_is_closed_leaves_nothing_open(store: SqlStore, path: Path) -> None:
    database = store._database
    store.close()
    connection, transaction = database.begin(writes=False)  # by whoever looked before
    database.commit(connection, transaction)
    database.release(connection)
    assert times_open(path) == 0


@only_linux
def test_a_store_that_nobody_has_is_closed(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = open_file(path)
    put(store, "e1")
    assert times_open(path) == 1
    del store
    gc.collect()
    assert times_open(path) == 0
    assert capfd.readouterr().err == ""


# many at once


def test_few_stay_open_of_many(store: SqlStore) -> None:
    connects, closes, barrier = list[object](), list[object](), Barrier(MOST_OPEN)
    event.listen(store._engine, "connect", lambda driver, _: connects.append(driver))
    event.listen(store._engine, "close", lambda driver, _: closes.append(driver))

    def read() -> None:
        with store.read() as tx:
            tx.episodes.search("w", ALL)
            barrier.wait(60)

    threads = [Thread(target=read) for _ in range(MOST_OPEN)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(connects) == MOST_OPEN - 1  # one was idle
    assert len(closes) == MOST_OPEN - MOST_IDLE


def test_when_all_are_in_use_the_next_waits_for_one(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "e1")
    waits, found = Event(), list[list[str]]()
    change = store._database._connections._change  # type: ignore[attr-defined]
    monkeypatch.setattr(change, "wait", _noting(change.wait, waits))
    with ExitStack() as transactions:
        for _ in range(MOST_OPEN - 1):
            transactions.enter_context(store.read())
        with store.read():
            thread = Thread(target=lambda: found.append(stored(store)))
            thread.start()
            assert waits.wait(60)
            assert found == []
        thread.join()
        assert found == [["e1"]]


def _noting(wait: Callable[[float | None], bool], noted: Event) -> Callable[[float | None], bool]:
    def noting(timeout: float | None = None) -> bool:
        noted.set()
        return wait(timeout)

    return noting


def test_who_waits_too_long_is_told_so_and_uses_up_nothing(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite._WAIT_SECONDS", 0.01)
    with ExitStack() as transactions:
        for _ in range(MOST_OPEN):
            transactions.enter_context(store.read())
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="Try again"), store.read():
                pass
    with ExitStack() as transactions:
        for _ in range(MOST_OPEN):
            transactions.enter_context(store.read())


def test_what_cannot_be_opened_uses_up_nothing(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite._WAIT_SECONDS", 0.01)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    event.listen(store._engine, "connect", fail)
    with store.read():
        for _ in range(MOST_OPEN):
            with pytest.raises(StoreUnavailable, match="unable to open"), store.read():
                pass
    event.remove(store._engine, "connect", fail)
    with ExitStack() as transactions:
        for _ in range(MOST_OPEN):
            transactions.enter_context(store.read())


def test_what_cannot_begin_uses_up_nothing(other: SqlStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite_engine.BUSY_SECONDS", 0)
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite._WAIT_SECONDS", 0.01)
    kept: list[MemoryFault] = []
    with closing(open_file(path)) as store:
        with ExitStack() as transactions, other.write():
            for _ in range(MOST_OPEN - 1):
                transactions.enter_context(store.read())
            for _ in range(MOST_OPEN):
                with pytest.raises(StoreUnavailable, match="locked by another process") as caught, store.write():
                    pass
                kept.append(caught.value)
        put(store, "e1")
        assert stored(other) == ["e1"]
