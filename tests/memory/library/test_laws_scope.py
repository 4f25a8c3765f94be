"""The doors for other agents keep apart what the bot keeps apart: people, channels, workspaces and kinds of places.

Whatever one person left through a door is looked for from every other seat, through every door.
"""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memory import (
    Episode,
    EpisodeStatus,
    EpisodicMemory,
    GradingRequest,
    ReactionContext,
    ReactionGrader,
    ReactionHandler,
    ReactionLedger,
    RetrievalFeedbackSignal,
    ShortMemoryStore,
    StepGrade,
    add_grades_to_memories,
    grade_run,
    init_episode,
    load_all_memories_for_session,
    persist_memories,
    record_step_start,
    retrieve_memories,
)
from memory.adapters.sql import SqlStore
from memory.errors import Conflict, InvalidInput
from memory.library.lifecycle import EpisodeContext
from memory.model import Event, Role, Scope, Signal, Verdict, Visibility
from tests.doubles.memory_world import World, scope
from tests.memory.services.privacy.test_laws_forgetting import left_in

W = "terminal:w"
MARK = "zyzzyva"
ANA_DIRECT = scope("ana", channel="dm-ana", visibility=Visibility.DIRECT)
BOB_DIRECT = scope("bob", channel="dm-bob", visibility=Visibility.DIRECT)
SEATS = [
    scope(person, workspace=workspace, channel=channel, visibility=visibility)
    for workspace in (W, "terminal:v")
    for person in ("ana", "bob")
    for channel, visibility in (
        ("pub", Visibility.PUBLIC),
        ("pub2", Visibility.PUBLIC),
        ("priv", Visibility.PRIVATE),
        ("priv", Visibility.PUBLIC),
        ("dm", Visibility.DIRECT),
        ("ext", Visibility.SHARED),
    )
]
"""Two workspaces of one platform with equal ids; `priv` was private, and is public."""
seats = st.sampled_from(SEATS)


def may_know(here: Scope, source: Scope) -> bool:
    """Whether what was said at `source` may be read at `here`, said anew and not taken from the code."""
    if here.workspace != source.workspace:
        return False
    same_place = (here.channel, here.visibility) == (source.channel, source.visibility)
    own_in_direct = here.person == source.person and here.visibility is Visibility.DIRECT
    if here.visibility is Visibility.SHARED:
        return same_place
    match source.visibility:
        case Visibility.PUBLIC:
            return True
        case Visibility.DIRECT:
            return own_in_direct
        case _:
            return same_place or own_in_direct


def of(world: World, here: Scope) -> EpisodicMemory:
    return EpisodicMemory(world.memory, here)


def taught(world: World, here: Scope, goal: str = "where is the key?") -> Episode:
    """An answer of this person's that a teacher approved for everybody there."""
    answer = world.ask(goal, "in the red drawer", of=here)
    world.react(answer, by=here.person)
    world.react(answer, by="tea", role=Role.TEACHER)
    return world.episode(answer)


# Findings ---------------------------------------------------------------------------------------------------------


@given(source=seats, here=seats)
def test_a_finding_tells_nobody_elses_question(source: Scope, here: Scope) -> None:
    world = World()
    lesson = taught(world, source)
    asked = RetrievalFeedbackSignal(of(world, source))
    asked.detect([lesson], "it is in the red drawer", f"where is {MARK}?", retrieval_id="q")
    told = RetrievalFeedbackSignal(of(world, here)).get_history(lesson.id, -1)
    if here.person == source.person and may_know(here, source):
        assert [(each.signal, each.context) for each in told] == [(Signal.USED, f"where is {MARK}?")]
    else:
        assert MARK not in repr(told)
    if not may_know(here, source):
        assert [each for each in told if here.person != source.person] == []


@given(source=seats, here=seats)
def test_nobody_moves_a_lesson_that_they_may_not_be_shown(source: Scope, here: Scope) -> None:
    world = World()
    lesson = taught(world, source)
    is_recalled = lesson.id in world.recalled(lesson.goal, here)
    found = RetrievalFeedbackSignal(of(world, here)).detect([lesson], "no idea at all", "where is it?")
    if is_recalled:
        assert [each.episode_id for each in found] == [lesson.id]
        assert (world.episode(lesson) == lesson) is (here.person != source.person)
    elif here.person != source.person or here.workspace != source.workspace:
        assert (list(found), found.skipped) == ([], (lesson.id,))
        assert world.episode(lesson) == lesson
    assert world.memory.audit.check() == []


def test_what_is_hidden_is_as_what_is_unknown() -> None:
    world = World()
    lesson = world.ask("where is the key?", "in the red drawer", of=ANA_DIRECT)
    world.react(lesson, by="ana")
    before = world.episode(lesson)
    ana, bob = (RetrievalFeedbackSignal(of(world, here)) for here in (ANA_DIRECT, BOB_DIRECT))
    assert ana.detect([before], "the red drawer", "my question").skipped == ()
    for episode_id in (lesson.id, "no-such"):
        assert bob.detect([replace(before, id=episode_id)], "nothing").skipped == (episode_id,)
        assert bob.get_history(episode_id) == []
        assert set(bob.get_stats(episode_id).values()) == {0}


def test_whoever_owns_a_lesson_sees_how_it_fared_and_not_what_was_asked() -> None:
    world = World()
    lesson = taught(world, scope("ana"))
    ana, bob, cy = (RetrievalFeedbackSignal(of(world, scope(who))) for who in ("ana", "bob", "cy"))
    for who in ("bob", "cy"):
        world.ask(lesson.goal, "in the red drawer", of=scope(who))
    ana.detect([lesson], "the red drawer", "my question", retrieval_id="q")
    assert [each.context for each in ana.get_history(lesson.id)] == ["my question", "", ""]
    assert [each.context for each in bob.get_history(lesson.id)] == [""]
    assert [each.context for each in cy.get_history(lesson.id)] == [""]
    assert (ana.get_stats(lesson.id)["used"], bob.get_stats(lesson.id)["used"]) == (3, 1)


def test_of_one_retrieval_the_first_finding_stands_whatever_is_answered_next() -> None:
    world = World()
    lesson, other = taught(world, scope("ana")), taught(world, scope("ana"), "when is lunch?")
    signal = RetrievalFeedbackSignal(of(world, scope("ana")))
    (first,) = signal.detect([lesson], "in the red drawer", "where?", retrieval_id="q")
    once = world.episode(lesson)
    again = signal.detect([lesson, other], "nobody knows anything about it", "and where?", retrieval_id="q")
    assert [again[0], again[1].signal] == [first, Signal.IGNORED]
    assert world.episode(lesson) == once
    assert signal.get_history(lesson.id) == [first]
    assert sum(signal.get_stats(other.id).values()) == 1
    assert world.memory.audit.check() == []


def test_a_finding_that_belongs_to_no_recorded_retrieval_moves_nobody_elses_lesson() -> None:
    world = World()
    lesson = taught(world, scope("ana"))
    told = len(log_of(world, lesson))
    ana, bob = (RetrievalFeedbackSignal(of(world, scope(who))) for who in ("ana", "bob"))
    for number in range(20):
        named = f"q{number // 2}" if number % 2 else ""
        (found,) = bob.detect([lesson], "nobody knows anything about it", "where is it?", retrieval_id=named)
        assert (found.signal, found.context) == (Signal.IGNORED, "where is it?")
    assert world.episode(lesson) == lesson
    assert (len(log_of(world, lesson)), bob.get_history(lesson.id), ana.get_history(lesson.id)) == (told, [], [])
    ana.detect([lesson], "nobody knows anything about it", "where is it?")
    assert world.episode(lesson).strength == lesson.strength - 0.02
    assert [each.context for each in ana.get_history(lesson.id)] == ["where is it?"]
    assert world.memory.audit.check() == []


def test_a_retrieval_that_did_not_show_a_lesson_moves_it_not() -> None:
    world = World()
    lesson = taught(world, scope("ana"))
    answer = world.ask("zebra plum quartz", "blue", of=scope("bob"))
    with world.memory.store.read() as tx:
        ((retrieval, items),) = tx.retrievals.of_run(W, answer.run_id)
    assert items == []
    before, told = world.episode(lesson), len(log_of(world, lesson))
    bob = RetrievalFeedbackSignal(of(world, scope("bob")))
    assert bob.detect([lesson], "nobody knows", retrieval_id=retrieval.id)[0].signal is Signal.IGNORED
    assert (world.episode(lesson), len(log_of(world, lesson))) == (before, told)


def test_a_lesson_of_another_is_judged_as_it_is_stored() -> None:
    world = World()
    lesson = taught(world, scope("ana"))
    bob = RetrievalFeedbackSignal(of(world, scope("bob")))
    for retrieval_id in ("", "q"):
        (found,) = bob.detect([replace(lesson, output=MARK)], "in the red drawer", "where?", retrieval_id=retrieval_id)
        assert found.signal is Signal.USED


def log_of(world: World, lesson: Episode) -> list[Event]:
    with world.memory.store.read() as tx:
        return list(tx.log.of_episode(lesson.workspace, lesson.id))


def test_two_people_may_name_their_retrievals_alike() -> None:
    world = World()
    bobs, cys = (taught(world, scope(who)) for who in ("bob", "cy"))
    bob, cy = (RetrievalFeedbackSignal(of(world, scope(who))) for who in ("bob", "cy"))
    assert bob.detect([bobs], "in the red drawer", "bob asks", retrieval_id="q")[0].signal is Signal.USED
    assert cy.detect([cys], "nobody knows anything", "cy asks", retrieval_id="q")[0].signal is Signal.IGNORED
    assert [each.context for each in bob.get_history(bobs.id) if each.context] == ["bob asks"]


def test_a_recall_that_was_recorded_with_its_answer_is_judged_once_and_stays_whole() -> None:
    world = World()
    lesson = taught(world, scope("ana"))
    answer = world.ask("where is the key?", "in the red drawer", of=scope("bob"))
    with world.memory.store.read() as tx:
        recorded = tx.retrievals.of_run(W, answer.run_id)
    ((retrieval, items),) = recorded
    before = world.episode(lesson)
    bob, cy = (RetrievalFeedbackSignal(of(world, scope(who))) for who in ("bob", "cy"))
    assert [each.signal for each in bob.detect([lesson], "nothing", retrieval_id=retrieval.id)] == [items[0].signal]
    assert world.episode(lesson) == before
    cy.detect([lesson], "nothing of it", retrieval_id=retrieval.id)
    with world.memory.store.read() as tx:
        assert tx.retrievals.of_run(W, answer.run_id) == recorded


def test_a_question_is_erased_with_whoever_asked_it(tmp_path: Path) -> None:
    store = SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")
    world = World(store)
    lesson = taught(world, scope("ana"))
    quokka = RetrievalFeedbackSignal(of(world, scope("quokka")))
    quokka.detect([lesson], "in the red drawer", f"where is {MARK}?", retrieval_id="wombat")
    words = [MARK, "quokka", "wombat"]
    assert {mark for _, mark in left_in(tmp_path, words)} == set(words)
    world.memory.privacy.forget(W, "quokka")
    assert left_in(tmp_path, words) == []
    assert world.memory.audit.check() == []
    assert RetrievalFeedbackSignal(of(world, scope("ana"))).get_stats(lesson.id)["used"] == 0
    store.close()
    assert left_in(tmp_path, words) == []


# Ledger and reactions ---------------------------------------------------------------------------------------------


@given(source=seats, here=seats, is_named=st.booleans())
def test_the_ledger_tells_a_message_only_where_it_may_be_read(source: Scope, here: Scope, is_named: bool) -> None:
    world = World()
    ledger = ReactionLedger(of(world, source))
    context = ReactionContext(goal=f"goal {MARK}", output=f"output {MARK}", sender_key=f"x:{MARK}")
    ledger.record("m1", context, channel="named" if is_named else "")
    channel = "named" if is_named else source.channel
    other = ReactionLedger(of(world, here))
    handler = ReactionHandler(other, of(world, here))
    world.clock.tick()
    told = (other.lookup("m1", channel=channel), handler.handle_reaction("m1", "👍", channel=channel))
    if may_know(here, source):
        assert told[0] == context
        assert told[1] is not None
    else:
        assert told == (None, None)
    assert ledger.lookup("m1", channel=channel) == context


@given(source=seats, here=seats)
def test_nobody_replaces_what_another_recorded(source: Scope, here: Scope) -> None:
    world = World()
    first, second = ReactionLedger(of(world, source)), ReactionLedger(of(world, here))
    first.record("m1", ReactionContext("first", "by the first"), channel="c")
    second.record("m1", ReactionContext("second", "by the second"), channel="c")
    world.clock.tick()
    mine = ReactionHandler(second, of(world, here)).handle_reaction("m1", "👍", channel="c")
    assert mine is not None
    assert mine.goal == "second"
    found = second.lookup("m1", channel="c")
    assert found is not None
    assert found.goal == "second"
    kept = first.lookup("m1", channel="c")
    assert kept is not None
    if source.person != here.person or source.workspace != here.workspace:
        assert kept.goal == "first"


def test_a_message_of_the_bot_is_not_taken_over() -> None:
    world = World()
    answer = world.ask("where is the key?", of=ANA_DIRECT, message_id="m1")
    bob = ReactionLedger(of(world, BOB_DIRECT))
    bob.record("m1", ReactionContext("mine", "mine"), channel=ANA_DIRECT.channel)
    assert ReactionHandler(bob, of(world, BOB_DIRECT)).handle_reaction("m1", "👎", channel=ANA_DIRECT.channel)
    assert world.episode(answer).verdict is Verdict.PENDING
    world.react(answer, by="ana", message_id="m1")
    assert world.episode(answer).verdict is Verdict.SUCCESS


@given(source=seats, here=seats)
def test_a_value_is_found_only_where_it_may_be_read(source: Scope, here: Scope) -> None:
    world = World()
    ShortMemoryStore(of(world, source)).set("k", "a/b", {"said": MARK}, ttl=timedelta(days=1))
    there = ShortMemoryStore(of(world, here))
    is_own = here.person == source.person and may_know(here, source)
    found = there.get("k", "a/b")
    assert found in (None, {"said": MARK})
    assert found is None or is_own
    if here == source:
        assert found == {"said": MARK}
    assert there.delete("k", "a/b") is (found is not None)
    assert there.get("k", "b") is there.get("k", "direct/b") is None


# Steps ------------------------------------------------------------------------------------------------------------


def recorded(world: World, here: Scope, *, persisted: bool = True) -> EpisodeContext:
    context = init_episode("s", "r", episodic=of(world, here), task=f"task {MARK}")
    record_step_start(
        context, f"click('{MARK}')", env_pre=[f"button:{MARK}"], internal_state=f"state {MARK}", think=MARK, step_id="x"
    )
    if persisted:
        persist_memories(context)
        given = StepGrade(step_number=1, is_correct=True, explanation=MARK)
        add_grades_to_memories(context, [given])
        add_grades_to_memories(context, {"task_completed": False, "overall_explanation": MARK})
    return context


class Curious:
    """A grader that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def grade(self, request: object) -> None:
        self.asked.append(request)


@given(source=seats, here=seats, is_persisted=st.booleans())
def test_steps_are_read_only_where_they_may_be_read(source: Scope, here: Scope, is_persisted: bool) -> None:
    world = World()
    recorded(world, source, persisted=is_persisted)
    mine, curious = of(world, here), Curious()
    context = init_episode("s", "r", episodic=mine)
    own_step = record_step_start(context, "look('around')", internal_state="state")
    report = add_grades_to_memories(context, [StepGrade(step_id="x", is_correct=False)])
    other = init_episode("s", "r2", episodic=mine)
    grade_run(context, curious)
    told = [
        context.run.task,
        load_all_memories_for_session("s", episodic=mine),
        retrieve_memories(other, internal_state="state"),
        persist_memories(context),
        report,
        curious.asked,
        ReactionGrader(mine).grade(asked_of(context)),
    ]
    if here.person != source.person or not may_know(here, source):
        assert MARK not in repr(told)
    elif is_persisted:
        assert MARK in repr(told[1])
    assert own_step in repr(load_all_memories_for_session("s", episodic=mine))
    assert world.memory.audit.check() == []


def asked_of(context: EpisodeContext) -> GradingRequest:
    return GradingRequest(session_id=context.session_id, run_id=context.run_id)


def test_steps_noted_in_a_direct_message_are_persisted_nowhere_else() -> None:
    world = World()
    noted = recorded(world, ANA_DIRECT, persisted=False)
    public = init_episode("s", "r", episodic=of(world, scope("ana")))
    assert persist_memories(public) == []
    with pytest.raises(InvalidInput, match="begun by somebody else or elsewhere"):
        EpisodeContext(episodic=of(world, scope("ana")), run=noted.run)
    assert len(persist_memories(noted)) == 1
    assert MARK in repr(load_all_memories_for_session("s", episodic=of(world, ANA_DIRECT)))
    assert load_all_memories_for_session("s", episodic=of(world, scope("ana"))) == []


# Keys -------------------------------------------------------------------------------------------------------------

ids = st.text(st.sampled_from("ab:%3A"), min_size=1, max_size=5)


@given(st.tuples(ids, ids, ids), st.tuples(ids, ids, ids))
def test_no_two_senders_share_a_key(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    first, second = (
        Scope(workspace=f"{platform.replace(':', '')}x:w", person=person, channel=channel)
        for platform, person, channel in (one, other)
    )
    is_same = (first.platform, first.person, first.channel) == (second.platform, second.person, second.channel)
    assert (first.sender_key == second.sender_key) is is_same
    assert (first.session_key == second.session_key) is is_same


def test_a_key_of_plain_ids_is_the_seeds() -> None:
    here = scope("U1", workspace="slack:T1", channel="C1")
    assert here.sender_key == "slack:U1:C1"
    assert here.session_key != replace(here, workspace="slack:T2").session_key


def test_ids_that_spell_anothers_key_are_still_somebody_else() -> None:
    world = World()
    one, other = scope("a:b", channel="c"), scope("a", channel="b:c")
    stored = of(world, one).store(Episode(goal="deploy", output=MARK))
    with pytest.raises(Conflict):
        of(world, other).store(replace(stored, status=EpisodeStatus.SUCCESS))
    assert world.episode(stored) == stored


@pytest.mark.parametrize("field", ["run_id", "parent_id"])
def test_nobodys_episode_joins_anothers_run(field: str) -> None:
    world = World()
    theirs = world.ask("where is the key?", of=BOB_DIRECT)
    given = Episode(goal="mine", output="mine", status=EpisodeStatus.FAILURE)
    given = replace(given, run_id=theirs.run_id) if field == "run_id" else replace(given, parent_id=theirs.id)
    with pytest.raises(Conflict, match="somebody else"):
        of(world, scope("ana")).store(given)
    assert world.nodes(theirs) == [theirs]
    assert world.memory.audit.check() == []
