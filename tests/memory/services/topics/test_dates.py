"""Since when a value holds: at the ends of the calendar, in the future, and when its day has come."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput
from memory.model import Audience
from memory.model.topic import Revision
from memory.ports import Store
from memory.services.topics import FieldInput, Ingest, Placement
from tests.doubles.memory_world import START, World, scope
from tests.doubles.topics_world import TopicWorld

AFTER_THE_END = datetime(9999, 12, 31, 23, 59, tzinfo=timezone(-timedelta(hours=12)))
BEFORE_THE_BEGINNING = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
DAY = timedelta(days=1)


@pytest.fixture
def here(store: Store) -> TopicWorld:
    return TopicWorld(store)


def current(here: TopicWorld, topic_id: str = "t1", name: str = "owner") -> object:
    """The value of a field as everybody is told it."""
    body = {"stages": ["temporal"], "topic_ids": [topic_id], "reinforce": False}
    (bundle,) = here.world.query(here.scope, {"q": ""} | body).candidates
    found = {field.name: field for field in bundle.fields}
    if name not in found:
        return None
    held = found[name].current
    assert held is not None
    assert found[name].history == (held,)
    return held.value


@pytest.mark.parametrize("moment", [AFTER_THE_END, BEFORE_THE_BEGINNING])
def test_a_time_without_a_date_in_utc_is_refused_at_the_door(moment: datetime, store: Store) -> None:
    with pytest.raises(InvalidInput, match="valid_from of n is outside the years 1 to 9999"):
        FieldInput(name="n", value=1, valid_from=moment)
    with pytest.raises(InvalidInput, match=r"Revision\.valid_from"), store.write() as tx:
        tx.topics.add_revision(
            Revision(workspace="w", topic_id="t1", name="n", id="r1", person="ana", value=1, valid_from=moment)
        )


@pytest.mark.parametrize(
    "moment", [datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]
)
def test_the_ends_of_the_calendar_are_dates_like_others(here: TopicWorld, moment: datetime) -> None:
    here.add("t1")
    here.value("t1", "n", 1, valid_from=moment)
    assert here.fields("t1") == {"n": [1]}


@pytest.mark.parametrize("moment", [AFTER_THE_END, BEFORE_THE_BEGINNING])
def test_what_an_earlier_version_took_is_read_and_forgotten(tmp_path: Path, moment: datetime) -> None:
    path = tmp_path / "db.sqlite"
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        people = World(store)
        ana, bob = scope("ana"), scope("bob")
        fields = [FieldInput(name="n", value="of ana")]
        people.memory.world.ingest(ana, Ingest(topic_id="t1", title="T", audience=Audience.WORKSPACE, fields=fields))
        microseconds = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC) - (moment.utcoffset() or DAY)) / (
            timedelta(microseconds=1)
        )
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE topic_revisions SET valid_from = ?", [int(microseconds)])
        body = {"q": "", "topic_ids": ["t1"], "explain": True, "stages": ["temporal"]}
        answer = people.memory.world.query(bob, body).as_dict()
        assert "of ana" in repr(answer)
        assert [each.value for each in people.memory.privacy.personal_data(ana.workspace, "ana").values] == ["of ana"]
        people.memory.privacy.forget(ana.workspace, "ana")
        assert people.memory.privacy.personal_data(ana.workspace, "ana").is_empty


def test_a_value_holds_from_its_own_day_on(here: TopicWorld) -> None:
    here.add("t1")
    here.value("t1", "owner", "Priya")
    here.value("t1", "owner", "Aya", valid_from=here.clock() + 10 * DAY)
    assert current(here) == "Priya"
    here.clock.tick(days=9.99)
    assert current(here) == "Priya"
    here.clock.tick(days=0.01)
    assert current(here) == "Aya"


def test_a_field_whose_only_value_is_planned_has_none_yet(here: TopicWorld) -> None:
    here.add("t1", fields=[FieldInput(name="owner", value="Aya", valid_from=datetime(9999, 1, 1, tzinfo=UTC))])
    assert current(here) is None
    asked: dict[str, Any] = {"q": "", "stages": ["temporal"], "topic_ids": ["t1"], "explain": True}
    (field,) = here.query(**asked)["candidates"][0]["fields"]
    assert field["current"] is None
    assert [(value["value"], value["valid_from"]) for value in field["history"]] == [
        ("Aya", "9999-01-01T00:00:00+00:00")
    ]


def test_a_planned_change_is_no_confirmation_and_the_present_value_stays_one(here: TopicWorld) -> None:
    here.add("t1")
    here.value("t1", "owner", "Priya")
    here.value("t1", "owner", "Aya", valid_from=START + 10 * DAY)
    done = [
        here.world.ingest(
            here.scope,
            Ingest(
                placement=Placement.VERSION_FIELD,
                topic_id="t1",
                fields=[FieldInput(name="owner", value=value, valid_from=since)],
            ),
        )
        for value, since in [("Priya", None), ("Aya", START + 20 * DAY), ("Priya", START + 20 * DAY)]
    ]
    assert [bool(each.confirmed) for each in done] == [True, True, False]
    assert here.fields("t1") == {"owner": ["Priya", "Aya", "Priya"]}


def test_a_purge_takes_back_plans_and_what_holds_until_anothers_plan(store: Store) -> None:
    people = World(store)
    world, clock = people.memory.world, people.clock

    def say(who: str, name: str, value: str, days: float) -> None:
        given = FieldInput(name=name, value=value, valid_from=clock() + days * DAY)
        world.ingest(scope(who), Ingest(placement=Placement.EXTEND_TOPIC, topic_id="t1", fields=[given]))

    def held() -> dict[str, object]:
        asked = {"q": "", "topic_ids": ["t1"], "reinforce": False, "stages": ["temporal"]}
        (bundle,) = world.query(scope("zoe"), asked).candidates
        return {each.name: each.current.value for each in bundle.fields if each.current is not None}

    world.ingest(scope("bob"), Ingest(topic_id="t1", title="T", audience=Audience.WORKSPACE))
    say("bob", "now", "bob's", -9)
    say("mal", "now", "mal's", -1)
    say("bob", "now", "bob's plan", 20)
    say("bob", "later", "bob's", -9)
    say("mal", "later", "mal's plan", 10)
    say("mal", "alone", "mal's plan", 10)
    workspace = scope().workspace
    people.memory.purging.purge(workspace, "mal", actor="owner", at=clock.tick())
    assert held() == {"now": "bob's", "later": "bob's"}
    clock.tick(days=11)
    assert {name: value for name, value in held().items() if value is not None} == {"now": "bob's", "later": "bob's"}
    clock.tick(days=11)
    assert held() == {"now": "bob's plan", "later": "bob's", "alone": None}


values = st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 9)), min_size=1, max_size=6, unique_by=lambda v: v[0])


@given(values)
def test_at_every_moment_the_newest_that_has_begun_holds(plan: list[tuple[int, int]]) -> None:
    """In whatever order the values were told."""
    here = TopicWorld()
    here.add("t1")
    for days, value in plan:
        here.value("t1", "owner", value, valid_from=START + days * DAY, revision_id=f"r{days}")
    for today in range(6):
        begun = [each for each in sorted(plan) if each[0] <= today]
        assert current(here) == (begun[-1][1] if begun else None)
        here.clock.tick(days=1)
