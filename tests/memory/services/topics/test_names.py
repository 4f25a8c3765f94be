"""Ids that callers choose: what nobody may see has no effect on them, and shows in none of their answers."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st

from memory.adapters.sql import SqlStore
from memory.errors import Conflict, InvalidInput, NotFound
from memory.model import Audience, Scope, Visibility
from memory.services.topics import FieldInput, Ingest, Placement, Related
from tests.doubles.memory_world import scope
from tests.doubles.topics_world import TopicWorld

EAST = (1, 0, 0, 0)
ANA, BOB = scope("ana"), scope("bob")
BOBS_DIRECT = scope("bob", channel="d-bob", visibility=Visibility.DIRECT)


@pytest.fixture
def here() -> Iterator[TopicWorld]:
    store = SqlStore.in_memory()
    yield TopicWorld(store)
    store.close()


def test_an_id_used_in_anothers_private_topic_swallows_no_value(here: TopicWorld) -> None:
    here.add("hidden", of=BOB, audience=Audience.PERSONAL)
    here.value("hidden", "x", "secret", of=BOB, revision_id="r1")
    here.add("open")
    done = here.world.ingest(ANA, Ingest(topic_id="mine", fields=[FieldInput(name="x", value=1, revision_id="r1")]))
    assert done.revised == ("x",)
    here.value("open", "x", "of bob", of=BOB, revision_id="r1")
    here.value("open", "x", "of ana", of=ANA, revision_id="r1")
    assert here.fields("open") == {"x": ["of ana", "of bob"]}
    assert here.fields("mine") == {"x": [1]}


def test_one_id_may_name_the_values_of_several_fields(here: TopicWorld) -> None:
    fields = [FieldInput(name=name, value=name, revision_id="request-7") for name in ("x", "y")]
    here.add("t1", fields=fields)
    assert here.fields("t1") == {"x": ["x"], "y": ["y"]}


def test_a_value_told_again_through_a_duplicates_id_is_taken_once(here: TopicWorld) -> None:
    here.add("a", "Deploy")
    here.add("b", "Other")
    here.value("b", "x", "once", revision_id="r1")
    with here.store.write() as tx:
        topic = tx.topics.get_many(here.scope.workspace, ["b"])["b"]
        tx.topics.put(type(topic)(**{name: getattr(topic, name) for name in topic.__slots__} | {"title": "Deploy"}))
    assert here.world.revise(here.scope.workspace) == [("b", "a")]
    for topic_id in ("b", "a"):
        here.value(topic_id, "x", "once", revision_id="r1")
    assert here.fields("a") == {"x": ["once"]}


def everything(here: TopicWorld, of: Scope) -> list[object]:
    """All that one person can find out about the topics `x` and `y`."""
    told: list[object] = [
        here.query(of, reinforce=False, explain=True),
        here.query(of, reinforce=False, explain=True, topic_ids=["y", "x"], stages=["structural", "temporal"]),
        here.query(of, reinforce=False, stages=[]),
    ]
    asks = [(ask, topic_id) for ask in (here.world.topic, here.world.trail) for topic_id in ("x", "y")]
    return [*told, *(outcome(partial(ask, of, topic_id)) for ask, topic_id in asks)]


def outcome(act: Callable[[], object]) -> object:
    """What a call gives, or how it refuses, without the numbers that tell how busy the workspace is."""
    try:
        return without_numbers(act())
    except (Conflict, InvalidInput, NotFound) as error:
        return (type(error), str(error))


def without_numbers(found: Any) -> object:
    if isinstance(found, list):
        return [without_numbers(each) for each in found]
    if isinstance(found, dict) or found is None:
        return found
    names = getattr(found, "__slots__", ())
    return {name: getattr(found, name) for name in names if name != "seq"}


def known(text: str) -> Ingest:
    """A new topic with ids of its author's choice throughout."""
    fields = [FieldInput(name="n", value=text, revision_id="r1", ref_topic_id=None)]
    return Ingest(topic_id=text, title=text.upper(), audience=Audience.WORKSPACE, embedding=EAST, fields=fields)


def acts(of: Scope) -> dict[str, Callable[[TopicWorld], object]]:
    """Everything a person can do about the topics `x` and `y`."""
    facts = [FieldInput(name="n", value=2, revision_id="r2", ref_topic_id="x")]
    return {
        "new x": lambda w: w.world.ingest(of, known("x")),
        "new y": lambda w: w.world.ingest(of, known("y")),
        "same title": lambda w: w.world.ingest(of, Ingest(topic_id="y", title="X", audience=Audience.WORKSPACE)),
        "extend x": lambda w: w.world.ingest(of, Ingest(placement=Placement.EXTEND_TOPIC, topic_id="x", fields=facts)),
        "link y x": lambda w: w.world.ingest(
            of, Ingest(placement=Placement.EXTEND_TOPIC, topic_id="y", related=[Related(topic_id="x")])
        ),
        "archive x": lambda w: w.world.archive(of, "x"),
        "restore x": lambda w: w.world.restore(of, "x"),
        "ask": lambda w: w.query(of),
    }


@given(st.lists(st.sampled_from(sorted(acts(ANA))), max_size=8))
def test_what_is_hidden_makes_no_difference(names: list[str]) -> None:
    """The same history with and without another person's private topic of the same ids, seen by everybody else."""

    def history(world: TopicWorld) -> list[object]:
        told = [outcome(partial(acts(ANA)[name], world)) for name in names]
        return [*told, everything(world, ANA), everything(world, scope("cy"))]

    alone, crowded = TopicWorld(), TopicWorld()
    for topic_id in ("x", "y"):
        crowded.add(topic_id, topic_id.upper(), of=BOBS_DIRECT, audience=Audience.PERSONAL, embedding=EAST)
        crowded.value(topic_id, "n", "secret", of=BOBS_DIRECT, revision_id="r1")
    assert json.dumps(history(crowded), default=str) == json.dumps(history(alone), default=str)


def test_both_keep_their_topic_and_what_they_said_of_it(here: TopicWorld) -> None:
    here.add("x", "Bobs", of=BOB, audience=Audience.PERSONAL, embedding=EAST)
    here.add("x", "Anas", of=ANA, embedding=EAST)
    here.value("x", "n", "of bob", of=BOB)
    here.value("x", "n", "of ana", of=ANA)
    assert here.fields("x", BOB) == {"n": ["of bob"]}
    assert here.fields("x", ANA) == here.fields("x", scope("cy")) == {"n": ["of ana"]}
    titles = {each["title"]: each["topic_id"] for each in here.query(BOB, reinforce=False)["candidates"]}
    assert titles["Bobs"] == "x"
    assert titles["Anas"] != "x"
    assert here.found(BOB, topic_ids=[titles["Anas"]], stages=[]) == [titles["Anas"]]
    with pytest.raises(Conflict):
        here.add("x", of=ANA)


def test_a_trail_names_no_topic_of_another_circle(here: TopicWorld) -> None:
    here.add("open", of=ANA)
    here.add("private", of=ANA, audience=Audience.PERSONAL)
    here.extend("open", "private", of=ANA)
    assert "private" in repr(here.world.trail(ANA, "open"))
    assert "private" not in repr(here.world.trail(BOB, "open"))
