"""An older database knows after its upgrade whose words its questions are, and keeps no ids of handled events."""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engine import begin, open_engine
from memory.model import Incoming, Role
from memory.ports import EpisodeFilter
from tests.doubles.memory_world import World, scope

W = "terminal:w"
EVERY = EpisodeFilter(include_archived=True, limit=None)


def as_before(path: Path) -> None:
    """Take the database back to the schema without these tables."""
    engine = open_engine(path)
    config = Config()
    config.set_main_option("script_location", "memory:migrations")
    with engine.connect() as connection, begin(connection, writes=True):
        config.attributes["connection"] = connection
        command.downgrade(config, "0005")
    engine.dispose()


def test_whose_words_questions_are_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "goodbot.db"
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        world = World(store)
        answer = world.ask("where is zyzzyva?", of=scope("ana"))
        lesson = world.correct(answer, "upstairs", by="tea", role=Role.TEACHER)
        better = world.correct(lesson, "in the attic", by="bob")
        again = world.ask("where is zyzzyva?", of=scope("cy"), asked_by="ana")
        with store.write() as tx:  # as messengers name it
            whole = tx.deliveries.incoming_of_run(W, again.run_id)
            assert whole is not None
        retried = world.correct(again, "downstairs", by="bob")
        own = world.correct(world.ask("when is lunch?", of=scope("bob")), "at noon", by="bob")
        gone = world.ask("where is the quokka?", of=scope("ana"))
        orphan = world.correct(gone, "in the zoo", by="tea")
        world.memory.privacy.erase_run(W, gone.run_id)
        with store.read() as tx:
            ids = [each.id for each in tx.episodes.search(W, EVERY)]
            words = tx.episodes.words_of_others(W, ids)
    assert words == {each.id: ["ana"] for each in (lesson, better, again, retried, orphan)}
    assert own.id not in words
    as_before(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE incoming SET message_id = 'retry/1' WHERE event_id = ?", (whole.event_id,))
        connection.execute("INSERT INTO processed_events VALUES (?, 'asked/1/quokka', 7)", (W,))
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        world = World(store)
        with store.write() as tx:
            assert tx.episodes.words_of_others(W, ids) == words
            tried = tx.deliveries.incoming(W, whole.event_id)
            assert tried is not None
            assert tried.asked_by == "ana"
            assert not tx.log.claim(W, "asked/1/quokka", world.clock())
        world.memory.recording.accept(
            Incoming(scope=scope("cy"), event_id="e", message_id="m", text="mine", at=world.clock())
        )
    assert b"asked/1/quokka" not in path.read_bytes()
