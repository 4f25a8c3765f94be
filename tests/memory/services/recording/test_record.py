"""From a message to a delivered answer: every step once, however often it is tried."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory.errors import Conflict
from memory.model import (
    Episode,
    EventKind,
    Exemplar,
    Incoming,
    Lesson,
    Progress,
    Recollection,
    Signal,
    StageCounts,
    Termination,
    Verdict,
    Verdicts,
)
from memory.model.evidence import Belief, Evidence, UnreadBeliefs
from memory.rules.strength import NUDGE_MIN, SALIENCE_MAX
from memory.rules.use_detection import DetectedSignal, OverlapDetector
from memory.services import FinishedRun, Recording, UnsentAnswer
from tests.doubles.memory_world import World, scope

ANA = scope("ana")


def message(event_id: str = "e1", text: str = "lunch?", message_id: str = "") -> Incoming:
    return Incoming(scope=ANA, event_id=event_id, message_id=message_id or event_id, text=text, at=World().clock())


def run_of(
    world: World, event_id: str = "e1", *, parts: Sequence[str] = ("at noon",), run_id: str = "r1"
) -> FinishedRun:
    node = Episode(
        id=world.ids(),
        run_id=run_id,
        goal="lunch?",
        workspace=ANA.workspace,
        channel=ANA.channel,
        person="ana",
        author="ana",
        output=" ".join(parts),
        action="answer",
        created_at=world.clock(),
    )
    return FinishedRun(
        workspace=ANA.workspace,
        run_id=run_id,
        event_id=event_id,
        nodes=[node],
        recalls=[],
        parts=list(parts),
        channel=ANA.channel,
        embedding_model="none",
    )


def unfinished(world: World) -> list[tuple[str, Progress, list[int]]]:
    """(event, progress, unsent parts)"""
    found: list[UnsentAnswer] = world.memory.recording.unfinished()
    return [(each.incoming.event_id, each.incoming.progress, [part.part for part in each.parts]) for each in found]


def episodes(world: World) -> int:
    return world.memory.audit.statistics(ANA.workspace)[0]["episodes"]


# Acceptance, commit, delivery -------------------------------------------------------------------------------------


def test_a_message_with_its_answer_is_stored_whole_or_not_at_all() -> None:
    world = World()
    run = run_of(world)
    stored = world.memory.recording.accept_answered(message(), run)
    assert stored is not None
    assert (stored.progress, stored.run_id, stored.text) == (Progress.ANSWERED, "r1", "lunch?")
    assert unfinished(world) == [("e1", Progress.ANSWERED, [1])]
    assert world.memory.recording.accept_answered(message(), run) is None
    with pytest.raises(Conflict):  # the node is there already
        world.memory.recording.accept_answered(message("e2"), replace(run, event_id="e2", run_id="r2"))
    assert unfinished(world) == [("e1", Progress.ANSWERED, [1])]


def test_a_message_is_accepted_once_by_its_event_and_by_its_own_id() -> None:
    recording = World().memory.recording
    assert recording.accept(message("e1", message_id="m1"))
    assert not recording.accept(message("e1", message_id="m1"))
    assert not recording.accept(message("e2", message_id="m1"))
    assert recording.accept(message("e2", message_id="m2"))
    other = replace(message("e1", message_id="m1"), scope=scope(workspace="terminal:other"))
    assert recording.accept(other)


def test_finishing_twice_is_once() -> None:
    world = World()
    world.memory.recording.accept(message())
    assert world.memory.recording.finish(run_of(world))
    assert not world.memory.recording.finish(run_of(world, run_id="r2"))
    assert episodes(world) == 1
    assert unfinished(world) == [("e1", Progress.ANSWERED, [1])]


def test_what_was_withdrawn_is_not_answered() -> None:
    world = World()
    world.memory.recording.accept(message())
    world.memory.recording.withdraw(ANA.workspace, "e1")
    assert not world.memory.recording.finish(run_of(world))
    assert (episodes(world), unfinished(world)) == (0, [])


def test_what_was_answered_cannot_be_withdrawn() -> None:
    world = World()
    world.memory.recording.accept(message())
    world.memory.recording.finish(run_of(world))
    world.memory.recording.withdraw(ANA.workspace, "e1")
    world.memory.recording.withdraw(ANA.workspace, "no-such")
    assert unfinished(world) == [("e1", Progress.ANSWERED, [1])]


def test_what_was_forgotten_while_the_agent_worked_is_not_stored() -> None:
    world = World()
    world.memory.recording.accept(message())
    world.memory.privacy.forget(ANA.workspace, "ana")
    assert not world.memory.recording.finish(run_of(world))
    assert episodes(world) == 0


def test_unfinished_tells_what_a_restart_must_do_oldest_first() -> None:
    world = World()
    for event_id in ("e1", "e2", "e3"):
        world.memory.recording.accept(message(event_id))
    world.memory.recording.finish(run_of(world, "e2", parts=["one", "two", "three"], run_id="r2"))
    world.memory.recording.sent(ANA.workspace, "r2", 1, "m-1")
    assert unfinished(world) == [
        ("e1", Progress.ACCEPTED, []),
        ("e2", Progress.ANSWERED, [2, 3]),
        ("e3", Progress.ACCEPTED, []),
    ]


@given(st.permutations([1, 2, 3]), st.integers(1, 3))
def test_an_answer_is_delivered_with_its_last_part_in_any_order(order: list[int], repeated: int) -> None:
    world = World()
    world.memory.recording.accept(message())
    world.memory.recording.finish(run_of(world, parts=["one", "two", "three"]))
    for part in order[:2]:
        world.memory.recording.sent(ANA.workspace, "r1", part, f"m-{part}")
        world.memory.recording.sent(ANA.workspace, "r1", part, f"again-{part}")
    assert unfinished(world) == [("e1", Progress.ANSWERED, [order[2]])]
    for _ in range(repeated):
        world.memory.recording.sent(ANA.workspace, "r1", order[2], f"m-{order[2]}")
    assert unfinished(world) == []
    view = world.memory.audit.run(ANA.workspace, "r1")
    assert [entry.message_id for entry in view.ledger] == ["m-1", "m-2", "m-3"]
    assert [event.kind for event in view.events].count(EventKind.LINKED) == 3


def test_noting_a_part_that_does_not_exist_does_nothing() -> None:
    world = World()
    world.memory.recording.accept(message())
    world.memory.recording.finish(run_of(world))
    world.memory.recording.sent(ANA.workspace, "r1", 2, "m-2")
    world.memory.recording.sent(ANA.workspace, "no-such", 1, "m-2")
    assert unfinished(world) == [("e1", Progress.ANSWERED, [1])]


def test_every_ledger_row_lives_as_long_as_the_setting_says() -> None:
    world = World()
    answer = world.ask("lunch?", parts=2)
    for entry in world.memory.audit.run(answer.workspace, answer.run_id).ledger:
        assert entry.expires_at - entry.posted_at == timedelta(days=30)


def test_an_answer_starts_pending_whatever_it_claims() -> None:
    world = World()
    world.memory.recording.accept(message())
    run = run_of(world)
    boastful = replace(run.nodes[0], verdicts=Verdicts(workspace=Verdict.SUCCESS), strength=1.0, nudge=0.3)
    world.memory.recording.finish(replace(run, nodes=[boastful]))
    (stored,) = world.memory.audit.run(ANA.workspace, "r1").nodes
    assert (stored.verdicts, stored.status, stored.strength, stored.nudge) == (Verdicts(), "pending", 0.5, 0.0)
    assert world.memory.audit.check() == []


def test_rep_counts_earlier_attempts_of_the_same_person_in_the_same_channel() -> None:
    world = World()
    assert [world.ask(goal).rep for goal in ("Lunch?", "lunch?", "  LUNCH? ", "dinner?")] == [1, 2, 3, 1]
    assert world.ask("lunch?", of=scope("bob")).rep == 1
    assert world.ask("lunch?", of=scope(channel="c2")).rep == 1
    assert world.ask("lunch?", of=scope(workspace="terminal:other")).rep == 1


def test_a_correction_is_no_attempt() -> None:
    world = World()
    world.correct(world.ask("lunch?"), "at noon")
    assert world.ask("lunch?").rep == 2


# What lessons go through ------------------------------------------------------------------------------------------


def taught(world: World, goal: str = "when is lunch?", answer: str = "at noon sharp") -> Episode:
    episode = world.ask(goal, answer)
    world.react(episode, "👍")
    return world.episode(episode)


def kinds(world: World, episode: Episode) -> list[str]:
    events = world.memory.audit.run(episode.workspace, episode.run_id).events
    return [event.kind.value for event in events if event.episode_id == episode.id]


def test_a_shown_lesson_is_injected_and_judged_once_per_recall() -> None:
    world = World()
    lesson = taught(world)
    using = world.ask("when is lunch today?", "at noon sharp")
    assert kinds(world, lesson)[-2:] == ["injected", "used"]
    after = world.episode(lesson)
    assert (after.retrieval_count, after.used_count, after.ignored_count) == (1, 1, 0)
    assert (after.nudge, after.strength) == (0.05, 0.75)
    ((_, items),) = world.memory.audit.run(using.workspace, using.run_id).recalls
    assert [(item.episode_id, item.rank, item.lesson, item.signal) for item in items] == [
        (lesson.id, 1, Lesson.REPEAT, Signal.USED)
    ]
    world.ask("when is lunch today?", "I cannot tell")
    assert kinds(world, lesson)[-2:] == ["injected", "ignored"]
    assert world.memory.audit.check() == []


def test_a_lesson_that_did_not_fit_into_the_prompt_was_not_injected() -> None:
    world = World()
    lesson = taught(world)
    recalled = world.memory.recalling.recall(ANA, "when is lunch?")
    world.memory.recording.accept(message())
    recall = replace(recalled, vector=None, shown_ids=())
    world.memory.recording.finish(replace(run_of(world), recalls=[recall]))
    assert world.episode(lesson) == lesson
    ((retrieval, items),) = world.memory.audit.run(ANA.workspace, "r1").recalls
    assert (items, retrieval.counts["selected"]) == ((), 1)


def test_an_answer_that_was_shown_what_is_forgotten_meanwhile_is_not_kept() -> None:
    world = World()
    taught(world)
    recalled = world.memory.recalling.recall(scope("ana"), "when is lunch?")
    assert recalled.exemplars
    world.memory.privacy.forget(ANA.workspace, "ana")
    world.memory.recording.accept(message())
    shown = tuple(exemplar.episode.id for exemplar in recalled.exemplars)
    recall = replace(recalled, vector=None, shown_ids=shown)
    assert not world.memory.recording.finish(replace(run_of(world), recalls=[recall]))
    (waiting,) = world.memory.recording.unfinished()
    assert (waiting.incoming.event_id, waiting.incoming.progress) == ("e1", Progress.ACCEPTED)
    assert world.memory.recording.finish(run_of(world))


def test_a_recall_for_an_unknown_node_is_recorded_without_items() -> None:
    world = World()
    lesson = taught(world)
    recalled = world.memory.recalling.recall(ANA, "when is lunch?")
    recall = replace(recalled, node_path="0.7", vector=None, shown_ids=(lesson.id,))
    world.memory.recording.accept(message())
    world.memory.recording.finish(replace(run_of(world), recalls=[recall]))
    assert world.episode(lesson) == lesson


@given(st.lists(st.sampled_from(["at noon sharp", "never, not at noon sharp", "who knows", "👍"]), max_size=12))
def test_no_series_of_answers_leaves_the_bounds(answers: list[str]) -> None:
    world = World()
    lesson = taught(world)
    for answer in answers:
        world.ask("when is lunch?", answer)
    after = world.episode(lesson)
    assert after.nudge >= NUDGE_MIN
    assert 0.5 <= after.strength <= 1.0
    assert 0.0 < after.salience <= SALIENCE_MAX
    assert after.retrieval_count == len(answers)
    assert world.recalled("when is lunch?") == [lesson.id]
    assert world.memory.audit.check() == []


def test_attention_rises_with_use_and_fades_unused() -> None:
    world = World()
    lesson = taught(world)
    world.clock.tick(days=14)
    world.ask("when is lunch?", "at noon sharp")
    assert round(world.episode(lesson).salience, 3) == 0.6


def test_the_lessons_an_answer_rests_on() -> None:
    world = World()
    lesson = taught(world)
    using = world.ask("when is lunch?", "at noon sharp", children=[("when is lunch?", Termination.SUCCESS)])
    (used,) = world.lessons_used(using)
    assert used.episode.id == lesson.id
    assert used.relevance == pytest.approx(1.0, abs=0.001)
    ignoring = world.ask("when is lunch?", "ask somebody else")
    assert world.lessons_used(ignoring) == ()


def test_lessons_are_judged_before_the_transaction_that_commits_the_answer() -> None:
    world = World()
    lesson = taught(world)
    judged: list[str] = []

    class Detector(OverlapDetector):
        def detect_all(
            self, exemplars: Iterable[Exemplar], question: str, answer: str, action: str = ""
        ) -> list[DetectedSignal]:
            with world.memory.store.write():  # refused inside of another one
                judged.append(answer)
            return super().detect_all(exemplars, question, answer, action)

    recalled = world.memory.recalling.recall(ANA, "when is lunch?")
    recall = replace(recalled, vector=None, shown_ids=(lesson.id,))
    world.memory.recording.accept(message())
    recording = Recording(replace(world.memory.core, detector=Detector()))
    assert recording.finish(replace(run_of(world, parts=["at noon sharp"]), recalls=[recall]))
    assert (judged, world.episode(lesson).used_count) == (["at noon sharp"], 1)


@pytest.mark.parametrize("answer", ["at noon sharp", "ask somebody else"])
def test_what_is_to_be_posted_is_the_same_after_a_restart(answer: str) -> None:
    world = World()
    world.correct(taught(world, answer="at three"), "at noon sharp")
    taught(world, "when is lunch on Fridays?", "at noon sharp")
    recalled = world.memory.recalling.recall(ANA, "when is lunch?")
    shown = tuple(exemplar.episode.id for exemplar in recalled.exemplars)
    world.memory.recording.accept(message())
    recall = replace(recalled, vector=None, shown_ids=shown)
    committed = world.memory.recording.finish(replace(run_of(world, parts=[answer, "really"]), recalls=[recall]))
    assert committed is not None
    found = world.memory.recording.unsent(ANA.workspace, "r1")
    assert found.parts == committed.parts
    named = [[(each.episode.id, each.relevance, each.is_guess) for each in of.lessons] for of in (committed, found)]
    assert named[0] == named[1]
    assert bool(named[0]) is (answer == "at noon sharp")
    world.memory.recording.sent(ANA.workspace, "r1", 1, "m1")
    assert [part.text for part in world.memory.recording.unsent(ANA.workspace, "r1").parts] == ["really"]


def test_a_mistake_is_not_named_beside_its_correction() -> None:
    world = World()
    lesson = world.correct(world.ask("when is lunch?", "at three"), "at noon sharp")
    using = world.ask("when is lunch?", "at noon sharp")
    used = world.lessons_used(using)
    assert [each.episode.id for each in used] == [lesson.id]


@pytest.mark.parametrize("ending", Termination)
def test_children_are_linked_to_their_parents(ending: Termination) -> None:
    world = World()
    root = world.ask("both", children=[("half", ending), ("rest", ending)])
    view = world.memory.audit.run(root.workspace, root.run_id)
    assert [(link.from_id, link.to_id) for link in view.links] == [(node.id, root.id) for node in view.nodes[1:]]


def test_a_run_without_a_message_is_a_librarys_own() -> None:
    world = World()
    empty = Recollection(retrieval_id="q", goal="lunch?", exemplars=(), counts=StageCounts())
    assert world.memory.recording.finish(replace(run_of(world, ""), recalls=[empty], parts=[]))
    assert (episodes(world), unfinished(world)) == (1, [])


def test_beliefs_are_computed_before_the_transaction_that_stores_them() -> None:
    world = World()
    world.memory.recording.accept(message())

    def beliefs() -> tuple[Belief, ...]:
        with world.memory.store.read():  # impossible inside of another transaction
            return (Belief(action="answer", value=0.5, prior=0.0),)

    evidence = Evidence(beliefs=UnreadBeliefs((), beliefs), nearest=0.7, lessons=1)
    recall = Recollection(retrieval_id="q1", goal="lunch?", exemplars=(), counts=StageCounts(), evidence=evidence)
    assert world.memory.recording.finish(replace(run_of(world), recalls=[recall]))
    with world.memory.store.read() as tx:
        [(stored, _)] = tx.retrievals.of_run(ANA.workspace, "r1")
    assert stored.evidence is not None
    assert [(each.action, each.value) for each in stored.evidence.beliefs] == [("answer", 0.5)]
