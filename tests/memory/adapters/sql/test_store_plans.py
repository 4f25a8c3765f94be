"""How SQLite finds rows: by a key or an index that goes beyond the workspace, however large a workspace is."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from memory.adapters.sql import SqlStore
from memory.model import EventKind, LinkKind, Verdict
from memory.ports import EpisodeFilter, Transaction
from tests.doubles.memory_world import World
from tests.memory.adapters.store_contract import CHANGES
from tests.memory.adapters.store_samples import MODEL, NOW, fill, nearest, unit, vote

WHOLE_TABLES = (
    "SELECT recall_index.workspace",  # the sweep of what was erased, which goes through everything anyway
    "DELETE FROM recall_index WHERE recall_index.vector IS NULL",
    "UPDATE batches SET actor",  # as few, for the same reason
    "UPDATE episodes SET place",  # when a channel is renamed, as seldom as its readers change
    "UPDATE settings SET changed_by",  # a few rows, when somebody is forgotten
)

ONE_ROW = (
    "SEARCH thresholds USING PRIMARY KEY (workspace=?)",  # of which a workspace has one
    "SEARCH rules USING PRIMARY KEY (workspace=?)",  # whether there is any
    "SEARCH settings USING PRIMARY KEY (workspace=?)",  # the same
    "SEARCH lesson_versions USING PRIMARY KEY (workspace=?)",  # of which a workspace has one
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as store:
        yield store


@pytest.fixture
def plans(store: SqlStore) -> dict[str, list[str]]:
    """The plan of every statement that this store runs from now on, by its text."""
    found: dict[str, list[str]] = {}

    def explain(connection: object, cursor: sqlite3.Cursor, statement: str, parameters: object, *_: object) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "INSERT")) and isinstance(parameters, tuple):
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
            found[statement] = [row[3] for row in rows]

    event.listen(store._engine, "before_cursor_execute", explain)
    return found


def read_a_few(tx: Transaction) -> None:
    tx.episodes.get_many("w", ["e1", "e2"])
    tx.episodes.of_run("w", "r1")
    tx.episodes.of_runs("w", ["r1", "r2"])
    tx.episodes.vectors("w", ["e1"])
    tx.episodes.models("w")
    tx.episodes.links("w", ["e1", "e2"])
    tx.episodes.links("w", ["e1", "e2"], LinkKind.CORRECTS)
    tx.retrievals.evidence_of_runs("w", ["r1", "r2"])
    tx.judgements.of_run("w", "r1")
    tx.judgements.threshold("w")
    tx.upkeep.rules("w", ["rule1"])
    tx.log.of_episode("w", "e1")
    tx.log.of_run("w", "r1")
    tx.log.gradings("w", ["e1", "e2"])
    tx.log.newest("w", kind=EventKind.CORRECTED, limit=10)
    tx.log.newest("w", actor="ana", limit=10)
    tx.topics.changes("w", actor="ana", before=9, limit=10)
    tx.people.held("w", "ana")
    tx.episodes.search("w", EpisodeFilter(author="ana", include_archived=True, limit=None))
    tx.log.by_actor("w", "ana", [EventKind.CREATED, EventKind.VOTED])
    tx.teaching.reactions_of_run("w", "r1")
    tx.teaching.reactions_by("w", "ana")
    tx.teaching.reactions_in_words("w", "ev1")
    tx.teaching.unclaimed_reactions("w", "C1", "m1")
    tx.teaching.votes("w", "r1")
    tx.teaching.polls("w", ["r1", "r2"], people=["ana"])
    tx.episodes.weighing_input("w", "C1", ["e1", "e2"])
    tx.teaching.votes_around([vote(), vote("bo")], window=timedelta(hours=1), limit=9)
    tx.teaching.runs_voted_on("w", ["ana", "bo"])
    tx.teaching.record_of("w", ["ana", "bo"])
    tx.teaching.ledger("w", "C1", "m1", NOW)
    tx.teaching.ledger_of_run("w", "r1")
    tx.teaching.answer_of("w", "C1", "m1", NOW)
    listen(tx)
    tx.teaching.newest_answer("w", "C1")
    tx.teaching.newest_answer("w", "C1", "t1")
    tx.deliveries.incoming_of_run("w", "r1")
    tx.deliveries.unfinished()
    tx.deliveries.set_aside()
    tx.deliveries.messages_of("w", "C1", "ana", 3)
    tx.deliveries.messages_of("w", "", "ana", 3)
    tx.deliveries.outgoing("w", "r1")
    tx.retrievals.of_run("w", "r1")
    tx.retrievals.get("w", "q1")
    tx.retrievals.of_episode("w", "e1")
    tx.steps.run("w", "ana", "person/ana", "s1", "run-1")
    tx.steps.runs("w", "ana", "s1")
    tx.steps.of_session("w", "ana", "s1")
    tx.steps.of_person("w", "ana")
    tx.steps.grades("w", ["e1", "e2"])
    tx.steps.grades_by("w", "ana")
    tx.short.get("w", "notes", "k1", NOW)
    tx.short.of_person("w", "ana")
    tx.short.of_person("w", "ana", "notes")


def listen(tx: Transaction) -> None:
    """What is read of a place before anything is said there."""
    tx.teaching.newest_answer_to("w", "C1", "ana", NOW)
    tx.deliveries.asker_in("w", "C1", "t1")
    tx.settings.within("w", "C1")
    tx.settings.get("w", "C1", "mode")
    tx.log.of_episode("w", "")
    tx.channels.is_muted("w", "C1", "t1")


def test_no_statement_walks_a_workspace_for_a_few_rows(store: SqlStore, plans: dict[str, list[str]]) -> None:
    with store.write() as tx:
        fill(tx, "w")
    with store.write() as tx:
        for change in CHANGES.values():
            fill(tx, "w")
            change(tx, "w")
    with store.read() as tx:
        read_a_few(tx)
    nearest(store, "w", ["workspace", "channel/C1"], MODEL, unit(1, 0, 0), 3, 0.0)
    assert len(plans) > 50
    slow = {
        statement: plan
        for statement, plan in plans.items()
        if any(_walks(step, plan) for step in plan) and not statement.startswith(WHOLE_TABLES)
    }
    assert slow == {}


def _walks(step: str, plan: list[str]) -> bool:
    """Whether a step goes through a table or a workspace, and not only through what another step has found."""
    is_found = step == "SCAN CONSTANT ROW" or step.replace("SCAN", "CO-ROUTINE") in plan
    return ("(workspace=?)" in step and step not in ONE_ROW) or ("SCAN" in step and not is_found)


def test_a_list_is_read_in_the_order_of_its_index(store: SqlStore, plans: dict[str, list[str]]) -> None:
    with store.read() as tx:
        tx.episodes.search("w", EpisodeFilter())
        tx.episodes.search("w", EpisodeFilter(newest_first=False, text="x", roots_only=True))
    assert len(plans) == 2
    for plan in plans.values():
        assert plan == [
            "SEARCH episodes USING INDEX ix_episodes_workspace_created_at_id (workspace=?)",
            "CORRELATED SCALAR SUBQUERY 1",
            "SEARCH quarantines USING PRIMARY KEY (workspace=? AND episode_id=?)",
            "CORRELATED SCALAR SUBQUERY 2",
            "SEARCH channels USING PRIMARY KEY (workspace=? AND channel=?)",
        ]


def test_what_is_rare_is_found_by_its_own_index(store: SqlStore, plans: dict[str, list[str]]) -> None:
    with store.read() as tx:
        tx.log.gradings("w", ["e1", "e2"])
        tx.episodes.search("w", EpisodeFilter(verdict=Verdict.DISPUTED))
    gradings, disputed = plans.values()
    assert gradings[0] == "SEARCH events USING INDEX ix_events_gradings (workspace=? AND episode_id=?)"
    assert disputed[0] == "SEARCH episodes USING INDEX ix_episodes_disputed (workspace=?)"


def test_the_newest_judgements_are_read_in_the_order_of_their_index(
    store: SqlStore, plans: dict[str, list[str]]
) -> None:
    with store.read() as tx:
        tx.judgements.counts("w", 500)
    (plan,) = plans.values()
    assert "SEARCH judgements USING COVERING INDEX ix_judgements_newest (workspace=?)" in plan
    assert not [step for step in plan if step.startswith("USE TEMP B-TREE")]


@pytest.fixture
def counts(store: SqlStore) -> list[str]:
    """Every statement that this store runs from now on, those that begin a transaction among them."""
    found: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda _, __, statement, *___: found.append(statement))
    return found


def test_a_recall_takes_as_many_statements_however_many_it_finds(store: SqlStore, counts: list[str]) -> None:
    with store.write() as tx:
        fill(tx, "w")
    nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 10, -1.0)
    for k, found in ((10, ["e1", "e2"]), (1, ["e1"])):
        counts.clear()
        with store.read() as tx:
            tx.episodes.nearest("w", ["workspace", "channel/C1", "person/ana"], MODEL, unit(1, 0, 0), k, -1.0)
            tx.episodes.get_many("w", found)
        assert len(counts) <= 4


def test_the_first_search_of_a_partition_reads_one_table(store: SqlStore, counts: list[str]) -> None:
    with store.write() as tx:
        fill(tx, "w")
    counts.clear()
    nearest(store, "w", ["workspace", "channel/C1", "person/ana"], MODEL, unit(1, 0, 0), 10, -1.0)
    searches = [each for each in counts if "recall_index" in each]
    assert len(searches) == 1
    assert "episodes" not in searches[0]


def test_a_message_takes_few_statements_and_three_commits(store: SqlStore, counts: list[str]) -> None:
    world = World(store)
    lesson = world.ask("how do I reset the router?", "hold the button")
    world.react(lesson)
    counts.clear()
    answer = world.ask("how do I reset the router?", "hold the button for long")
    assert len(counts) <= 23  # with the look at the answer
    assert counts.count("BEGIN IMMEDIATE") == 3  # accepted, finished, sent
    assert world.episode(lesson).retrieval_count == 1
    assert answer.rep == 2
