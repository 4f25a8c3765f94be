"""What the public doors do with values they cannot take: an error that says what was wrong, and nothing stored."""

import json
import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bot.adapters.llm.offline.similarity import Similarity
from memory import (
    Episode,
    EpisodicMemory,
    EpisodicMemoryConfig,
    FieldInput,
    GradingResult,
    Ingest,
    Memory,
    MemoryEntry,
    QueryRequest,
    ReactionContext,
    ReactionGrader,
    ReactionHandler,
    ReactionLedger,
    RetrievalConfig,
    RetrievalFeedbackSignal,
    Scope,
    ShortMemoryStore,
    StepGrade,
    WorkingMemory,
    WorldPolicy,
    add_grades_to_memories,
    content_hash,
    export_memories,
    grade_run,
    import_memories,
    init_episode,
    load_all_memories_for_session,
    load_export,
    persist_memories,
    record_step_end,
    record_step_start,
    retrieve_memories,
    set_grader,
    set_retriever,
)
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.vectors.hits import RowKind
from memory.adapters.vectors.partitions import VectorPartition, search
from memory.errors import EmbeddingFailed, InvalidInput, MemoryFault, NotFound
from memory.library.agent import AgentMemory
from memory.library.langgraph_store import LangGraphStore
from memory.model import Audience, Exemplar, Signal, Step, StepKind, Vector, Verdict, Visibility
from memory.rules.retrieval.similarity import cosine, unit_cosine
from memory.rules.use_detection import KeywordDetector, SimilarityDetector
from memory.services.embedders import CheckedEmbedder
from memory.services.topics import Placement, Related
from memory.services.topics.source import rank_exactly
from tests.doubles.memory_world import FakeClock, World, scope
from tests.doubles.stores import rows

NAN, INF = math.nan, math.inf
HERE = scope()


def nested(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = [value]
    return value


# Topics -----------------------------------------------------------------------------------------------------------

FIELD = FieldInput(name="n", value=1)
WRONG_TOPICS: dict[str, Callable[[Any], object]] = {
    "an unknown placement": lambda wrong: Ingest(placement=wrong("somewhere"), title="x"),
    "a placement of another type": lambda wrong: Ingest(placement=wrong(3), title="x"),
    "a new topic without anything": lambda wrong: Ingest(),
    "more about no topic": lambda wrong: Ingest(placement=wrong("extend_topic"), fields=[FIELD]),
    "nothing about a topic": lambda wrong: Ingest(placement=Placement.EXTEND_TOPIC, topic_id="t"),
    "a title that would be lost": lambda wrong: Ingest(
        placement=Placement.EXTEND_TOPIC, topic_id="t", title="new", fields=[FIELD]
    ),
    "a version without a field": lambda wrong: Ingest(placement=wrong("version_field"), topic_id="t"),
    "a version of two fields": lambda wrong: Ingest(
        placement=Placement.VERSION_FIELD, topic_id="t", fields=[FIELD, FIELD]
    ),
    "a version without a value": lambda wrong: Ingest(
        placement=wrong("version_field"), topic_id="t", fields=[FieldInput(name="n")]
    ),
    "a topic id that is none": lambda wrong: Ingest(topic_id=wrong(7), title="x"),
    "a title that is none": lambda wrong: Ingest(title=wrong(b"x")),
    "an unknown audience": lambda wrong: Ingest(title="x", audience=wrong("everybody")),
    "fields that are none": lambda wrong: Ingest(title="x", fields=wrong([{"name": "n"}])),
    "fields that are no list": lambda wrong: Ingest(title="x", fields=wrong("ab")),
    "edges that are none": lambda wrong: Ingest(title="x", related=wrong(["t"])),
    "an edge to nothing": lambda wrong: Related(topic_id=wrong(None)),
    "salience that is a word": lambda wrong: Ingest(title="x", salience=wrong("1")),
    "salience that is no number": lambda wrong: Ingest(title="x", salience=NAN),
    "an empty vector": lambda wrong: Ingest(title="x", embedding=[]),
    "a vector with NaN": lambda wrong: Ingest(title="x", embedding=[1.0, NAN]),
    "a vector with infinity": lambda wrong: Ingest(title="x", embedding=[1.0, -INF]),
    "a vector of words": lambda wrong: Ingest(title="x", embedding=wrong(["a"])),
    "a vector of rows": lambda wrong: Ingest(title="x", embedding=wrong(np.ones((2, 2)))),
    "a field without a name": lambda wrong: FieldInput(name=wrong(None)),
    "a value nested too deeply": lambda wrong: FieldInput(name="n", value=nested(5_000)),
    "a value that is no JSON": lambda wrong: FieldInput(name="n", value=object()),
    "a value with keys that are no texts": lambda wrong: FieldInput(name="n", value={1: 2}),
    "a value that is no number": lambda wrong: FieldInput(name="n", value={"a": [NAN]}),
    "a date that is a text": lambda wrong: FieldInput(name="n", valid_from=wrong("2026-11-21")),
}


def unchecked(value: object) -> Any:
    """A value of a type that the annotations do not allow."""
    return value


@pytest.mark.parametrize("what", WRONG_TOPICS)
def test_what_is_no_topic_is_refused_by_name(what: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        WRONG_TOPICS[what](unchecked)
    assert isinstance(refused.value, MemoryFault)
    assert 10 < len(str(refused.value)) < 250


def test_a_placement_may_be_given_as_a_word() -> None:
    world = World().memory.world
    made = world.ingest(HERE, Ingest(placement=unchecked("new_topic"), title="Deploy", audience=unchecked("channel")))
    given = Ingest(placement=unchecked("version_field"), topic_id=made.topic_id, fields=[FIELD])
    assert world.ingest(HERE, given).revised == ("n",)


@pytest.mark.parametrize(
    "fields",
    [
        {"q": None}, {"q": 3}, {"q": "x", "top_k": "8"}, {"q": "x", "top_k": True}, {"q": "x", "top_k": 2.5},
        {"q": "x", "top_k": -1}, {"q": "x", "top_k": 10**5000}, {"q": "x", "stages": "semantic"},
        {"q": "x", "stages": ["lexical"]}, {"q": "x", "stages": None}, {"q": "x", "stages": [["semantic"]]},
        {"q": "x", "explain": "false"}, {"q": "x", "reinforce": 0}, {"q": "x", "topic_ids": "t1"},
        {"q": "x", "topic_ids": [1]}, {"q": "x", "field_names": {"a": 1}},
    ],
)  # fmt: skip
def test_a_query_of_other_types_is_refused(fields: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        QueryRequest(**fields)


def test_a_deeply_nested_query_is_refused() -> None:
    world = World().memory.world
    for body in (nested(100_000), {"q": nested(100_000)}, {"q": "x", "topic_ids": nested(100_000)}, json.dumps([1])):
        with pytest.raises(InvalidInput):
            world.query(HERE, unchecked(body))


# Retrieval --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"soft_gate": "false"}, {"soft_gate": 0}, {"consensus": None}, {"env_weight": 0.9, "intent_weight": 0.9},
        {"env_weight": 1.0}, {"env_weight": "0.5"}, {"min_intent": NAN}, {"top_k": 1.5}, {"final_k": None},
        {"element_weights": {"tool": NAN}}, {"element_weights": {"tool": "2"}}, {"element_weights": [1]},
        {"no_such": 1}, {1: 2},
    ],
)  # fmt: skip
def test_a_retrieval_setting_that_cannot_be_is_refused(settings: Mapping[Any, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        RetrievalConfig().merged(settings)
    assert isinstance(refused.value, ValueError)


def test_weights_may_add_up_to_one() -> None:
    for share in range(11):
        RetrievalConfig(env_weight=share / 10, intent_weight=1 - share / 10)


@pytest.mark.parametrize("wrong", [{"bump": "1"}, {"bump": NAN}, {"soft_limit": 1.5}, {"min_similarity": 2}])
def test_a_policy_that_cannot_be_is_refused(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        WorldPolicy(**wrong)


def test_a_memory_takes_the_numbers_of_its_topics() -> None:
    clock = FakeClock()
    policy = WorldPolicy(bump=0.5, max_history=1)
    memory = Memory(SqlStore.in_memory(), HashingEmbedder(), clock=clock, new_id=iter_ids(), world=policy)
    made = memory.world.ingest(HERE, Ingest(title="Deploy", fields=[FieldInput(name="n", value=1)]))
    given = Ingest(placement=Placement.VERSION_FIELD, topic_id=made.topic_id, fields=[FieldInput(name="n", value=2)])
    memory.world.ingest(HERE, given)
    (bundle,) = memory.world.query(HERE, QueryRequest(q="Deploy", explain=True)).candidates
    assert [each.value for each in bundle.fields[0].history] == [2]
    assert memory.world.topic(HERE, made.topic_id).salience == pytest.approx(1.5)


def iter_ids() -> Callable[[], str]:
    numbers = iter(range(10_000))
    return lambda: f"id{next(numbers):05}"


# Vectors ----------------------------------------------------------------------------------------------------------

BROKEN = [[NAN, 0.0], [INF, 0.0], [-INF, INF], [1e200, 1e200]]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_vector_that_is_no_vector_is_like_nothing(broken: list[float]) -> None:
    assert cosine(broken, [1.0, 0.0]) == cosine([1.0, 0.0], broken) == cosine(broken, broken) == 0.0
    row = np.array(broken)
    with np.errstate(all="ignore"):
        narrow = row.astype(np.float32)
        assert unit_cosine(narrow, np.array([1.0, 0.0], np.float32)) == 0.0
        shelf = VectorPartition(2)
        own = RowKind(Audience.PERSONAL, Verdict.SUCCESS)
        shelf.add(["broken"], [own], [0], row.reshape(1, 2).astype(np.float32))
        shelf.add(["good"], [own], [0], np.array([[1.0, 0.0]], np.float32))
        assert [hit.episode_id for hit in search([shelf], np.array([1.0, 0.0]), 5, -1.0).hits] == ["good"]
        assert search([shelf], narrow, 5, -1.0).hits == ()
    good = np.array([1.0, 0.0])
    assert rank_exactly({"broken": row, "good": good}, good) == [("good", 1.0), ("broken", 0.0)]
    assert rank_exactly({"good": good}, row) == [("good", 0.0)]


@pytest.mark.parametrize("alike", [NAN, INF, -INF])
def test_a_likeness_that_is_no_number_says_nothing(alike: float) -> None:
    lesson = Exemplar(
        episode=Episode(goal="where?", output="in the red drawer"), verdict=Verdict.SUCCESS,
        audience=Audience.PERSONAL, context_score=1.0, intent_score=1.0, relevance=1.0,
    )  # fmt: skip
    detector = SimilarityDetector(detector=KeywordDetector(), similarity=lambda one, other: alike)
    assert detector.detect(lesson, "where?", "beneath a stone").signal is Signal.IGNORED


class Broken:
    """An embedder whose vectors cannot be used."""

    name, dimension = "broken", 2

    def __init__(self, *rows: object) -> None:
        self.rows = rows

    def embed(self, texts: object) -> "list[Vector]":
        return [np.array(row, np.float32) for row in self.rows]


@pytest.mark.parametrize(
    "rows", [([NAN, 0.0],), ([INF, 1.0],), ([],), ([[1.0, 0.0]],), (), ([1.0, 0.0],) * 2, ([3.0, 4.0],)]
)
def test_an_embedder_that_gives_no_vector_has_failed(rows: tuple[object, ...]) -> None:
    with pytest.raises(EmbeddingFailed, match="embedder broken gave"):
        CheckedEmbedder(Broken(*rows)).embed(["text"])


@pytest.mark.parametrize("row", [[0.6, 0.8], [0.0, 0.0], [0.6, 0.805]])
def test_a_vector_has_length_one_or_none(row: list[float]) -> None:
    class Lazy(Broken):
        def embed(self, texts: object) -> Any:
            return iter(super().embed(texts))

    (vector,) = CheckedEmbedder(Lazy(row)).embed(["text"])
    length = math.hypot(*row) or 1.0  # of the last it is 1.004, as of a model that computes with few digits
    assert vector.tolist() == pytest.approx([each / length for each in row])


def test_what_a_broken_embedder_gives_is_neither_stored_nor_matched() -> None:
    world = World(embedder=Broken([INF, 0.0]))
    answer = world.ask("where is the key?", "in the red drawer")
    world.react(answer)
    made = world.memory.world.ingest(HERE, Ingest(title="Deploy"))
    with world.memory.store.read() as tx:
        assert tx.episodes.vectors(HERE.workspace, [answer.id]) == {}
        assert tx.topics.vectors(HERE.workspace, "broken", [made.topic_id]) == {}
    assert world.recalled("what is for lunch today?") == []
    assert world.memory.world.query(HERE, {"q": "lunch"}).candidates == ()


def test_the_offline_model_finds_nothing_alike_in_what_is_no_vector() -> None:
    assert Similarity(lambda texts: unchecked([np.array([INF, 0.0])] * len(texts))).best("a", ["b"]) == 0.0


# Every other door -------------------------------------------------------------------------------------------------

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.just(nested(2_000)),
    st.builds(object),
    st.lists(st.one_of(st.integers(), st.text(max_size=2), st.none()), max_size=2),
    st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), st.floats(), max_size=2),
    st.just(Episode(goal="g", output=unchecked(5))),
    st.just({"elements": ["a"], "more": nested(2_000)}),
)
DAY = timedelta(days=1)


Doors = dict[str, Callable[[Any, Any], object]]
"""Doors by name, each as a call with two values that are fuzzed."""


def doors(world: World) -> Doors:
    """Every door that takes in something of a caller's."""
    mine = EpisodicMemory(world.memory, HERE)
    return episodes(world, mine) | messages(mine) | steps(mine) | files_and_topics(world, mine) | agents(world.memory)


def episodes(world: World, mine: EpisodicMemory) -> Doors:
    return {
        "store": lambda a, b: mine.store(a),
        "store a goal": lambda a, b: mine.store(Episode(goal=a, output=b)),
        "store a step": lambda a, b: mine.store(
            Episode(goal="g", trajectory=(Step(kind=StepKind.ACT, text="x", arguments=a),), status=b)
        ),
        "store a kind of step": lambda a, b: mine.store(Episode(goal="g", trajectory=(Step(kind=a, text=b),))),
        "store a usage": lambda a, b: mine.store(Episode(goal="g", usage=a, origin=b)),
        "store a run": lambda a, b: mine.store(Episode(goal="g", run_id=a, context_before=b)),
        "retrieve": lambda a, b: mine.retrieve(a, b),
        "config": lambda a, b: EpisodicMemoryConfig(service=world.memory, app_name=a, user_id=b).new_episodic_memory(),
        "memory": lambda a, b: EpisodicMemory(a, b),
    }


def messages(mine: EpisodicMemory) -> Doors:
    store, ledger, signal = ShortMemoryStore(mine), ReactionLedger(mine), RetrievalFeedbackSignal(mine)
    handler = ReactionHandler(ledger, mine)
    known = Episode(goal="deploy", output="make release")
    fine = ReactionContext("goal", "output")
    return {
        "context of a message": lambda a, b: ReactionContext(a, b),
        "record": lambda a, b: ledger.record(a, b),
        "record a message": lambda a, b: ledger.record(a, fine, channel=b),
        "lookup": lambda a, b: ledger.lookup(a, channel=b),
        "ledger": lambda a, b: ReactionLedger(a, ttl=b),
        "react": lambda a, b: handler.handle_reaction(a, b),
        "react as": lambda a, b: handler.handle_reaction("m", "👍", actor=a, role=b),
        "handler": lambda a, b: ReactionHandler(a, b),
        "set": lambda a, b: store.set(a, "k", b, ttl=DAY),
        "set for": lambda a, b: store.set("k", a, {}, ttl=b),
        "get": lambda a, b: store.get(a, b),
        "delete": lambda a, b: store.delete(a, b),
        "feedback": lambda a, b: signal.detect(a, b),
        "feedback of": lambda a, b: signal.detect([known], "x", a, retrieval_id=b),
        "history": lambda a, b: signal.get_history(a, b),
        "signal": lambda a, b: RetrievalFeedbackSignal(a),
    }


def steps(mine: EpisodicMemory) -> Doors:
    context = init_episode("s", "r", episodic=mine)
    return {
        "begin": lambda a, b: init_episode(a, b, episodic=mine),
        "begin with": lambda a, b: init_episode("s", episodic=mine, task=a, rep=b),
        "begin in": lambda a, b: init_episode("s2", episodic=a or mine, evaluation=b),
        "step": lambda a, b: record_step_start(context, a, env_pre=b),
        "step with": lambda a, b: record_step_start(context, "x", internal_state=a, internal_state_embedding=b),
        "step numbered": lambda a, b: record_step_start(context, "x", step_id=a, step_num=b),
        "step end": lambda a, b: record_step_end(context, a, b),
        "persist": lambda a, b: persist_memories(a, env_post=b),
        "grade": lambda a, b: add_grades_to_memories(context, a, source=b),
        "grade as": lambda a, b: add_grades_to_memories(context, [], actor=a, role=b),
        "grade a step": lambda a, b: StepGrade(step_number=a, is_correct=b),
        "grade a run": lambda a, b: GradingResult(task_completed=a, step_grades=b),
        "ask a grader": lambda a, b: grade_run(a, b),
        "reactions as grades": lambda a, b: ReactionGrader(a),
        "remember": lambda a, b: retrieve_memories(context, env=a, internal_state=b),
        "remember by": lambda a, b: retrieve_memories(context, internal_state_embedding=a, config=b),
        "session": lambda a, b: load_all_memories_for_session(a, episodic=b or mine),
    }


def files_and_topics(world: World, mine: EpisodicMemory) -> Doors:
    return {
        "import": lambda a, b: import_memories(a, episodic=mine, session_id=b),
        "read an export": lambda a, b: load_export(a),
        "export": lambda a, b: export_memories(a, b),
        "export one": lambda a, b: export_memories([a]),
        "hash": lambda a, b: content_hash(a),
        "entry": lambda a, b: content_hash(MemoryEntry(id=1, outcome=a)),
        "board": lambda a, b: WorkingMemory().store(a, b),
        "a retriever": lambda a, b: set_retriever(a),
        "a grader": lambda a, b: set_grader(a),
        "query": lambda a, b: world.memory.world.query(a, b),
        "query for": lambda a, b: world.memory.world.query(HERE, {"q": a, "topic_ids": b}),
        "ingest": lambda a, b: world.memory.world.ingest(a, b),
        "ingest a field": lambda a, b: world.memory.world.ingest(
            HERE, Ingest(title="x", fields=[FieldInput(name=a, value=b)])
        ),
        "policy": lambda a, b: WorldPolicy(bump=a, soft_limit=b),
    }


def agents(memory: Memory) -> Doors:
    agent = AgentMemory(memory=memory, scope=HERE)
    return {
        "agent": lambda a, b: AgentMemory(memory=a, scope=b),
        "agent of a scope": lambda a, b: AgentMemory(memory=memory, scope=a, role=b),
        "agent with emoji": lambda a, b: AgentMemory(memory=memory, scope=HERE, emoji=a),
        "handler with emoji": lambda a, b: ReactionHandler(None, None, emoji=a),
        "scope": lambda a, b: Scope(workspace=a, channel="c", person="p", visibility=b),
        "scope of a person": lambda a, b: Scope(workspace="w", channel=a, person=b),
        "agent's recall": lambda a, b: agent.recall(a, b),
        "agent's lessons": lambda a, b: (agent.lesson(a), agent.lessons(b)),
        "agent's record": lambda a, b: agent.record(a, b, []),
        "agent's steps": lambda a, b: agent.record("where?", "there", a),
        "agent's step": lambda a, b: agent.record("where?", "there", [{"tool": "clock", "arguments": a}]),
        "agent's reaction": lambda a, b: agent.react(a, b),
        "agent's correction": lambda a, b: agent.correct(a, b),
        "graph's store": lambda a, b: LangGraphStore(a, fields=b),
        "graph's item": lambda a, b: LangGraphStore(agent).put(("a",), "k", a),
    }


@pytest.fixture
def no_retriever() -> Any:
    yield
    set_retriever(None)
    set_grader(None)


@pytest.mark.usefixtures("no_retriever")
@pytest.mark.parametrize("door", sorted(doors(World())))
def test_a_door_takes_what_it_is_given_or_says_why_not(door: str) -> None:
    @given(junk, junk)
    def knock(first: object, second: object) -> None:
        world = World()
        call = doors(world)[door]
        before = stored(world)
        said = None
        try:
            call(first, second)
        except (MemoryFault, ValueError, TypeError) as error:
            said = str(error)
        assert said is None or (said and stored(world) == before)
        assert world.memory.audit.check() == []

    knock()


def stored(world: World) -> list[str]:
    return rows(world.memory.store)


@pytest.mark.parametrize(
    "call",
    [
        lambda agent, wrong: agent.recall(wrong, 3),
        lambda agent, wrong: agent.record("where?", "there", [wrong]),
        lambda agent, wrong: agent.react(wrong, "👍"),
        lambda agent, wrong: agent.correct(wrong, "there"),
        lambda agent, wrong: AgentMemory(memory=agent.memory, scope=agent.scope, role=wrong),
        lambda agent, wrong: Scope(workspace="w", channel="c", person="p", visibility=wrong),
        lambda agent, wrong: LangGraphStore(agent, fields=wrong),
        lambda agent, wrong: EpisodicMemory(agent.memory, HERE).store(Episode(goal="g", usage=wrong)),
    ],
)  # fmt: skip
def test_an_agent_reads_what_was_wrong(call: Callable[[AgentMemory, Any], object]) -> None:
    agent = AgentMemory(memory=World().memory, scope=HERE)
    with pytest.raises(InvalidInput) as refused:
        call(agent, 3)
    assert "3" in str(refused.value)


def test_a_visibility_may_be_given_as_a_word() -> None:
    assert Scope(workspace="w", channel="c", person="p", visibility=unchecked("direct")).visibility is Visibility.DIRECT


def test_a_scope_without_a_workspace_is_refused_whatever_its_visibility_is() -> None:
    with pytest.raises(ValueError, match="a scope needs a workspace"):
        Scope(workspace="", channel="c", person="p", visibility=unchecked(nested(2_000)))


def test_a_long_id_is_not_repeated_in_full() -> None:
    agent = AgentMemory(memory=World().memory, scope=HERE)
    with pytest.raises(NotFound) as refused:
        agent.react("x" * 100_000, "👍")
    assert len(str(refused.value)) < 200


def test_an_error_names_a_type_with_its_article() -> None:
    ana = EpisodicMemoryConfig().with_user_id("ana").new_episodic_memory()
    with pytest.raises(InvalidInput, match="must be an Episode, got an object"):
        ana.store(object())  # type: ignore[arg-type]
