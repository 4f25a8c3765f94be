"""Whatever is done to a SQLite file and to a PostgreSQL database, both hold and say the same."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from sqlalchemy import select

from memory.adapters.sql import SqlStore
from memory.adapters.sql.tables.columns import metadata
from memory.errors import MemoryFault
from memory.ports import Store
from tests.doubles.postgres import address, open_postgres
from tests.doubles.stores import open_file
from tests.memory.adapters.sql.test_store_machine import Change, TwoStores
from tests.memory.adapters.store_samples import dump
from tests.memory.services.test_laws_isolation import PEOPLE, PLACES, WORKSPACES, Act, Play, acts, at

pytestmark = pytest.mark.slow

FEWER = max(5, settings().max_examples // 5)


class OneOfEach(TwoStores):
    """A file and a server: what one does, the other does too."""

    def open_stores(self, folder: Path) -> tuple[Store, Store]:
        return open_file(folder / "goodbot.db"), open_postgres()

    def open_third(self) -> Store:
        return open_postgres(address(self.stores[1]))

    def do(self, *changes: Change) -> None:
        outcomes = []
        for store in self.stores:
            said = []
            with store.write() as tx:
                for change in changes:
                    try:
                        said.append(repr(change(tx)))
                    except MemoryFault as fault:
                        said.append(f"{type(fault).__name__}: {fault}")
            outcomes.append(said)
        assert outcomes[0] == outcomes[1]


TestOneOfEach = OneOfEach.TestCase
TestOneOfEach.settings = settings(deadline=None, max_examples=FEWER, stateful_step_count=30)


def tables(store: SqlStore) -> dict[str, list[str]]:
    """Every row of every table, to the last digit."""
    with store._engine.connect() as connection:
        return {
            table.name: sorted(
                repr([getattr(value, "tolist", lambda value=value: value)() for value in row])
                for row in connection.execute(select(table))
            )
            for table in metadata.sorted_tables
        }


@settings(max_examples=FEWER)
@given(acts)
def test_people_who_live_through_the_same_are_told_the_same(history: list[Act]) -> None:
    with closing(SqlStore.in_memory()) as here, closing(open_postgres()) as there:
        plays = [Play(here), Play(there)]
        for act in history:
            for play in plays:
                play.do(act)
        for workspace in WORKSPACES:
            for person in PEOPLE:
                for place in PLACES:
                    if scope := at((workspace, person, place)):
                        shown = [play.shown(scope) for play in plays]
                        assert shown[0] == shown[1]
        assert tables(here) == tables(there)
        for play in plays:
            assert play.world.memory.audit.check() == []
        for play in plays:
            play.world.memory.privacy.forget(WORKSPACES[0], PEOPLE[0])
        assert tables(here) == tables(there)
        assert dump(here, WORKSPACES[0]) == dump(there, WORKSPACES[0])
