"""The PostgreSQL store keeps the contract, and what only a server can go wrong with."""

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies.move import move
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.tables.lesson_versions import derived
from memory.errors import Conflict, InvalidInput, NotADatabase, NotFound, SchemaMismatch, StoreUnavailable
from memory.model import EventKind
from memory.ports import EpisodeFilter, Store, Transaction
from tests.doubles.postgres import address, new_database, open_postgres, server
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
from tests.memory.adapters.store_samples import (
    CHANNEL,
    EVERYONE,
    MODEL,
    NOW,
    dump,
    episode,
    event,
    fill,
    unit,
)


class TestPostgresStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresRecall(RecallContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresSnapshots(SnapshotsContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresChannels(ChannelsContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresJudgements(JudgementsContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresSteps(StepsContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresUpkeep(UpkeepContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresTurns(TurnsContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresTables(TablesContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresDeliveries(DeliveriesContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


class TestPostgresEpisodes(EpisodesContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.mark.slow
class TestPostgresWorld(WorldContract):
    def make_store(self, folder: Path) -> Store:
        return open_postgres()


@pytest.fixture
def store() -> Iterator[SqlStore]:
    with closing(open_postgres()) as store:
        yield store


@pytest.fixture
def pair(store: SqlStore) -> Iterator[tuple[SqlStore, SqlStore]]:
    """Two stores on one database, as two processes would have them."""
    with closing(open_postgres(address(store))) as second:
        yield store, second


# the schema


def test_a_new_database_has_the_tables_of_the_code(store: SqlStore) -> None:
    with store._engine.connect() as connection:
        opts = {"compare_type": True, "include_name": lambda name, *_: name not in derived.tables}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []
        made = connection.execute(text("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'ix%' ORDER BY 1")).all()
        collations = connection.execute(
            text(
                "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = current_schema() "
                "AND data_type IN ('text', 'character varying') AND table_name != 'alembic_version'"
            )
        ).scalars()
        assert list(collations) == ["C"]
        metadata.drop_all(connection)
        metadata.create_all(connection)
        assert (
            made
            == connection.execute(text("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'ix%' ORDER BY 1")).all()
        )


def test_a_database_is_upgraded_once_whoever_comes_first() -> None:
    url = new_database()
    with pytest.raises(SchemaMismatch, match="goodbot migrate"):
        SqlStore.open(url, migrate=False)
    failures: list[BaseException] = []

    def come() -> None:
        try:
            SqlStore.open(url).close()
        except BaseException as failure:  # noqa: BLE001 - whatever it is, the test must know
            failures.append(failure)

    threads = [threading.Thread(target=come) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with closing(SqlStore.open(url, migrate=False)) as store, store.write() as tx:
        fill(tx, "w")


@pytest.mark.parametrize(
    ("statement", "error", "words"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", SchemaMismatch, r"newer Goodbot \(schema 9999\)"),
        ("DELETE FROM alembic_version", SchemaMismatch, "0 entries instead of one"),
        (
            "DROP TABLE alembic_version",
            NotADatabase,
            "another program's database. Set DATABASE_URL to another database",
        ),
    ],
)
def test_what_is_not_ours_is_refused_and_left_alone(statement: str, error: type[Exception], words: str) -> None:
    url = new_database()
    with closing(SqlStore.open(url)) as store, store._engine.connect() as connection:
        connection.execute(text(statement))
    with pytest.raises(error, match=words):
        SqlStore.open(url)


# two on one database


def test_each_sees_what_the_other_commits(pair: tuple[SqlStore, SqlStore]) -> None:
    first, second = pair
    for number in range(3):
        learn(first, f"a{number}", (1, 0, 0))
        assert f"a{number}" in near(second, "workspace")
        learn(second, f"b{number}", (1, 0, 0))
        assert f"b{number}" in near(first, "workspace")
    with second.write() as tx:
        tx.episodes.delete("w", ["a0"])
    assert near(first, "workspace") == ["b2", "b1", "b0", "a2", "a1"]
    assert dump(first, "w") == dump(second, "w")


def test_copies_survive_a_sweep_by_the_other(pair: tuple[SqlStore, SqlStore]) -> None:
    first, second = pair
    for name in "abc":
        learn(first, name, (1, 0, 0), EVERYONE, CHANNEL)
    assert near(second, "workspace", "channel/C1") == ["c", "b", "a"]
    with first.write() as tx:
        tx.episodes.delete("w", ["b"])
    first.erase_free_space()
    assert near(second, "workspace", "channel/C1") == ["c", "a"]


def test_writers_of_one_workspace_take_turns_and_numbers_are_in_the_order_of_commits(
    pair: tuple[SqlStore, SqlStore],
) -> None:
    with pair[0].write() as tx:
        tx.episodes.put(episode("e1"))
    seen: list[list[int]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            with pair[1].read() as tx:
                seen.append([each.seq for each in tx.log.newest("w", limit=1000)][::-1])

    def write(store: SqlStore, name: str) -> None:
        for number in range(20):
            with store.write() as tx:
                tx.log.append(event("e1", EventKind.VOTED, "w", source=f"{name}{number}"))

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(store, f"{n}-")) for n, store in enumerate((*pair, *pair))]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert seen
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in seen)  # whoever sees one sees all before it
    with pair[0].read() as tx:
        assert len(tx.log.of_episode("w", "e1")) == 80


def test_workspaces_do_not_wait_for_each_other(pair: tuple[SqlStore, SqlStore]) -> None:
    with pair[0].write() as tx:
        assert tx.log.claim("w", "ev", NOW)
        other = threading.Thread(target=lambda: _claim(pair[1], "v"))
        other.start()
        other.join(timeout=5)
        assert not other.is_alive()


def test_a_writer_that_waits_too_long_gives_up_and_leaves_nothing(
    pair: tuple[SqlStore, SqlStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[BaseException] = []

    def wait() -> None:
        try:
            with pair[1].write() as tx:
                assert tx.log.claim("v", "ev", NOW)
                assert tx.log.claim("w", "ev2", NOW)
        except StoreUnavailable as failure:
            failures.append(failure)

    monkeypatch.setattr("memory.adapters.sql.engines.postgres.LOCK_SECONDS", 0.1)
    pair[1]._engine.dispose()  # a connection is told when it is made
    with pair[0].write() as tx:
        assert tx.log.claim("w", "ev", NOW)
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join(timeout=20)
    assert "locked by another process" in str(failures[0])
    with pair[1].write() as tx:
        assert tx.log.claim("v", "ev", NOW)


def _claim(store: SqlStore, workspace: str) -> None:
    with store.write() as tx:
        assert tx.log.claim(workspace, "ev", NOW)


# what goes wrong


def test_a_missing_row_leaves_the_transaction_as_it_was(store: SqlStore) -> None:
    with store.write() as tx:
        tx.episodes.put(episode("e1"))
        with pytest.raises(NotFound, match="e2 in w; store it first"):
            tx.episodes.put_vector("w", "e2", MODEL, unit(1, 0, 0))
        tx.episodes.put_vector("w", "e1", MODEL, unit(1, 0, 0))
    with store.read() as tx:
        assert tx.episodes.vectors("w", ["e1", "e2"]).keys() == {"e1"}


def test_a_refused_statement_is_not_taken_for_a_commit(store: SqlStore) -> None:
    with pytest.raises(Conflict, match="Nothing was changed"), store.write() as tx:
        tx.episodes.put(episode("e1"))
        with suppress(InvalidInput):
            tx.episodes.get("w", "no\0id")  # found out before it is sent
        with suppress(StoreUnavailable):
            tx.log._session.run(text("SELECT 1 / 0"))  # type: ignore[attr-defined]  # behind the port
    with store.read() as tx:
        assert tx.episodes.get("w", "e1") is None


@pytest.mark.parametrize("term", ["STRASSE", "ΣΊΣΥΦΟΣ", "ΣΊΣΥΦΟΣ ΛΌΓΟΣ", "İSTANBUL", "ЁЖИК", "ÀÉ", "ǅ", "straße"])
def test_letters_are_lowered_as_everywhere(store: SqlStore, term: str) -> None:
    with store.write() as tx:
        tx.episodes.put(episode("e1", goal=f"about {term}, said once"))
    with store.read() as tx:
        for text_ in (term, term.lower()):
            assert [each.id for each in tx.episodes.search("w", EpisodeFilter(text=text_, limit=9))] == ["e1"]


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached") as caught:
        SqlStore.open("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "db on 127.0.0.1" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_database_that_is_not_there_is_told(store: SqlStore) -> None:
    with pytest.raises(NotADatabase, match=r"There is no database nowhere on .*createdb"):
        SqlStore.open(server() % "nowhere")


# a server that goes away


def test_a_connection_that_was_ended_is_replaced_before_anything_is_begun(pair: tuple[SqlStore, SqlStore]) -> None:
    first, second = pair
    with first.write() as tx:
        fill(tx, "w")
    assert end_connections(second, of="goodbot") > 0
    for store in pair:
        with store.write() as tx:
            assert tx.log.claim("w", f"ev of {id(store)}", NOW)
        with store.read() as tx:
            assert tx.episodes.get("w", "e1") is not None


def test_a_transaction_whose_connection_is_ended_fails_whole_and_may_be_done_again(
    pair: tuple[SqlStore, SqlStore],
) -> None:
    first, second = pair

    def change() -> None:
        with first.write() as tx:
            tx.episodes.put(episode("e1"))
            if not failures:
                end_connections(second, of="goodbot")
            tx.episodes.put(episode("e2"))

    failures: list[StoreUnavailable] = []
    try:
        change()
    except StoreUnavailable as failure:
        failures.append(failure)
    assert "cannot be reached" in str(failures[0])
    assert failures[0].retryable
    with second.read() as tx:
        assert tx.episodes.get_many("w", ["e1", "e2"]) == {}
    change()
    with second.read() as tx:
        assert tx.episodes.get_many("w", ["e1", "e2"]).keys() == {"e1", "e2"}


@pytest.mark.parametrize("writes", [False, True])
def test_a_search_whose_connection_is_ended_tells_so(store: SqlStore, *, writes: bool) -> None:
    def search(tx: Transaction) -> None:
        tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
        tx.episodes.get_many("w", ["e1"])

    with store.write() as tx:
        fill(tx, "w")
    with (
        pytest.raises(StoreUnavailable, match="cannot be reached"),
        store.write() if writes else store.read() as tx,
    ):
        search(tx)
        search(tx)
        end_connections(store, of="goodbot")
        search(tx)
    with store.read() as tx:
        search(tx)


def test_a_statement_that_takes_too_long_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.postgres.STATEMENT_SECONDS", 0.2)
    with closing(open_postgres()) as store, pytest.raises(StoreUnavailable, match="took too long"), store.read() as tx:
        tx.log._session.rows(text("SELECT pg_sleep(30)"))  # type: ignore[attr-defined]  # behind the port


def end_connections(store: SqlStore, *, of: str) -> int:
    """End every connection of the program to the database of a store, as a server that restarts does."""
    with psycopg.connect(address(store), autocommit=True, application_name="test") as connection:
        ended = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = %s",
            [of],
        ).fetchone()
    assert ended is not None
    return int(ended[0])


# rows that cannot be read


def test_a_whole_database_has_no_damage_and_a_broken_row_is_named(store: SqlStore) -> None:
    with store.write() as tx:
        fill(tx, "w")
    assert store.damage(limit=9) == []
    with store._engine.connect() as connection:
        connection.execute(text("UPDATE episodes SET trajectory = '{' WHERE id = 'e1'"))
    (row,) = store.damage(limit=9)
    assert row.what.startswith("the row of episodes with workspace 'w', id 'e1' has a damaged trajectory")
    assert "psql" in row.remedy
    assert "DELETE FROM episodes WHERE workspace =" in row.remedy
    with pytest.raises(NotADatabase, match="damaged trajectory"), store.read() as tx:
        tx.episodes.get("w", "e1")


# into a server and back


def test_everything_is_moved_into_it_and_back(tmp_path: Path) -> None:
    file, back = (f"sqlite:///{tmp_path / name}.db" for name in ("file", "back"))
    with closing(SqlStore.open(file)) as before, before.write() as tx:
        fill(tx, "w")
        fill(tx, "v")
    url = new_database()
    there = move(file, url, lambda *_: None)
    again = move(url, back, lambda *_: None)
    assert [(each.name, each.rows, each.digest) for each in there] == [
        (each.name, each.rows, each.digest) for each in again
    ]
    with (
        closing(SqlStore.open(file)) as before,
        closing(SqlStore.open(url)) as server_,
        closing(SqlStore.open(back)) as after,
    ):
        for workspace in ("w", "v"):
            assert dump(before, workspace) == dump(server_, workspace) == dump(after, workspace)


def test_the_server_plans_for_what_was_moved_into_it(tmp_path: Path) -> None:
    file, url = f"sqlite:///{tmp_path / 'file'}.db", new_database()
    with closing(SqlStore.open(file)) as before, before.write() as tx:
        fill(tx, "w")
    move(file, url, lambda *_: None)
    with psycopg.connect(url) as connection:
        known = connection.execute("SELECT relname FROM pg_class WHERE reltuples > 0").fetchall()
    assert {("episodes",), ("votes",), ("recall_index",)} <= set(known)


def test_what_is_moved_is_there_even_if_the_server_cannot_look_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.adapters.sql.engines.postgres.LOCK_SECONDS", 0.1)
    file, url = f"sqlite:///{tmp_path / 'file'}.db", new_database()
    with closing(SqlStore.open(file)) as before, before.write() as tx:
        fill(tx, "w")
    SqlStore.open(url).close()
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE episodes IN SHARE UPDATE EXCLUSIVE MODE")  # as VACUUM does
        move(file, url, lambda *_: None)
    with closing(SqlStore.open(url)) as after:
        assert dump(after, "w")


# keys


def test_every_key_begins_with_the_workspace_and_none_crosses_it(store: SqlStore) -> None:
    """What a database that is spread over servers by workspace asks of keys. Leases and job runs are of all of it."""
    keys = text(
        "SELECT t.relname, i.relname AS name, array_agg(a.attname ORDER BY k.place) AS columns "
        "FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid "
        "CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(number, place) "
        "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number "
        "WHERE x.indisunique AND t.relnamespace = current_schema()::regnamespace GROUP BY 1, 2"
    )
    references = text(
        "SELECT c.conname, array_agg(a.attname::text ORDER BY k.place) AS own, "
        "array_agg(b.attname::text ORDER BY k.place) AS other "
        "FROM pg_constraint c CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k(own, other, place) "
        "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own "
        "JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = k.other "
        "WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace GROUP BY 1"
    )
    with store._engine.connect() as connection:
        unique = connection.execute(keys).all()
        foreign = connection.execute(references).all()
    of_the_whole_database = {"alembic_version", "leases", "job_runs"}
    assert {row.relname for row in unique if row.columns[0] != "workspace"} == of_the_whole_database
    assert len(unique) > len(metadata.tables)
    assert len(foreign) > 10
    assert [row.conname for row in foreign if (row.own[0], row.other[0]) != ("workspace", "workspace")] == []
