"""Every table in parts by its workspace, as a PostgreSQL that is spread over servers has them: the contract holds.

Native partitioning asks of keys what a distributed PostgreSQL asks: each unique one contains the workspace.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies.move import move, planned_tables
from memory.adapters.sql.engines.partitioning import partition_tables
from memory.errors import InvalidInput
from memory.ports import Store
from tests.doubles.memory_world import World, scope
from tests.doubles.postgres import empty, new_database
from tests.memory.adapters.store_contract import StoreContract
from tests.memory.adapters.store_contract_channels import ChannelsContract
from tests.memory.adapters.store_contract_deliveries import DeliveriesContract
from tests.memory.adapters.store_contract_episodes import EpisodesContract
from tests.memory.adapters.store_contract_judgements import JudgementsContract
from tests.memory.adapters.store_contract_recall import RecallContract
from tests.memory.adapters.store_contract_steps import StepsContract
from tests.memory.adapters.store_contract_tables import TablesContract
from tests.memory.adapters.store_contract_topics import WorldContract
from tests.memory.adapters.store_contract_turns import TurnsContract
from tests.memory.adapters.store_contract_upkeep import UpkeepContract

pytestmark = pytest.mark.slow

PARTS = 4

_made: list[tuple[str, list[SqlStore]]] = []


def open_partitioned() -> SqlStore:
    """A store on an empty database whose tables are in parts."""
    for url, stores in _made:
        if all(store._is_closed for store in stores):
            empty(url)
            stores[:] = [SqlStore.open(url)]
            return stores[0]
    url = new_database()
    partition_tables(url, PARTS)
    _made.append((url, [SqlStore.open(url)]))
    return _made[-1][1][0]


class TestPartitionedStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedRecall(RecallContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedChannels(ChannelsContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedJudgements(JudgementsContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedSteps(StepsContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedUpkeep(UpkeepContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedTurns(TurnsContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedTables(TablesContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedDeliveries(DeliveriesContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedEpisodes(EpisodesContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


class TestPartitionedWorld(WorldContract):
    def make_store(self, folder: Path) -> Store:
        return open_partitioned()


@pytest.fixture
def store() -> Iterator[SqlStore]:
    with closing(open_partitioned()) as store:
        yield store


def test_a_message_and_a_reaction_go_through_one_part_of_each_table(store: SqlStore) -> None:
    world = World(store)
    world.actions = ()
    for workspace in ("terminal:w", "slack:w", "slack:v"):  # so that no part is empty for want of people
        for person in ("ana", "bo"):
            world.react(world.ask("where is the key?", "in the drawer", of=scope(person, workspace=workspace)))
    plans: dict[str, set[str]] = {}

    def explain(connection: Connection, cursor: object, statement: str, parameters: object, *_: object) -> None:
        if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
            one = parameters[0] if isinstance(parameters, list) else parameters
            driver = connection.connection.driver_connection
            assert driver is not None
            # It is really done, for only then it is known which parts were left out; and taken back.
            driver.execute("SAVEPOINT explained")
            rows = driver.execute(f"EXPLAIN (ANALYZE, COSTS off, TIMING off) {statement}", one).fetchall()
            driver.execute("ROLLBACK TO SAVEPOINT explained")
            seen = "\n".join(line for (line,) in rows if "never executed" not in line)
            plans[statement] = set(re.findall(r"_part(\d)", seen))

    event.listen(store._engine, "before_cursor_execute", explain)
    answer = world.ask("where is the other key?", "in the hall")
    world.react(answer)
    world.correct(answer, "under the mat")
    of_a_message = set(plans)
    assert len(of_a_message) > 30
    assert {each: plans[each] for each in of_a_message if len(plans[each]) > 1} == {}
    with store.read() as tx:
        tx.deliveries.set_aside()  # which looks everywhere: it is seen where one does
    assert [len(parts) for each, parts in plans.items() if each not in of_a_message] == [PARTS]


def test_everything_moves_into_parts_by_one_command(tmp_path: Path) -> None:
    source, target = f"sqlite:///{tmp_path / 'goodbot.db'}", new_database()
    with closing(SqlStore.open(source)) as store:
        world = World(store)
        for workspace in ("terminal:w", "slack:w", "slack:v", "slack:u"):
            world.react(world.ask("where is the key?", "in the drawer", of=scope("ana", workspace=workspace)))
    before = planned_tables(source, target)
    assert dict(before)["episodes"] == 4
    assert planned_tables(source, target) == before  # nothing was made
    moved = move(source, target, lambda *_: None, parts=PARTS)
    assert [(each.name, each.rows) for each in moved] == before
    with closing(SqlStore.open(target)) as store, store._engine.connect() as connection:
        found = [connection.execute(text(f"SELECT count(*) FROM episodes_part{n}")).scalar() for n in range(PARTS)]
        assert sum(each or 0 for each in found) == 4
        assert len([each for each in found if each]) > 1
        assert World(store).recalled("where is the key?", of=scope("ana", workspace="slack:w"))
    for refused in (
        lambda: planned_tables(source, target),
        lambda: move(source, target, lambda *_: None, parts=2 * PARTS),
    ):
        with pytest.raises(InvalidInput):
            refused()
    with pytest.raises(InvalidInput, match="PostgreSQL"):
        move(source, f"sqlite:///{tmp_path / 'new.db'}", lambda *_: None, parts=PARTS)
    assert not (tmp_path / "new.db").exists()
