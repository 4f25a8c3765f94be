"""Recall: what a person may be reminded of, and above all what not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memory.adapters.sql import SqlStore
from memory.errors import EmbeddingFailed
from memory.model import (
    Audience,
    Episode,
    Lesson,
    Origin,
    Role,
    Scope,
    Termination,
    Vector,
    Verdict,
    Verdicts,
    Visibility,
)
from memory.ports import IndexEntry
from memory.rules.audience import may_see, partitions_for, partitions_of
from memory.rules.retrieval.adapter import RetrievalInput, RetrievalOutput, ScoredMemory, get_retriever, set_retriever
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import Memory
from tests.doubles.memory_world import World, scope

S, F, P = Verdict.SUCCESS, Verdict.FAILURE, Verdict.PENDING
PUBLIC, PRIVATE, DIRECT, SHARED = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.DIRECT, Visibility.SHARED

# Isolation --------------------------------------------------------------------------------------------------------

WORKSPACES = ["slack:T1", "discord:T1"]
PEOPLE = ["ana", "bob", "ana/direct", "ana%2Fdirect", "bob/in/c1"]
CHANNELS = ["c1", "c1/in", "ana", "workspace"]
TEACHING = ["👍", "👎", "teacher👍", "teacher👎", "admin👍", "admin👎", "channel", "workspace", "archive"]


@dataclass(frozen=True)
class Lived:
    """One question, where and by whom, and what was done about its answer."""

    workspace: str
    channel: str
    visibility: Visibility
    person: str
    taught: tuple[tuple[str, str], ...]
    corrected_by: str
    corrected_as: Role


lived = st.builds(
    Lived,
    workspace=st.sampled_from(WORKSPACES),
    channel=st.sampled_from(CHANNELS),
    visibility=st.sampled_from(Visibility),
    person=st.sampled_from(PEOPLE),
    taught=st.lists(st.tuples(st.sampled_from(TEACHING), st.sampled_from(PEOPLE)), max_size=4).map(tuple),
    corrected_by=st.sampled_from(["", "", *PEOPLE]),
    corrected_as=st.sampled_from([Role.MEMBER, Role.TEACHER, Role.ADMIN]),
)


def live(world: World, life: Lived, number: int) -> list[Episode]:
    """Do it; returns the answer and, if it was corrected, the lesson."""
    place = scope(life.person, workspace=life.workspace, channel=life.channel, visibility=life.visibility)
    answer = world.ask("the one question", f"answer {number}", of=place)
    made = [answer]
    if life.corrected_by:
        made.append(world.correct(answer, f"correction {number}", by=life.corrected_by, role=life.corrected_as))
    curation = world.memory.curation
    for what, who in life.taught:
        if what in ("channel", "workspace"):
            if what == "channel" or life.visibility is PUBLIC:
                curation.promote(answer.workspace, answer.id, Audience(what), actor=who, role=Role.ADMIN)
        elif what == "archive":
            curation.archive(answer.workspace, answer.id, actor=who)
        else:
            role = {"t": Role.TEACHER, "a": Role.ADMIN}.get(what[0], Role.MEMBER)
            world.react(answer, what[-1], by=who, role=role)
    return made


def allowed(episode: Episode, asker: Scope, now: Visibility) -> bool:
    """The audience rules, said again in other words than the code's: what its channel was and is both allow it."""
    if episode.workspace != asker.workspace or episode.archived_at is not None:
        return False
    counted = [episode.visibility] if episode.visibility is DIRECT else [episode.visibility, now]
    reached = set.intersection(*(reaching(episode, asker, each) for each in counted))
    was_opened = (episode.visibility, counted[-1]) == (PRIVATE, PUBLIC)
    if episode.origin is Origin.CORRECTION and counted[-1] is not episode.visibility and not was_opened:
        # Who wrote it may not be shown its question any more: it stays in the channel.
        reached -= {Audience.PERSONAL} if asker.visibility is DIRECT else set()
    return any(episode.verdicts.of(audience).is_validated for audience in reached)


def reaching(episode: Episode, asker: Scope, visibility: Visibility) -> set[Audience]:
    """Through which audiences the asker would be reached if the channel had only ever been this."""
    same_place = episode.channel == asker.channel and visibility is asker.visibility
    if asker.visibility is SHARED and not same_place:
        return set()
    may_learn = {
        PUBLIC: episode.author == asker.person,
        PRIVATE: episode.author == asker.person and (same_place or asker.visibility is DIRECT),
        SHARED: episode.author == asker.person and (same_place or asker.visibility is DIRECT),
        DIRECT: episode.person == asker.person and asker.visibility is DIRECT,
    }
    audiences = {
        Audience.PERSONAL: may_learn[visibility],
        Audience.CHANNEL: episode.channel == asker.channel and (visibility is PUBLIC or same_place),
        Audience.WORKSPACE: visibility is PUBLIC,
    }
    return {audience for audience, may in audiences.items() if may}


@given(st.lists(lived, min_size=1, max_size=5))
def test_nobody_is_reminded_of_what_is_not_theirs(lives: list[Lived]) -> None:
    world = World(config=RetrievalConfig(env_threshold=0.0, top_k=None, final_k=100))
    lived_through = [each for number, life in enumerate(lives) for each in live(world, life, number)]
    # Read at the end: what an administrator verifies later says how far earlier voters are trusted.
    made = [world.episode(each) for each in lived_through]
    now = {(life.workspace, life.channel): life.visibility for life in lives}
    now |= {(life.workspace, life.channel): life.visibility for life in lives if life.visibility is not DIRECT}
    askers = {(life.workspace, person, channel) for life in lives for person in PEOPLE for channel in CHANNELS}
    for workspace, person, channel in sorted(askers):
        for visibility in Visibility:
            asker = scope(person, workspace=workspace, channel=channel, visibility=visibility)
            found = world.recalled("the one question", asker)
            permitted = [each.id for each in made if allowed(each, asker, now[each.workspace, each.channel])]
            assert sorted(found) == sorted(permitted)
            assert all(may_see(asker, each) for each in made if each.id in found and each.workspace == workspace)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [*PEOPLE, *CHANNELS]
)
scopes = st.builds(Scope, workspace=st.just("w"), channel=names, person=names, visibility=st.sampled_from(Visibility))


@given(scopes, scopes, st.sampled_from(Audience), st.none() | st.sampled_from([PUBLIC, PRIVATE, SHARED]))
def test_no_name_can_spell_its_way_into_another_partition(
    made: Scope, asker: Scope, audience: Audience, now: Visibility | None
) -> None:
    verdicts = Verdicts(**{audience.value: S})
    episode = Episode(
        goal="g",
        workspace="w",
        channel=made.channel,
        person=made.person,
        author=made.person,
        visibility=made.visibility,
        channel_visibility=now,
        verdicts=verdicts,
    )
    named = set(partitions_for(asker))
    assert any(entry.partition in named for entry in partitions_of(episode)) is allowed(
        episode, asker, now or made.visibility
    )


@pytest.mark.parametrize("verdict", [S, F])
@pytest.mark.parametrize("visibility", [PRIVATE, DIRECT, SHARED])
def test_a_channel_made_public_does_not_publish_what_was_said_in_it(visibility: Visibility, verdict: Verdict) -> None:
    world = World()
    answer = world.ask("lunch?", of=scope(visibility=visibility))
    world.memory.teaching.grade(answer.workspace, answer.id, verdict, actor="adm")
    world.memory.curation.promote(answer.workspace, answer.id, Audience.CHANNEL, actor="adm", role=Role.ADMIN)
    assert world.recalled("lunch?", scope("bob", visibility=visibility)) == [answer.id]
    assert world.recalled("lunch?", scope("bob", visibility=PUBLIC)) == []
    assert world.recalled("lunch?", scope("bob", channel="c2", visibility=visibility)) == []


def test_the_asker_keeps_their_own_verdict_where_the_channel_has_another() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👎")
    world.react(answer, "👍", by="tea", role=Role.TEACHER)
    assert _lessons(world, "ana") == [Lesson.AVOID]
    assert _lessons(world, "bob") == [Lesson.REPEAT]


def _lessons(world: World, person: str) -> list[Lesson]:
    found = world.memory.recalling.recall(scope(person), "lunch?").exemplars
    return [exemplar.lesson for exemplar in found]


SEEN = {
    # (where it was said, where the same person looks): may they be shown it outside recall?
    (PUBLIC, "c1"): [(PUBLIC, "c1", True), (PUBLIC, "c2", True), (PRIVATE, "c2", True), (DIRECT, "d", True)],
    (PRIVATE, "c1"): [(PRIVATE, "c1", True), (PRIVATE, "c2", False), (PUBLIC, "c2", False), (DIRECT, "d", True)],
    (DIRECT, "d"): [(DIRECT, "d", True), (PUBLIC, "c1", False), (PRIVATE, "c1", False), (DIRECT, "d2", True)],
}


@pytest.mark.parametrize(
    ("said", "looking"), [(said, looking) for said, places in SEEN.items() for looking in places], ids=str
)
def test_what_a_person_may_be_shown_outside_recall(
    said: tuple[Visibility, str], looking: tuple[Visibility, str, bool]
) -> None:
    episode = Episode(goal="g", workspace="w", channel=said[1], person="ana", author="ana", visibility=said[0])
    asker = scope("ana", workspace="w", channel=looking[1], visibility=looking[0])
    assert may_see(asker, episode) is looking[2]
    assert not may_see(replace(asker, person="bob"), episode)
    assert not may_see(replace(asker, workspace="v"), episode)


# What is not fit to be recalled -----------------------------------------------------------------------------------


def test_pending_disputed_and_archived_are_never_recalled() -> None:
    world = World()
    pending, disputed, archived = world.ask("lunch?", "a"), world.ask("lunch?", "b"), world.ask("lunch?", "c")
    for emoji, person in [("👍", "tea"), ("👎", "tim")]:
        world.react(disputed, emoji, by=person, role=Role.TEACHER)
    world.react(archived, "👍", by="tea", role=Role.TEACHER)
    world.memory.curation.archive(archived.workspace, archived.id, actor="adm")
    assert world.episode(pending).verdict is P
    assert world.episode(disputed).verdict is Verdict.DISPUTED
    for person in ("ana", "bob", "tea"):
        assert world.recalled("lunch?", scope(person)) == []


def test_below_the_gate_nothing_at_all_is_recalled() -> None:
    world = World(config=RetrievalConfig(env_threshold=0.0, top_k=None, min_intent=0.6, final_k=4))
    answer = world.ask("where do we keep the spare projector bulbs?")
    world.react(answer, "👍")
    assert world.recalled("where do we keep the projector bulbs?") == [answer.id]
    recollection = world.memory.recalling.recall(scope(), "how many moons has Jupiter?")
    assert recollection.exemplars == ()
    assert (recollection.counts.total_loaded, recollection.counts.selected) == (1, 0)


@given(st.floats(-1, 1))
def test_everything_recalled_is_above_the_gate(gate: float) -> None:
    world = World(config=RetrievalConfig(env_threshold=0.0, top_k=None, min_intent=gate, final_k=9))
    for goal in ("lunch today?", "lunch tomorrow?", "who is on call?", "lunch"):
        world.react(world.ask(goal), "👍")
    found = world.memory.recalling.recall(scope(), "when is lunch?").exemplars
    assert all(exemplar.intent_score >= gate for exemplar in found)


def test_the_current_run_is_not_recalled() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👍")
    assert world.memory.recalling.recall(scope(), "lunch?", run_id=answer.run_id).exemplars == ()


def test_every_validated_node_is_recalled_for_its_own_goal() -> None:
    world = World()
    root = world.ask("plan a trip and a party", children=[("plan a trip", Termination.SUCCESS)])
    world.react(root, "👍")
    child = world.nodes(root)[1]
    assert world.recalled("plan a trip")[0] == child.id
    assert world.recalled("plan a trip and a party")[0] == root.id


def test_the_latest_verdict_on_the_same_answer_holds() -> None:
    world = World()
    first, second = world.ask("lunch?", "at noon"), world.ask("lunch?", "at noon")
    world.react(first, "👎")
    world.react(second, "👍")
    assert world.recalled("lunch?") == [second.id]
    world.react(first, "👎", added=False)
    world.react(first, "👎")
    assert world.recalled("lunch?") == [first.id]


def test_one_voice_per_author_but_the_own_ones() -> None:
    world = World()
    for day, answer in (("monday", "at one"), ("friday", "at two")):
        world.react(world.ask(f"lunch on {day}?", answer, of=scope("bob")), "👍", by="tea", role=Role.TEACHER)
    assert len(world.recalled("lunch on what day?", scope("ana"))) == 1
    assert len(world.recalled("lunch on what day?", scope("bob"))) == 2


def test_nothing_is_recalled_across_embedding_models() -> None:
    store = SqlStore.in_memory()
    world = World(store)
    world.react(world.ask("lunch?"), "👍")
    other = Memory(store, Table({"lunch?": (1.0, 0.0)}), clock=world.clock, new_id=world.ids)
    assert other.recalling.recall(scope(), "lunch?").exemplars == ()


# Vectors that are odd ---------------------------------------------------------------------------------------------


class Table:
    """An embedder that knows its texts by heart."""

    name = "table"
    dimension = 2

    def __init__(self, vectors: Mapping[str, tuple[float, ...]]) -> None:
        self._vectors = vectors
        self.fails = False

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.fails:
            raise EmbeddingFailed("the model could not be loaded")
        return [np.array(self._vectors[text], np.float32) for text in texts]


VECTORS = {
    "query": (0.6, 0.8),
    "near": (0.8, 0.6),
    "opposite": (-0.6, -0.8),
    "nothing": (0.0, 0.0),
    "same": (0.6, 0.8),
}


def table_world(config: RetrievalConfig) -> tuple[World, Table]:
    table = Table(VECTORS)
    return World(config=config, embedder=table), table


def test_cosines_are_what_they_should_be() -> None:
    """T09-T12 of the worked cases: 0.96, an opposite goal, a goal without content."""
    world, _ = table_world(RetrievalConfig(env_threshold=0.0, top_k=None, final_k=9))
    for goal in ("near", "opposite", "nothing", "same"):
        world.react(world.ask(goal), "👍")
    found = world.memory.recalling.recall(scope(), "query").exemplars
    assert [(each.episode.goal, round(each.intent_score, 3)) for each in found] == [
        ("same", 1.0),
        ("near", 0.96),
        ("nothing", 0.0),
        ("opposite", -1.0),
    ]
    assert [round(each.relevance, 3) for each in found] == [1.0, 0.986, 0.65, 0.65]


def test_without_an_embedder_goals_are_compared_by_their_words() -> None:
    world, table = table_world(RetrievalConfig(env_threshold=0.0, top_k=None, final_k=9))
    world.react(world.ask("same"), "👍")
    table.fails = True
    recalled = world.memory.recalling.recall(scope(), "query")
    assert (recalled.exemplars, recalled.vector) == ((), None)
    by_words = world.memory.recalling.recall(scope(), "the same again?")
    assert [each.episode.goal for each in by_words.exemplars] == ["same"]
    assert world.recalled("the same again?", scope("bob")) == []
    blind = world.ask("near")
    world.react(blind, "👍")
    assert world.episode(blind).verdict is S
    world.correct(blind, "better")
    table.fails = False
    assert [world.memory.recalling.recall(scope(), "query").exemplars[0].episode.goal] == ["same"]
    assert world.memory.audit.check() == []


# Links ------------------------------------------------------------------------------------------------------------


def test_a_correction_the_asker_may_see_joins_its_mistake() -> None:
    world = World(config=RetrievalConfig(env_threshold=0.0, top_k=None, final_k=1, min_intent=0.3))
    failed = world.ask("lunch?", "at three")
    lesson = world.correct(failed, "at noon", by="tea", role=Role.TEACHER)
    recollection = world.memory.recalling.recall(scope("bob"), "lunch?")
    assert [each.episode.id for each in recollection.exemplars] == [failed.id, lesson.id]
    assert [each.lesson for each in recollection.exemplars] == [Lesson.AVOID, Lesson.REPEAT]
    assert (recollection.counts.selected, recollection.counts.linked) == (1, 1)


def test_a_correction_its_reader_rejected_does_not_join() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    world.react(failed, "👎", by="tea", role=Role.TEACHER)
    lesson = world.correct(failed, "at noon")
    world.memory.teaching.grade(lesson.workspace, lesson.id, S, actor="tea", role=Role.TEACHER)
    world.clock.tick()
    world.memory.teaching.grade(lesson.workspace, lesson.id, F, actor="ana", role=Role.MEMBER)
    told = world.memory.recalling.recall(scope("ana"), "lunch?").exemplars
    assert all(each.lesson is Lesson.AVOID and not each.episode.correction for each in told)


# Another retriever ------------------------------------------------------------------------------------------------


@pytest.fixture
def _default_again() -> Iterator[None]:
    yield
    set_retriever(None)


class Fixed:
    """A retriever that finds what it was given."""

    def __init__(self, *found: ScoredMemory[Episode] | Exception) -> None:
        self._found = found
        self.asked: list[tuple[str, str, RetrievalInput, object]] = []

    def retrieve(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: object = None
    ) -> RetrievalOutput[Episode]:
        self.asked.append((session_id, current_run_id, situation, config))
        for each in self._found:
            if isinstance(each, Exception):
                raise each
        return RetrievalOutput(memories=tuple(each for each in self._found if isinstance(each, ScoredMemory)))


def scored(episode: Episode, verdict: Verdict) -> ScoredMemory[Episode]:
    return ScoredMemory(memory=episode, env_score=0.5, int_score=0.25, score=0.4, verdict=verdict)


@pytest.mark.usefixtures("_default_again")
def test_another_retriever_takes_over_and_the_default_comes_back() -> None:
    world = World()
    own = world.ask("lunch?")
    world.react(own, "👍")
    other = Episode(id="e", goal="from elsewhere", workspace="terminal:w", verdicts=Verdicts(personal=S))
    custom = Fixed(scored(other, S))
    set_retriever(custom)
    assert get_retriever() is custom
    (found,) = world.memory.recalling.recall(scope(), "lunch?", run_id="r1").exemplars
    assert (found.episode, found.context_score, found.intent_score, found.relevance) == (other, 0.5, 0.25, 0.4)
    session, run, situation, _ = custom.asked[0]
    assert (session, run, situation.goal, situation.scope) == ("terminal%3Aw:ana:c1", "r1", "lunch?", scope())
    set_retriever(None)
    assert world.recalled("lunch?") == [own.id]


@pytest.mark.usefixtures("_default_again")
def test_no_retriever_can_bring_in_what_nobody_validated() -> None:
    world = World()
    pending = world.ask("lunch?")
    set_retriever(Fixed(scored(pending, P), scored(pending, Verdict.DISPUTED)))
    assert world.recalled("lunch?") == []


@pytest.mark.usefixtures("_default_again")
def test_errors_of_a_custom_retriever_surface() -> None:
    set_retriever(Fixed(LookupError("no such index")))
    with pytest.raises(LookupError, match="no such index"):
        World().memory.recalling.recall(scope(), "lunch?")


def test_without_a_set_retriever_the_default_has_nothing_to_find() -> None:
    situation = RetrievalInput(current_env=frozenset(), current_state_embedding=None)
    assert get_retriever().retrieve("s", "r", situation) == RetrievalOutput()
    assert get_retriever().retrieve("s", "r", situation, {"finalK": 1}) == RetrievalOutput()


# Reading moves nothing --------------------------------------------------------------------------------------------


def test_recalling_alone_writes_nothing() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👍")
    before = (world.episode(answer), len(world.memory.audit.run(answer.workspace, answer.run_id).events))
    for _ in range(3):
        assert world.recalled("lunch?") == [answer.id]
    assert (world.episode(answer), len(world.memory.audit.run(answer.workspace, answer.run_id).events)) == before


def test_index_entries_say_the_verdict_of_their_audience() -> None:
    episode = Episode(goal="g", channel="c", person="ana", author="ana", verdicts=Verdicts(personal=F, channel=S))
    entries = partitions_of(replace(episode, visibility=PUBLIC))
    assert {(each.audience, each.verdict) for each in entries} == {(Audience.PERSONAL, F), (Audience.CHANNEL, S)}
    assert all(isinstance(each, IndexEntry) for each in entries)
