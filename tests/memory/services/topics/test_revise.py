"""Writing to the world of topics: versions, duplicates, scope, erasure; then laws."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from memory.errors import Conflict, InvalidInput, NotFound
from memory.model import Audience, Scope, Visibility
from memory.ports import Store
from memory.rules.strength import salience
from memory.services.topics import FieldInput, Ingest, Placement, Related, World, WorldPolicy
from memory.services.topics.audit_log import faults_of_topics
from tests.doubles.memory_world import START, World as People, scope
from tests.doubles.stores import content
from tests.doubles.topics_world import TopicWorld

EAST = (1, 0, 0, 0)


@pytest.fixture
def here(store: Store) -> TopicWorld:
    return TopicWorld(store)


# versions


def test_m38_a_new_value_comes_before_the_old_ones(here: TopicWorld) -> None:
    here.add("t1")
    for value in ("red", "green", "red"):
        here.value("t1", "status", value)
    assert here.fields("t1") == {"status": ["red", "green", "red"]}


def test_m38_the_same_value_is_a_confirmation(here: TopicWorld) -> None:
    here.add("t1")
    for value in (1, 1, True, 1.0, [1], [1]):
        here.value("t1", "n", value)
    assert [repr(value) for value in here.fields("t1")["n"]] == ["[1]", "1.0", "True", "1"]
    kinds = [event.kind.value for event in here.world.trail(here.scope, "t1")]
    assert kinds == ["created", "revised", "confirmed", "revised", "revised", "revised", "confirmed"]


def test_m38_only_the_newest_values_are_shown_and_none_is_lost(store: Store) -> None:
    here = TopicWorld(store, WorldPolicy(max_history=3))
    here.add("t1")
    for value in range(5):
        here.value("t1", "n", value)
    assert here.fields("t1") == {"n": [4, 3, 2]}
    with store.read() as tx:
        assert len(tx.topics.revisions(here.scope.workspace, ["t1"])) == 5


def test_m39_a_new_value_leaves_the_topics_salience_alone(here: TopicWorld) -> None:
    here.add("t1", salience=7.7)
    here.value("t1", "status", "red")
    assert here.salience("t1") == 7.7


def test_m38_what_does_not_fit_is_refused_and_nothing_happens(here: TopicWorld) -> None:
    field = FieldInput(name="n", value=1)
    version = Placement.VERSION_FIELD
    wrong: list[Any] = [
        lambda: Ingest(placement=version, fields=[field]),
        lambda: Ingest(placement=version, topic_id="t1"),
        lambda: Ingest(placement=version, topic_id="t1", fields=[field, field]),
        lambda: Ingest(placement=version, topic_id="t1", fields=[FieldInput(name="n")]),
        lambda: Ingest(placement=Placement.EXTEND_TOPIC),
        lambda: Ingest(salience=-1.0),
        lambda: FieldInput(name=" "),
        lambda: FieldInput(name="n", valid_from=START.replace(tzinfo=None)),
    ]
    for each in wrong:
        with pytest.raises(InvalidInput):
            each()
    here.add("t1")
    for ingest in (
        Ingest(placement=version, topic_id="none", fields=[field]),
        Ingest(title="x", fields=[FieldInput(name="n", ref_topic_id="none")]),
        Ingest(title="half \ud83d"),
    ):
        with pytest.raises(InvalidInput):
            here.world.ingest(here.scope, ingest)
    with pytest.raises(Conflict):
        here.world.ingest(here.scope, Ingest(topic_id="t1"))
    with here.store.read() as tx:
        assert tx.topics.count(here.scope.workspace) == 1
    with pytest.raises(NotFound):
        here.world.archive(here.scope, "none")


def test_an_ingest_tells_what_became_of_it(here: TopicWorld) -> None:
    here.add("t1", "Deploy", embedding=EAST)
    here.add("t2", "Release", embedding=(0, 1, 0, 0))
    done = here.world.ingest(
        here.scope,
        Ingest(
            topic_id="t3",
            title="Ship",
            embedding=(1, 0.5, 0, 0),
            fields=[FieldInput(name="a", value=None), FieldInput(name="b", ref_topic_id="t1", field_type="odd")],
            related=[Related(topic_id="t2", kind="before"), Related(topic_id="none"), Related(topic_id="t3")],
        ),
    )
    assert (done.topic_id, done.similar) == ("t3", ("t1", "t2"))
    assert (done.revised, done.linked, done.skipped) == (("a",), ("t2",), ("none", "t3"))
    assert here.fields("t3") == {"a": [None]}
    assert here.query(topic_ids=["t2"])["candidates"][0]["neighbors"] == [{"id": "t3", "title": "Ship"}]


def test_more_about_an_archived_topic_brings_it_back(here: TopicWorld) -> None:
    here.add("t1", embedding=EAST)
    here.world.archive(here.scope, "t1")
    here.value("t1", "status", "red")
    assert here.found() == ["t1"]


def test_secrets_are_taken_out_before_anything_is_stored(store: Store) -> None:
    here = TopicWorld(store)
    world = World(
        store, here.embedder, clock=here.clock, new_id=here.ids, clean=lambda text: text.replace("hunter2", "***")
    )
    field = FieldInput(name="pw", value={"a": ["hunter2"]}, why_changed="was hunter2")
    world.ingest(here.scope, Ingest(topic_id="t1", title="hunter2", summary="hunter2", fields=[field]))
    with store.read() as tx:
        found = (tx.topics.get(here.scope.workspace, "t1"), tx.topics.revisions(here.scope.workspace, ["t1"]))
    assert "***" in repr(found)
    assert "hunter2" not in repr((found, world.trail(here.scope, "t1")))


# duplicates


def test_m40_duplicates_become_one_topic_with_both_histories(here: TopicWorld) -> None:
    here.add("t2", "Deploy", fields=[FieldInput(name="x", value="lost"), FieldInput(name="y", value="more")])
    here.add("t9", "Other")
    here.extend("t2", "t9")
    here.add("t1", "Deploy", fields=[FieldInput(name="x", value="keep")])
    assert here.fields("t1") == here.fields("t2") == {"x": ["keep", "lost"], "y": ["more"]}
    assert here.found(stages=[], topic_ids=["t2", "t1"]) == ["t1"]
    assert [each["id"] for each in here.query(topic_ids=["t1"])["candidates"][0]["neighbors"]] == ["t9"]
    here.value("t2", "x", "new")  # an old id is still good
    assert here.fields("t1")["x"] == ["new", "keep", "lost"]
    with here.store.read() as tx:
        assert tx.topics.get_many(here.scope.workspace, ["t2"])["t2"].merged_into == "t1"


def test_m40_three_of_a_kind_keep_everything_and_an_edge_between_them_is_no_loop(here: TopicWorld) -> None:
    for topic_id in ("c", "b", "a"):
        here.add(topic_id, f"{topic_id} at first", fields=[FieldInput(name=topic_id, value=topic_id)])
    here.extend("b", "c")
    with here.store.write() as tx:
        for topic in tx.topics.within(here.scope.workspace):
            tx.topics.put(replace(topic, title="Same"))
    assert sorted(here.world.revise(here.scope.workspace)) == [("b", "a"), ("c", "a")]
    assert here.world.revise(here.scope.workspace) == []
    assert here.fields("a") == {"a": ["a"], "b": ["b"], "c": ["c"]}
    assert here.query(topic_ids=["a"], stages=["structural"])["candidates"][0]["neighbors"] == []


def test_m40_a_lower_id_that_comes_later_takes_over_with_all_that_was_joined(here: TopicWorld) -> None:
    for topic_id in ("b", "c", "a"):
        here.add(topic_id, "Same", fields=[FieldInput(name=topic_id, value=topic_id)])
    assert here.fields("c") == here.fields("a") == {"a": ["a"], "b": ["b"], "c": ["c"]}


def test_m40_case_counts_and_no_title_is_nobodys_double(here: TopicWorld) -> None:
    for topic_id, title in (("a", "Deploy"), ("b", "deploy"), ("c", None), ("d", None), ("e", ""), ("f", "")):
        here.add(topic_id, title)
    assert here.world.revise(here.scope.workspace) == []


def test_m40_an_active_duplicate_of_an_archived_topic_stays_active(here: TopicWorld) -> None:
    here.add("a", "Deploy", embedding=EAST)
    here.world.archive(here.scope, "a")
    here.add("b", "Deploy", embedding=EAST)
    assert here.found() == ["a"]


# scope

DIRECT = scope("ana", channel="d-ana", visibility=Visibility.DIRECT)
PRIVATE = scope("ana", channel="p1", visibility=Visibility.PRIVATE)


@pytest.mark.parametrize(
    ("of", "audience", "readers"),
    [
        (scope("ana"), Audience.PERSONAL, [scope("ana"), scope("ana", channel="c2"), DIRECT, PRIVATE]),
        (scope("ana"), Audience.CHANNEL, [scope("ana"), scope("bob")]),
        (DIRECT, Audience.PERSONAL, [DIRECT]),
        (DIRECT, Audience.CHANNEL, [DIRECT, replace(DIRECT, person="bob")]),
        (PRIVATE, Audience.CHANNEL, [PRIVATE, replace(PRIVATE, person="bob")]),
    ],
)
def test_a_topic_is_met_only_where_it_was_said_for(
    here: TopicWorld, of: Scope, audience: Audience, readers: list[Scope]
) -> None:
    here.add("open", "Open", embedding=EAST)
    here.add("t1", "Hidden", of=of, audience=audience, embedding=EAST, fields=[FieldInput(name="x", value="y")])
    here.extend("t1", "open", of=of)
    others = [
        scope("ana"), scope("bob"), scope("ana", channel="c2"), scope("bob", channel="c2"), DIRECT, PRIVATE,
        replace(DIRECT, person="bob"), replace(PRIVATE, person="bob"), scope("ana", workspace="slack:w"),
    ]  # fmt: skip
    for reader in others:
        answers = [
            here.query(reader, reinforce=False),
            here.query(reader, topic_ids=["t1", "open"], stages=["structural", "temporal"], reinforce=False),
        ]
        for answer in answers:
            assert ("Hidden" in repr(answer)) == (reader in readers), reader
        if reader not in readers:
            with pytest.raises(NotFound):
                here.world.trail(reader, "t1")
            with pytest.raises(InvalidInput):
                here.value("t1", "x", "z", of=reader)


def test_nothing_from_a_private_conversation_is_for_everybody(here: TopicWorld) -> None:
    for of in (DIRECT, PRIVATE):
        with pytest.raises(InvalidInput, match="stays there"):
            here.add("t1", of=of, audience=Audience.WORKSPACE)


def test_equal_titles_of_two_audiences_are_two_topics(here: TopicWorld) -> None:
    here.add("a", "Deploy", embedding=EAST)
    here.add("b", "Deploy", embedding=EAST, audience=Audience.PERSONAL)
    assert here.found() == ["a", "b"]
    assert here.found(scope("bob")) == ["a"]


# proof and erasure


def test_every_number_is_what_the_trail_says_and_a_wrong_one_is_found(store: Store) -> None:
    people = People(store)
    who = scope()
    for topic_id in ("t1", "t2"):
        people.memory.world.ingest(who, Ingest(topic_id=topic_id, title="Deploy", salience=3.0))
    people.memory.world.query(who, {"q": "deploy"})
    assert people.memory.audit.check() == []
    with store.write() as tx:
        for topic in tx.topics.within(who.workspace):
            tx.topics.put(replace(topic, salience=9.0, merged_into="", archived_at=START))
    wrong = people.memory.audit.check()
    assert sorted({each.what for each in wrong}) == ["topic archived_at", "topic merged_into", "topic salience"]
    assert people.memory.audit.rebuild() == len(wrong)
    assert people.memory.audit.check() == []


def test_forgetting_a_person_takes_their_words_and_leaves_those_of_others(store: Store) -> None:
    people = People(store)
    world, ana, bob = people.memory.world, scope("quokka"), scope("bob")
    said = "zyzzyva"
    world.ingest(ana, Ingest(topic_id="a", title="Deploy", summary=said, audience=Audience.WORKSPACE))
    world.ingest(
        bob, Ingest(topic_id="b", title="Deploy", audience=Audience.WORKSPACE, fields=[FieldInput(name="x", value=1)])
    )
    world.ingest(bob, Ingest(topic_id="c", title="Other", audience=Audience.WORKSPACE))
    facts = [FieldInput(name="x", value=said, why_changed=said), FieldInput(name=said, value=said)]
    related = [Related(topic_id="a", kind=said)]
    world.ingest(ana, Ingest(placement=Placement.EXTEND_TOPIC, topic_id="c", fields=facts, related=related))
    world.ingest(bob, Ingest(placement=Placement.VERSION_FIELD, topic_id="c", fields=[FieldInput(name="x", value=2)]))
    world.query(ana, {"q": "Deploy"})
    held = people.memory.privacy.personal_data(ana.workspace, "quokka")
    assert ([topic.id for topic in held.topics], len(held.values)) == (["a"], 2)
    people.memory.privacy.forget(ana.workspace, "quokka")
    assert people.memory.privacy.personal_data(ana.workspace, "quokka").is_empty
    assert people.memory.audit.check() == []
    answer = world.query(
        bob, {"q": "", "stages": ["temporal", "structural"], "explain": True, "topic_ids": ["a", "b", "c"]}
    )
    values = {
        each.topic_id: [value.value for field in each.fields for value in field.history] for each in answer.candidates
    }
    assert values == {"b": [1], "c": [2]}
    kept = content(store)
    assert said.encode() not in kept
    assert b"quokka" not in kept


# laws

ids = st.sampled_from(["a", "b", "c", "d"])
titles = st.sampled_from(["One", "Two", "one"])
facts = st.lists(
    st.tuples(ids, st.sampled_from(["x", "y"]), st.integers(0, 9)), max_size=8, unique_by=lambda fact: fact[2]
)


@given(st.dictionaries(ids, titles, min_size=1), facts, st.randoms(use_true_random=False))
def test_the_order_of_topics_and_values_does_not_matter(
    named: dict[str, str], given_facts: list[tuple[str, str, int]], chance: random.Random
) -> None:
    """Values that hold since different moments, under ids of their own: the same world in whatever order they come."""

    def told(topic_ids: list[str], revisions: list[tuple[str, str, int]]) -> dict[str, object]:
        here = TopicWorld()
        for topic_id in topic_ids:
            here.add(topic_id, named[topic_id])
        for topic_id, name, number in revisions:
            since = START + timedelta(days=number)
            if topic_id in named:
                here.value(topic_id, name, f"v{number}", revision_id=f"r{number}", valid_from=since)
        return {topic_id: here.fields(topic_id) for topic_id in sorted(named)}

    topics = list(named)
    before = told(sorted(topics), given_facts)
    shuffled = list(given_facts)
    chance.shuffle(shuffled)
    assert told(sorted(topics), shuffled) == before
    # Whoever is joined first, all values are there.
    chance.shuffle(topics)
    first = told(topics, given_facts)
    assert {k: _everything(v) for k, v in first.items()} == {k: _everything(v) for k, v in before.items()}


def _everything(fields: Any) -> dict[str, list[object]]:
    return {name: sorted(values) for name, values in fields.items()}


@given(st.lists(st.tuples(ids, st.integers(0, 40), st.sampled_from(["ask", "archive", "restore"])), max_size=12))
def test_the_audit_is_the_salience(steps: list[tuple[str, int, str]]) -> None:
    """Each change starts from what time has left of the last one; the last one is what is stored; replay finds it."""
    here = TopicWorld(policy=WorldPolicy(soft_limit=3, forget_below=0.5))
    for topic_id in ("a", "b", "c", "d"):
        here.add(topic_id, embedding=EAST)
    for topic_id, days, step in steps:
        here.clock.tick(days=days)
        if step == "ask":
            here.found(topic_ids=[topic_id])
        else:
            getattr(here.world, step)(here.scope, topic_id)
    for topic_id in ("a", "b", "c", "d"):
        topic = here.world.topic(here.scope, topic_id)
        value, at = topic.first_salience, topic.created_at
        for event in here.world.trail(here.scope, topic_id):
            if event.kind.value == "salience":
                assert event.detail["from"] == salience(value, at, event.at)
                value, at = float(str(event.detail["to"])), event.at
        assert (topic.salience, topic.salience_at) == (value, at)
    with here.store.write() as tx:
        assert list(faults_of_topics(tx, here.scope.workspace)) == []
