"""What people taught the bot comes back from a query as topics, beside those that were ingested."""

from collections.abc import Iterator
from typing import Any

import pytest

from memory.adapters.sql import SqlStore
from memory.model import Audience, EventKind, Role, Scope, Verdict, Visibility
from memory.rules.strength import SALIENCE_HALF_LIFE, salience
from memory.services.topics import Ingest
from tests.doubles.memory_world import World, scope

QUESTION = "where is the coffee?"


@pytest.fixture
def world() -> Iterator[World]:
    store = SqlStore.in_memory()
    yield World(store)
    store.close()


def query(world: World, of: Scope | None = None, **body: object) -> list[dict[str, Any]]:
    answer = world.memory.world.query(of or scope(), {"q": QUESTION} | body).as_dict()
    found: list[dict[str, Any]] = answer["candidates"]  # type: ignore[assignment]  # JSON values have no types
    return found


def history(candidate: dict[str, Any], name: str) -> list[tuple[object, object]]:
    (field,) = [each for each in candidate["fields"] if each["name"] == name]
    return [(value["value"], value["why_changed"]) for value in field["history"]]


def test_a_thumb_makes_an_answer_a_topic(world: World) -> None:
    answer = world.ask(QUESTION, "upstairs")
    assert query(world) == []
    world.react(answer, "👍", by="ana")
    (found,) = query(world)
    assert (found["topic_id"], found["title"], found["summary"]) == (answer.id, QUESTION, "upstairs")
    assert (found["topic_kind"], found["similarity"]) == ("episode", pytest.approx(1.0, abs=1e-3))
    assert history(found, "answer") == [("upstairs", None)]
    assert [value for value, _ in history(found, "verdict")] == ["success"]
    assert query(world, scope("bob")) == []


def test_a_history_tells_how_the_verdict_changed(world: World) -> None:
    answer = world.ask(QUESTION, "upstairs")
    world.react(answer, "👍", by="ana")
    world.react(answer, "👎", by="ana")
    lesson = world.correct(answer, "downstairs", by="ana")
    whole = {each["topic_id"]: each for each in query(world, explain=True)}
    assert [value for value, _ in history(whole[answer.id], "verdict")] == ["failure", "success"]
    assert history(whole[answer.id], "correction") == [("downstairs", None)]
    assert {"id": lesson.id, "title": QUESTION} in whole[answer.id]["neighbors"]
    (now,) = [each for each in query(world, field_names=["verdict"]) if each["topic_id"] == answer.id]
    assert [(field["name"], len(field["history"])) for field in now["fields"]] == [("verdict", 1)]


def test_a_reason_that_was_taken_back_is_in_no_history(world: World) -> None:
    answer = world.ask(QUESTION, "upstairs")
    world.react(answer, "👍", by="ana")
    for verdict, reason in [(Verdict.FAILURE, "it moved"), (Verdict.PENDING, ""), (Verdict.FAILURE, "it is shut")]:
        world.memory.teaching.grade(answer.workspace, answer.id, verdict, actor="adm", reason=reason)
        world.clock.tick()
    (whole,) = query(world, explain=True)
    assert history(whole, "verdict") == [
        ("failure", "it is shut"),
        ("success", None),
        ("failure", None),
        ("success", None),
    ]


def test_a_correction_that_waits_for_review_is_nobody_elses(world: World) -> None:
    answer = world.ask(QUESTION, "upstairs")
    world.react(answer, "👎", by="tea", role=Role.TEACHER)
    world.correct(answer, "a hidden word", by="ana")
    assert query(world, scope("bob"), explain=True)
    assert "hidden" not in repr(query(world, scope("bob"), explain=True))
    assert "hidden" in repr(query(world, scope("ana"), explain=True))


def test_a_direct_message_is_never_met_elsewhere(world: World) -> None:
    direct = scope("ana", channel="d-ana", visibility=Visibility.DIRECT)
    secret = world.ask(QUESTION, "in my drawer", of=direct)
    world.react(secret, "👍", by="ana")
    names: dict[str, object] = {"topic_ids": [secret.id], "stages": ["structural", "temporal"]}
    assert [each["topic_id"] for each in query(world, direct, **names)] == [secret.id]
    for other in (scope("ana"), scope("bob"), scope("ana", workspace="slack:w")):
        assert query(world, other) == query(world, other, **names) == []


def test_being_read_raises_salience_and_nothing_else_and_is_proven(world: World) -> None:
    answer = world.ask(QUESTION, "upstairs")
    world.react(answer, "👍", by="ana")
    world.clock.tick(days=SALIENCE_HALF_LIFE.days)
    before = world.episode(answer)
    half = salience(before.salience, before.salience_at, world.clock())
    assert [each["salience"] for each in query(world)] == [half] == [pytest.approx(0.5, abs=1e-6)]
    after = world.episode(answer)
    assert (after.strength, after.retrieval_count) == (before.strength, before.retrieval_count)
    with world.memory.store.read() as tx:
        (bump,) = tx.log.by_actor("terminal:w", "ana", [EventKind.QUERY_BUMP])
    assert bump.detail == {"from": half, "to": after.salience, "reason": "query_bump"}
    assert after.salience == pytest.approx(half + 0.1)
    assert query(world, reinforce=False)
    assert world.episode(answer) == after
    assert world.memory.audit.check() == []


def test_taught_and_ingested_topics_are_ranked_together(world: World) -> None:
    world.memory.world.ingest(scope(), Ingest(topic_id="near", title=QUESTION, audience=Audience.WORKSPACE))
    world.memory.world.ingest(scope(), Ingest(topic_id="far", title="lunch", audience=Audience.WORKSPACE))
    answer = world.ask("where is the tea?", "upstairs")
    world.react(answer, "👍", by="ana")
    assert [each["topic_id"] for each in query(world)] == ["near", answer.id, "far"]
    assert [each["topic_id"] for each in query(world, top_k=2, topic_ids=["far", answer.id])] == [answer.id]
    assert [each["topic_id"] for each in query(world, stages=[], topic_ids=[answer.id, "far"])] == [answer.id, "far"]
    assert [each["topic_id"] for each in query(world, stages=[])] == ["near", "far", answer.id]
