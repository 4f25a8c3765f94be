"""Querying the world of topics: stages, allow-lists, fields, histories, and what reading does to salience.

Names like M16 are numbers of the check-list the behaviour was settled by.
"""

import json
from typing import Any

import pytest

from memory.errors import InvalidInput
from memory.ports import Store
from memory.rules.strength import SALIENCE_HALF_LIFE
from memory.services.topics import QueryRequest, Stage, World, WorldPolicy
from tests import GOLD
from tests.doubles.topics_world import TopicWorld, recorded, wrong_in

RECORDED = json.loads((GOLD / "world.json").read_text())["cases"]
NEAREST = ["t1", "t2", "t3", "t7", "t9", "t8"]


@pytest.fixture
def here(store: Store) -> TopicWorld:
    return recorded({}, store)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_a_recorded_call_comes_out_exactly(case: dict[str, Any], store: Store) -> None:
    assert wrong_in(case, store) == []


def test_a_wrong_recording_is_noticed() -> None:
    case = RECORDED[0]
    assert wrong_in({**case, "request": {"q": "deploy", "top_k": 1}})
    assert wrong_in({**case, "repeat": 2})


def test_m01_the_nearest_topics_come_first_and_each_is_reinforced(here: TopicWorld) -> None:
    response = here.query()
    assert [candidate["topic_id"] for candidate in response["candidates"]] == NEAREST
    similar = [0.9938837346736189, 0.7071067811865475, 0.0, 0.0, -1.0]
    assert [candidate["similarity"] for candidate in response["candidates"]] == [1.0, *similar]
    assert response["summary_text"].splitlines()[:2] == ["Top topics for 'deploy':", "- t1 'Deploy' sim=1.0"]
    assert len(response["summary_text"].splitlines()) == 6
    assert {each: here.salience(each) for each in (*NEAREST, "t5")} == dict.fromkeys(NEAREST, 1.1) | {
        "t3": 2.6,
        "t5": 1.0,
    }
    last = here.world.trail(here.scope, "t3")[-1]
    assert (last.kind, last.detail, last.actor) == (
        "salience",
        {"from": 2.5, "to": 2.6, "reason": "query_bump"},
        "ana",
    )


@pytest.mark.parametrize(
    ("top_k", "expected"), [(0, []), (1, ["t1"]), (2, ["t1", "t2"]), (100, NEAREST), ("2", ["t1", "t2"])]
)
def test_m02_m03_top_k(here: TopicWorld, top_k: object, expected: list[str]) -> None:
    assert here.found(top_k=top_k) == expected


@pytest.mark.parametrize("with_structure", [True, False])
@pytest.mark.parametrize("with_time", [True, False])
@pytest.mark.parametrize("with_meaning", [True, False])
@pytest.mark.parametrize("explain", [True, False])
def test_m05_to_m12_each_stage_adds_its_part(
    here: TopicWorld, with_meaning: bool, with_structure: bool, with_time: bool, explain: bool
) -> None:
    wanted = {"semantic": with_meaning, "structural": with_structure, "temporal": with_time}
    stages = [stage for stage, is_on in wanted.items() if is_on]
    first = here.query(stages=stages, explain=explain, topic_ids=["t1"])["candidates"][0]
    assert [each["id"] for each in first["neighbors"]] == (["t2", "t3"] if with_structure else [])
    assert first["similarity"] == (1.0 if with_meaning else None)
    names = ["owner", "status"] if with_structure or with_time else []
    assert [field["name"] for field in first["fields"]] == names
    lengths = [3, 1] if with_time and explain else [1, 1]
    assert [len(field["history"]) for field in first["fields"]] == lengths[: len(names)]
    assert here.salience("t1") == 1.1


def test_m13_order_and_repetition_of_stages_do_not_matter(here: TopicWorld) -> None:
    body: dict[str, Any] = {"explain": True, "reinforce": False}
    whole = here.query(**body)
    assert here.query(stages=["temporal", "semantic", "structural", "semantic"], **body) == whole


def test_m16_to_m19_an_allow_list_is_applied_after_the_nearest_were_chosen(here: TopicWorld) -> None:
    assert here.found(topic_ids=["t7", "t2"]) == ["t2", "t7"]
    assert here.found(topic_ids=["t7"], top_k=1) == []
    assert here.found(topic_ids=["none"]) == []
    assert here.found(topic_ids=["t7", "t1", "t2"]) == ["t1", "t2", "t7"]


def test_m20_m21_without_meaning_the_allow_list_is_the_answer(here: TopicWorld) -> None:
    stages = ["structural", "temporal"]
    assert here.found(stages=stages, topic_ids=["t7", "t1"]) == ["t7", "t1"]
    assert here.found(stages=stages, topic_ids=["t7", "t1"], top_k=1) == ["t7"]
    assert here.found(stages=stages, topic_ids=["none", "t4", "t1"], top_k=1) == ["t1"]
    before = here.salience("t2")
    assert here.found(stages=stages, topic_ids=["t2", "t2"]) == ["t2"]
    assert here.salience("t2") == before + 0.1


@pytest.mark.parametrize("stages", [["semantic"], ["structural"], []])
def test_m22_an_empty_allow_list_allows_nothing(here: TopicWorld, stages: list[str]) -> None:
    assert here.found(stages=stages, topic_ids=[]) == []


def test_m23_m24_a_topic_that_cannot_be_compared_is_reached_by_name_only(here: TopicWorld) -> None:
    assert here.found(topic_ids=["t5", "t6"]) == []
    assert here.found(topic_ids=["t5", "t6"], stages=[]) == ["t5", "t6"]


def test_m25_without_meaning_and_list_the_first_topics_with_an_embedding(here: TopicWorld) -> None:
    assert here.found(stages=["structural"], top_k=2) == ["t1", "t2"]
    assert here.found(stages=[]) == ["t1", "t2", "t3", "t7", "t8", "t9"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["owner"], ["owner"]),
        (["status", "owner"], ["status", "owner"]),
        (["owner", "none", "owner"], ["owner"]),
        (["none"], []),
        (["refonly"], []),
        ([], ["owner", "status"]),
        (None, ["owner", "status"]),
    ],
)
def test_m26_field_names(here: TopicWorld, names: list[str] | None, expected: list[str]) -> None:
    fields = here.query(field_names=names, topic_ids=["t1"], explain=True)["candidates"][0]["fields"]
    assert [field["name"] for field in fields] == expected


def test_m27_a_history_tells_who_says_so_and_why(here: TopicWorld) -> None:
    (owner,) = here.query(field_names=["owner"], topic_ids=["t1"], explain=True)["candidates"][0]["fields"]
    assert [(each["value"], each["provenance"], each["why_changed"]) for each in owner["history"]] == [
        ("Aya", "ui", "handoff"),
        ("Priya", "llm", "rota"),
        ("unassigned", "api", None),
    ]
    assert owner["current"] == owner["history"][0]


def test_m28_without_embeddings_the_allow_list_answers(store: Store) -> None:
    here = recorded({"emb": "False"}, store)
    assert here.found() == []
    assert here.found(topic_ids=["t2", "t1", "t4"]) == ["t2", "t1"]
    assert here.found(topic_ids=["t2", "t1"], top_k=1) == ["t2"]
    assert here.found(stages=["structural"]) == []


def test_an_embedder_that_fails_is_like_no_embeddings(here: TopicWorld) -> None:
    here.embedder.is_broken = True
    assert here.found() == []
    assert here.found(topic_ids=["t7"]) == ["t7"]
    assert here.found(stages=["temporal"], top_k=1) == ["t1"]


def test_m29_m30_nothing_to_find(store: Store) -> None:
    here = TopicWorld(store)
    assert here.query() == {"query": "deploy", "candidates": [], "summary_text": "Top topics for 'deploy':"}
    here.add("t1", "Deploy", embedding=(1, 0, 0, 0))
    here.world.archive(here.scope, "t1")
    assert here.found() == here.found(stages=[], topic_ids=["t1"]) == []
    here.world.restore(here.scope, "t1")
    assert here.found() == ["t1"]


def test_m31_to_m33_salience_grows_with_each_query_up_to_a_cap(store: Store) -> None:
    here = TopicWorld(store, WorldPolicy(salience_cap=1.25))
    here.add("t1", "Deploy", embedding=(1, 0, 0, 0))
    shown = [here.query()["candidates"][0]["salience"] for _ in range(4)]
    assert shown == pytest.approx([1.0, 1.1, 1.2, 1.25])
    assert [event.kind.value for event in here.world.trail(here.scope, "t1")] == ["created", *["salience"] * 4]
    assert here.salience("t1") == 1.25


def test_salience_fades_when_nobody_asks(here: TopicWorld) -> None:
    here.clock.tick(days=SALIENCE_HALF_LIFE.days)
    assert here.query(topic_ids=["t3"])["candidates"][0]["salience"] == 1.25
    assert here.world.trail(here.scope, "t3")[-1].detail == {"from": 1.25, "to": 1.35, "reason": "query_bump"}


def test_m34_any_text_can_be_asked(here: TopicWorld) -> None:
    for q in ("", "部署 🚀", "nothing", "it's\n- t9 'forged' sim=1.0"):
        response = here.query(q=q, reinforce=False)
        assert [(each["topic_id"], each["similarity"]) for each in response["candidates"]] == [
            (topic_id, 0.0) for topic_id in ("t1", "t2", "t3", "t7", "t8", "t9")
        ]
        assert len(response["summary_text"].splitlines()) == 6


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"q": None},
        {"q": 3},
        {"q": "x", "stages": ["Semantic"]},
        {"q": "x", "stages": "semantic"},
        {"q": "x", "stages": None},
        {"q": "x", "stages": [["semantic"]]},
        {"q": "x", "top_k": -1},
        {"q": "x", "top_k": 101},
        {"q": "x", "top_k": 2.5},
        {"q": "x", "top_k": "2.5"},
        {"q": "x", "top_k": "--2"},
        {"q": "x", "top_k": float("nan")},
        {"q": "x", "top_k": None},
        {"q": "x", "explain": "maybe"},
        {"q": "x", "explain": 2},
        {"q": "x", "topic_ids": "t1"},
        {"q": "x", "topic_ids": [1]},
        {"q": "x", "field_names": {"a": 1}},
    ],
    ids=str,
)
def test_m04_m14_m15_a_request_that_makes_no_sense_does_nothing(body: Any) -> None:
    with pytest.raises(InvalidInput):
        QueryRequest.from_json(body)


def test_unknown_keys_are_ignored_and_defaults_are_the_seeds() -> None:
    assert QueryRequest.from_json({"q": "x", "foo": 1}) == QueryRequest(q="x")
    whole = QueryRequest(q="x")
    assert (whole.stages, whole.explain, whole.top_k) == (frozenset(Stage), False, 8)
    assert (whole.topic_ids, whole.field_names, whole.reinforce) == (None, None, True)
    assert QueryRequest.from_json({"q": "x", "top_k": 2.0, "explain": "yes"}) == QueryRequest(
        q="x", top_k=2, explain=True
    )


def test_looking_without_reinforcing_changes_nothing(here: TopicWorld) -> None:
    before = [here.world.topic(here.scope, each) for each in NEAREST]
    assert here.found(reinforce=False) == NEAREST
    assert [here.world.topic(here.scope, each) for each in NEAREST] == before


def test_a_repeated_request_reinforces_once(here: TopicWorld) -> None:
    for _ in range(3):
        assert here.world.query(here.scope, {"q": "deploy"}, event_id="request-1").candidates
    assert here.salience("t1") == 1.1


def test_a_floor_keeps_out_what_is_not_alike(store: Store) -> None:
    here = recorded({}, store)
    floor = World(store, here.embedder, clock=here.clock, new_id=here.ids, policy=WorldPolicy(min_similarity=0.5))
    assert [each.topic_id for each in floor.query(here.scope, {"q": "deploy"}).candidates] == ["t1", "t2", "t3"]
    assert here.salience("t7") == 1.0


def test_m37_too_many_topics_let_go_of_what_nobody_attends_to(store: Store) -> None:
    here = TopicWorld(store, WorldPolicy(soft_limit=4))
    for topic_id, salience in (("a", 0.04), ("b", 0.05), ("c", 0.0)):
        here.add(topic_id, salience=salience, embedding=(1, 0, 0, 0) if topic_id == "c" else (1, 0))
    here.found()
    assert here.found(stages=[], topic_ids=["a", "b", "c"], reinforce=False) == ["a", "b", "c"]  # below the limit
    here.add("d", salience=0.0, embedding=(1, 0, 0, 0))
    assert here.found(stages=[], topic_ids=["a", "b", "c", "d"], reinforce=False) == ["b", "c"]
    assert here.salience("a") == 0.02
    assert [event.detail.get("reason") for event in here.world.trail(here.scope, "a")] == [None, "forgotten", None]


def test_m37_being_returned_saves_a_topic(store: Store) -> None:
    here = TopicWorld(store, WorldPolicy(soft_limit=3))
    for topic_id in ("a", "b"):
        here.add(topic_id, salience=0.0, embedding=(1, 0, 0, 0))
    here.add("c", salience=1.0)
    here.world.restore(here.scope, "a")
    assert here.found(stages=[], topic_ids=["a", "b"]) == ["a"]
    assert here.salience("a") == pytest.approx(0.1)
    assert here.found(stages=[], topic_ids=["a", "b"]) == ["a"]
