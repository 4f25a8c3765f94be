"""Teaching as people do it: correct, undo, grade, promote, archive, and reactions that come early, late or twice."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory.errors import InvalidInput, NotFound
from memory.model import (
    Audience,
    Episode,
    EpisodeStatus,
    EventKind,
    Lesson,
    Origin,
    Role,
    Termination,
    Verdict,
    Verdicts,
    Visibility,
)
from memory.rules.fold import unjudged
from memory.services import CORRECTION_CHARACTERS
from memory.services.teaching.correct import taught_lesson
from tests.doubles.memory_world import START, World, scope

S, F, P = Verdict.SUCCESS, Verdict.FAILURE, Verdict.PENDING
ANA, BOB = scope("ana"), scope("bob")


def undo(world: World, person: str = "ana", *, event_id: str = "") -> str:
    """What was taken back; empty for nothing."""
    at = world.clock.tick()
    undone = world.memory.teaching.undo(ANA.workspace, person, at=at, event_id=event_id)
    return undone.what if undone else ""


def lessons(world: World, person: str, goal: str = "lunch?") -> list[tuple[Lesson, str, str]]:
    """(lesson, what was answered, what to do instead) this person would be reminded of, the good ones first."""
    found = world.memory.recalling.recall(scope(person), goal).exemplars
    told = [(each.lesson, each.episode.output, each.episode.correction) for each in found]
    return sorted(told, key=lambda each: each[0], reverse=True)


def test_a_lesson_that_somebody_wrote_begins_as_nobody_touched_it() -> None:
    lesson = taught_lesson(World().memory.core, ANA, "lunch?", "At noon.", START)
    assert unjudged(lesson) == lesson


# Corrections ------------------------------------------------------------------------------------------------------


def test_a_members_correction_works_for_that_member_alone() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    lesson = world.correct(failed, "  at noon ")
    assert lessons(world, "ana") == [(Lesson.REPEAT, "at noon", ""), (Lesson.AVOID, "at three", "at noon")]
    assert lessons(world, "bob") == []
    failed = world.episode(failed)
    assert (failed.verdicts, failed.status, failed.correction) == (
        Verdicts(personal=F, proposed=F),
        "failure",
        "at noon",
    )
    assert (lesson.verdicts, lesson.origin, lesson.author) == (
        Verdicts(personal=S, proposed=S),
        Origin.CORRECTION,
        "ana",
    )
    assert world.memory.audit.check() == []


def test_a_teachers_correction_is_live_for_the_channel_at_once() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    world.correct(failed, "at noon", by="tea", role=Role.TEACHER)
    for person in ("ana", "bob", "tea"):
        assert lessons(world, person) == [(Lesson.REPEAT, "at noon", ""), (Lesson.AVOID, "at three", "at noon")]
    assert world.recalled("lunch?", scope("bob", channel="c2")) == []


def test_all_that_a_teacher_corrects_in_a_hurry_is_live_for_the_channel() -> None:
    world = World()
    for number in range(77):
        failed = world.ask(f"what is thing {number}?", "no idea")
        world.clock.tick(seconds=100)
        lesson = world.correct(failed, f"it is number {number}", by="tea", role=Role.TEACHER)
        assert (lesson.verdicts.channel, world.episode(failed).verdicts.channel) == (S, F)
    assert world.memory.audit.check() == []


def test_a_correction_by_somebody_else_waits_for_review_and_is_shown_to_nobody_else() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    world.react(failed, "👎", by="ana")
    lesson = world.correct(failed, "at ten, trust me", by="bob")
    assert lessons(world, "ana") == [(Lesson.AVOID, "at three", "")]
    assert lessons(world, "bob") == [(Lesson.REPEAT, "at ten, trust me", "")]
    world.memory.teaching.grade(lesson.workspace, lesson.id, S, actor="tea", role=Role.TEACHER)
    assert (Lesson.AVOID, "at three", "at ten, trust me") in lessons(world, "ana")


@pytest.mark.parametrize(
    ("action", "answer", "text"),
    [("answer", "Under the pot.", "under the pot"), ("clock", "It is five.", "use the clock")],
)
def test_who_writes_what_the_answer_said_or_did_refuses_nothing(action: str, answer: str, text: str) -> None:
    world = World()
    right = world.ask("lunch?", answer, action=action)
    lesson = world.correct(right, text, by="bob", role=Role.TEACHER)
    assert (lesson.verdict, world.episode(right).verdict, world.episode(right).correction) == (S, P, text)
    assert [each[0] for each in lessons(world, "cy")] == [Lesson.REPEAT]
    assert undo(world, "bob") == "correction"
    assert (world.episode(right).correction, undo(world, "bob")) == ("", "")
    world.react(right, "👎", by="ana")
    world.correct(right, text)
    assert world.episode(right).verdicts.personal is F
    assert world.memory.audit.check() == []


def test_an_answer_that_gave_up_says_nothing_that_a_correction_could_repeat() -> None:
    world = World()
    failed = world.ask("lunch?", "I don't know.", termination=Termination.FAILURE)
    world.correct(failed, "I don't know.")
    assert world.episode(failed).verdict is F


def test_a_second_correction_replaces_the_first_and_undo_brings_it_back() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    first = world.correct(failed, "at one")
    before = lessons(world, "ana")
    second = world.correct(failed, "at noon")
    assert lessons(world, "ana") == [(Lesson.REPEAT, "at noon", ""), (Lesson.AVOID, "at three", "at noon")]
    assert world.episode(first).archived_at is not None
    assert undo(world) == "correction"
    assert lessons(world, "ana") == before == [(Lesson.REPEAT, "at one", ""), (Lesson.AVOID, "at three", "at one")]
    assert world.episode(second).archived_at is not None
    assert undo(world) == "correction"
    assert lessons(world, "ana") == []
    assert world.episode(failed).verdicts == Verdicts()
    assert undo(world) == ""
    assert world.memory.audit.check() == []


def test_a_correction_replaces_only_lessons_of_the_same_author() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    of_bob = world.correct(failed, "at one", by="bob", role=Role.TEACHER)
    world.correct(failed, "at noon")
    assert world.episode(of_bob).archived_at is None
    assert undo(world) == "correction"
    assert world.episode(failed).correction == "at one"
    assert world.memory.audit.check() == []


def test_a_correction_replaces_the_own_lesson_that_the_answer_rested_on() -> None:
    world = World()
    first = world.correct(world.ask("when is lunch?", "at three"), "at eleven sharp")
    repeated = world.ask("When  is LUNCH?", "at eleven sharp")
    world.correct(repeated, "at noon")
    assert world.episode(first).archived_at is not None
    assert undo(world) == "correction"
    assert world.episode(first).archived_at is None


@pytest.mark.parametrize("other", ["when is lunch today?", "when is lunch on day 2?", "where is lunch?"])
def test_a_correction_leaves_the_own_lesson_for_another_question_that_the_answer_rested_on(other: str) -> None:
    world = World()
    first = world.correct(world.ask("when is lunch?", "at three"), "at eleven sharp")
    mistaken = world.ask(other, "at eleven sharp")
    assert [used.episode.id for used in world.lessons_used(mistaken)] == [first.id]
    second = world.correct(mistaken, "at noon")
    assert world.episode(first).archived_at is world.episode(second).archived_at is None
    assert first.id in world.recalled("when is lunch?")
    assert second.id in world.recalled(other)
    assert undo(world) == "correction"
    assert world.episode(first).archived_at is None
    assert world.memory.audit.check() == []


def test_undoing_a_correction_leaves_the_thumb_that_came_before_it() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    world.react(failed, "👎")
    world.correct(failed, "at noon")
    assert undo(world) == "correction"
    assert lessons(world, "ana") == [(Lesson.AVOID, "at three", "")]
    assert undo(world) == "emoji:👎"
    assert lessons(world, "ana") == []


def test_a_correction_delivered_twice_is_one() -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    for expected in (True, False):
        outcome = world.memory.teaching.correct(
            ANA, failed.run_id, "at noon", role=Role.MEMBER, at=world.clock(), event_id="e1"
        )
        assert (outcome is not None) is expected
    assert world.memory.audit.statistics(ANA.workspace)[0]["origin.correction"] == 1


@pytest.mark.parametrize("text", ["", "   \n", "x" * (CORRECTION_CHARACTERS + 1)])
def test_an_unusable_correction_is_refused_and_changes_nothing(text: str) -> None:
    world = World()
    failed = world.ask("lunch?", "at three")
    with pytest.raises(InvalidInput):
        world.memory.teaching.correct(ANA, failed.run_id, text, role=Role.MEMBER, at=world.clock(), event_id="e1")
    assert world.episode(failed) == failed
    retried = world.memory.teaching.correct(
        ANA, failed.run_id, "at noon", role=Role.MEMBER, at=world.clock(), event_id="e1"
    )
    assert retried is not None


def test_an_unknown_answer_cannot_be_corrected() -> None:
    with pytest.raises(NotFound):
        World().memory.teaching.correct(ANA, "no-such-run", "at noon", role=Role.MEMBER, at=START)


def test_a_guests_correction_counts_for_nobody() -> None:
    world = World()
    failed = world.ask("lunch?", "at three", of=scope("gus"))
    world.correct(failed, "at noon", by="gus", role=Role.GUEST)
    assert lessons(world, "gus") == lessons(world, "ana") == []
    assert world.episode(failed).verdicts == Verdicts()


# Undo -------------------------------------------------------------------------------------------------------------


def test_undo_goes_back_in_the_order_of_doing_and_touches_nobody_else() -> None:
    world = World()
    first, second = world.ask("first"), world.ask("second")
    world.react(second, "👍")
    world.react(first, "👍")
    world.react(first, "👎", by="bob")
    world.memory.teaching.grade(first.workspace, first.id, F, actor="ana", role=Role.TEACHER)
    assert [undo(world) for _ in range(4)] == ["grade", "emoji:👍", "emoji:👍", ""]
    assert (world.episode(first).verdicts, world.episode(second).verdicts) == (Verdicts(proposed=F), Verdicts())
    assert undo(world, "bob") == "emoji:👎"
    assert world.memory.audit.check() == []


def test_undo_delivered_twice_is_one() -> None:
    world = World()
    for goal in ("first", "second"):
        world.react(world.ask(goal), "👍")
    assert undo(world, event_id="u1") == "emoji:👍"
    assert undo(world, event_id="u1") == ""
    assert undo(world, event_id="u2") == "emoji:👍"


def test_undo_names_the_node_that_was_graded() -> None:
    world = World()
    root = world.ask("both", children=[("half", Termination.SUCCESS)])
    child = world.nodes(root)[1]
    world.memory.teaching.grade(child.workspace, child.id, F, actor="ana", role=Role.TEACHER)
    undone = world.memory.teaching.undo(root.workspace, "ana", at=world.clock.tick())
    assert undone is not None
    assert (undone.what, undone.episode.id, undone.episode.verdict) == ("grade", child.id, P)


def test_undone_reactions_do_not_come_back_with_a_late_delivery() -> None:
    world = World()
    answer = world.ask("lunch?")
    early = world.clock()
    world.react(answer, "👍")
    undo(world)
    world.react(answer, "👍", at=early)
    assert world.episode(answer).verdict is P


people = {"ana": Role.MEMBER, "bob": Role.MEMBER, "tea": Role.TEACHER, "adm": Role.ADMIN}
acts = st.lists(
    st.tuples(
        st.sampled_from(["👍", "👎", "unreact", "correct", "grade", "undo"]),
        st.sampled_from(sorted(people)),
        st.integers(0, 1),
    ),
    max_size=8,
)


@given(acts)
def test_undoing_everything_restores_the_beginning(sequence: list[tuple[str, str, int]]) -> None:
    world = World()
    answers = [world.ask("lunch?", children=[("half", Termination.FAILURE)]), world.ask("dinner?")]
    before = [_taught(node) for answer in answers for node in world.nodes(answer)]
    for number, (what, person, which) in enumerate(sequence):
        _act(world, answers[which], what, person, number)
        assert world.memory.audit.check() == []
    for person in people:
        while undo(world, person):
            pass
    assert [_taught(node) for answer in answers for node in world.nodes(answer)] == before
    assert not any(lessons(world, person, goal) for person in people for goal in ("lunch?", "half", "dinner?"))
    assert world.memory.audit.check() == []


def _act(world: World, answer: Episode, what: str, person: str, number: int) -> None:
    role = people[person]
    match what:
        case "correct":
            world.correct(answer, f"correction {number % 3}", by=person, role=role)
        case "grade":
            world.clock.tick()
            node = world.nodes(answer)[-1]
            world.memory.teaching.grade(node.workspace, node.id, S, actor=person, role=role)
        case "undo":
            undo(world, person)
        case "unreact":
            world.react(answer, "👎", by=person, role=role, added=False)
        case emoji:
            world.react(answer, emoji, by=person, role=role)


def _taught(node: Episode) -> tuple[object, ...]:
    return (node.verdicts, node.status, node.correction, node.strength, node.archived_at)


# Grades, promotion, shelf -----------------------------------------------------------------------------------------


def test_an_administrators_grade_holds_over_all_and_can_be_taken_back() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👎")
    graded = world.memory.teaching.grade(answer.workspace, answer.id, S, actor="adm", reason="it was right")
    assert (graded.verdicts, graded.outcome_reason) == (Verdicts(personal=S, channel=S), "it was right")
    assert lessons(world, "bob") == [(Lesson.REPEAT, "an answer", "")]
    world.clock.tick()
    back = world.memory.teaching.grade(answer.workspace, answer.id, P, actor="adm")
    assert back.verdicts == Verdicts(personal=F, proposed=F)
    assert lessons(world, "bob") == []
    assert world.memory.audit.check() == []


def test_grading_twice_within_one_tick_of_the_clock_the_later_call_counts() -> None:
    world = World()
    answer = world.ask("lunch?")
    for verdict in (S, F, P, F):
        graded = world.memory.teaching.grade(answer.workspace, answer.id, verdict, actor="adm")
        assert graded.verdict is verdict


def test_one_node_can_be_graded_by_itself() -> None:
    world = World()
    root = world.ask("both", children=[("half", Termination.SUCCESS), ("rest", Termination.SUCCESS)])
    _, half, rest = world.nodes(root)
    world.memory.teaching.grade(half.workspace, half.id, F, actor="adm")
    assert [node.verdict for node in world.nodes(root)] == [P, F, P]
    world.react(root, "👍", by="tea", role=Role.TEACHER)
    assert [node.verdict for node in world.nodes(root)] == [S, F, S]
    assert world.episode(rest).status is EpisodeStatus.SUCCESS


def test_a_thumb_grades_every_node_with_its_own_ending() -> None:
    world = World()
    endings = [("a", Termination.SUCCESS), ("b", Termination.FAILURE), ("c", Termination.EXPAND)]
    root = world.ask("all", children=endings)
    world.react(root, "👍")
    assert [node.status.value for node in world.nodes(root)] == ["expand", "success", "failure", "expand"]
    world.react(root, "👎")
    assert [node.status.value for node in world.nodes(root)] == ["failure", "pending", "failure", "pending"]


def test_only_people_can_dispute_and_only_what_exists_can_be_graded() -> None:
    world = World()
    answer = world.ask("lunch?")
    with pytest.raises(InvalidInput, match="disputed"):
        world.memory.teaching.grade(answer.workspace, answer.id, Verdict.DISPUTED, actor="adm")
    with pytest.raises(NotFound):
        world.memory.teaching.grade(answer.workspace, "no-such", S, actor="adm")
    with pytest.raises(NotFound):
        world.memory.teaching.grade("terminal:other", answer.id, S, actor="adm")


def test_a_grade_delivered_twice_is_one() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.memory.teaching.grade(answer.workspace, answer.id, S, actor="adm", event_id="g1")
    world.clock.tick()
    world.memory.teaching.grade(answer.workspace, answer.id, P, actor="adm", event_id="g2")
    world.memory.teaching.grade(answer.workspace, answer.id, S, actor="adm", event_id="g1")
    assert world.episode(answer).verdict is P


def test_promotion_widens_and_narrows_again() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👍")
    elsewhere = scope("bob", channel="c2")
    for audience, here, there in [("channel", 1, 0), ("workspace", 1, 1), ("personal", 0, 0)]:
        world.memory.curation.promote(answer.workspace, answer.id, Audience(audience), actor="tea", role=Role.TEACHER)
        assert (len(world.recalled("lunch?", BOB)), len(world.recalled("lunch?", elsewhere))) == (here, there)
    assert world.recalled("lunch?", ANA) == [answer.id]
    assert world.memory.audit.check() == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.GUEST, Role.BOT])
def test_only_teachers_and_administrators_promote(role: Role) -> None:
    world = World()
    answer = world.ask("lunch?")
    with pytest.raises(InvalidInput, match="teacher"):
        world.memory.curation.promote(answer.workspace, answer.id, Audience.CHANNEL, actor="bob", role=role)
    assert world.episode(answer).promoted is None


@pytest.mark.parametrize("visibility", [Visibility.DIRECT, Visibility.PRIVATE, Visibility.SHARED])
@pytest.mark.parametrize("role", [Role.TEACHER, Role.ADMIN])
def test_nobody_promotes_out_of_a_private_conversation(visibility: Visibility, role: Role) -> None:
    world = World()
    answer = world.ask("lunch?", of=scope(visibility=visibility))
    with pytest.raises(InvalidInput, match="stays there"):
        world.memory.curation.promote(answer.workspace, answer.id, Audience.WORKSPACE, actor="x", role=role)


def test_archived_is_out_of_recall_and_back_after_restore() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👍")
    for _ in range(2):
        assert world.memory.curation.archive(answer.workspace, answer.id, actor="adm").archived_at == world.clock()
        assert world.recalled("lunch?") == []
    world.react(answer, "👎")
    assert world.recalled("lunch?") == []
    for _ in range(2):
        assert world.memory.curation.restore(answer.workspace, answer.id, actor="adm").archived_at is None
        assert lessons(world, "ana") == [(Lesson.AVOID, "an answer", "")]
    kinds = [event.kind for event in world.memory.audit.run(answer.workspace, answer.run_id).events]
    assert (kinds.count(EventKind.ARCHIVED), kinds.count(EventKind.RESTORED)) == (1, 1)
    assert world.memory.audit.check() == []


# Reactions that come early, late, or from nobody who counts -------------------------------------------------------


def test_a_repeated_event_changes_nothing() -> None:
    world = World()
    answer = world.ask("lunch?")
    assert world.react(answer, "👍", event_id="e1").changed
    undo(world)
    again = world.react(answer, "👍", event_id="e1")
    assert (again.changed, again.is_new_opinion, world.episode(answer).verdict) == (False, False, P)


def test_an_unknown_message_changes_nothing() -> None:
    world = World()
    answer = world.ask("lunch?")
    assert not world.react(answer, "👍", message_id="no-such").is_known
    assert not world.react(answer, "👍", channel="c2").is_known
    assert world.episode(answer) == answer


def test_the_second_part_of_an_answer_counts_as_the_first_does() -> None:
    world = World()
    answer = world.ask("lunch?", parts=3)
    world.react(answer, "👍", message_id=f"m-{answer.run_id}/2")
    assert world.episode(answer).verdict is S
    world.react(answer, "👎", message_id=f"m-{answer.run_id}/3")
    assert world.episode(answer).verdict is F
    world.react(answer, "👎", message_id=f"m-{answer.run_id}/3", added=False)
    assert world.episode(answer).verdict is S
    assert len(world.memory.audit.run(answer.workspace, answer.run_id).votes) == 1


@pytest.mark.parametrize("days", [31, 365])
def test_after_the_ledger_expired_nothing_is_taught_and_nothing_lost(days: int) -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👍")
    world.clock.tick(days=days)
    for added in (False, True, False):
        assert not world.react(answer, "👍", added=added).is_known
    assert not world.react(answer, "👎", by="bob").is_known
    assert world.episode(answer).verdict is S
    assert world.memory.audit.check() == []
    world.memory.teaching.grade(answer.workspace, answer.id, F, actor="tea", role=Role.TEACHER)
    assert world.episode(answer).verdicts == Verdicts(personal=S, channel=F)
    assert undo(world) == "emoji:👍"
    assert world.memory.audit.check() == []


def test_one_second_before_it_expires_a_reaction_still_counts() -> None:
    world = World()
    answer = world.ask("lunch?")
    world.clock.now += timedelta(days=30) - timedelta(seconds=2)
    assert world.react(answer, "👍").is_known


@pytest.mark.parametrize("own_message", [True, False])
def test_a_reaction_that_overtakes_its_answer_is_counted_when_the_answer_is_known(own_message: bool) -> None:
    world = World()
    ready = world.ask("dinner?")
    late = replace(ready, run_id="r-late", id="")
    for person, emoji, added in [("ana", "👍", True), ("bob", "👍", True), ("bob", "👍", False), ("cy", "👎", True)]:
        reaction = world.reaction(late, emoji, by=person, added=added, message_id="m-late")
        taught = world.memory.teaching.react(reaction, event_id=world.ids(), on_own_message=own_message)
        assert not taught.is_known
    answer = world.ask("lunch?", message_id="m-late")
    assert answer.verdicts == (
        Verdicts(personal=S, channel=Verdict.DISPUTED, proposed=Verdict.DISPUTED) if own_message else Verdicts()
    )
    votes = world.memory.audit.run(answer.workspace, answer.run_id).votes
    assert [vote.actor for vote in votes] == (["ana", "cy"] if own_message else [])
    assert world.memory.audit.check() == []


def test_a_removal_is_kept_only_where_there_is_something_to_take_back() -> None:
    world = World()
    ready = world.ask("dinner?")
    late = replace(ready, run_id="r-late", id="")
    for person, added, own in [("bob", False, False), ("ana", True, True), ("ana", False, False)]:
        reaction = world.reaction(late, "👍", by=person, added=added, message_id="m-late")
        world.memory.teaching.react(reaction, event_id=world.ids(), on_own_message=own)
    assert world.memory.privacy.personal_data(ready.workspace, "bob").is_empty
    assert world.ask("lunch?", message_id="m-late").verdicts == Verdicts()
    assert world.memory.audit.check() == []


def test_bots_are_not_even_recorded_and_guests_are_seen_but_not_counted() -> None:
    world = World()
    answer = world.ask("lunch?")
    assert not world.react(answer, "👍", by="bot", role=Role.BOT).is_known
    assert world.react(answer, "👎", by="gus", role=Role.GUEST).changed
    view = world.memory.audit.run(answer.workspace, answer.run_id)
    assert ([vote.actor for vote in view.votes], view.root.verdict) == (["gus"], P)


@pytest.mark.parametrize(
    ("role", "verdicts"),
    [
        (Role.MEMBER, Verdicts(proposed=S)),
        (Role.GUEST, Verdicts()),
        (Role.TEACHER, Verdicts(channel=S)),
        (Role.ADMIN, Verdicts(personal=S, channel=S)),
    ],
)
def test_what_the_thumb_of_somebody_else_decides(role: Role, verdicts: Verdicts) -> None:
    world = World()
    answer = world.ask("lunch?")
    world.react(answer, "👍", by="bob", role=role)
    assert world.episode(answer).verdicts == verdicts
