"""What members propose without deciding it: evidence for the others of their place, and for nobody else."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory.model import Audience, Episode, Role, Scope, TeachingPolicy, Verdict, Verdicts, Visibility
from memory.model.evidence import INITIAL_THRESHOLD, ActionText, Evidence
from memory.rules.audience import index_entries_of, proposals_for
from memory.rules.evidence.posterior import EvidenceConfig
from memory.services.recall.evidence import Weighing
from tests.doubles.memory_world import World, scope
from tests.memory.services.recall.test_recall import Lived, allowed, live, lived, names, reaching, scopes

GOAL = "where do I get a parking permit?"
RIGHT, POISON = "At the front desk.", "Nowhere, park on the lawn."
PUBLIC, PRIVATE, SHARED, DIRECT = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.SHARED, Visibility.DIRECT
P, S, F = Verdict.PENDING, Verdict.SUCCESS, Verdict.FAILURE


def weigh(world: World, person: str = "vic", of: Scope | None = None) -> Evidence:
    return world.memory.recalling.weighing.weigh(of or scope(person), GOAL, ())


def believed(world: World, text: str = RIGHT, person: str = "vic") -> float:
    return next((each.value for each in weigh(world, person).beliefs if each.text == text), 0.0)


def answered(world: World, *approving: str, of: Scope | None = None, text: str = RIGHT) -> Episode:
    answer = world.ask(GOAL, text, of=of)
    for person in approving:
        world.react(answer, "👍", by=person)
    return world.episode(answer)


def months_later(world: World) -> None:
    """Nobody who comes from now on is one of the first."""
    world.ask("good morning")
    world.clock.tick(days=60)


# What it is worth -------------------------------------------------------------------------------------------------


def test_one_member_suggests_and_two_who_agree_are_followed() -> None:
    world = World()
    answer = answered(world, "ana")
    assert 0.05 < believed(world) < INITIAL_THRESHOLD
    assert believed(world, person="ana") > 2 * INITIAL_THRESHOLD
    world.react(answer, "👍", by="bob")
    assert believed(world) > INITIAL_THRESHOLD
    assert world.episode(answer).verdicts == Verdicts(personal=S, proposed=S)


@pytest.mark.parametrize("approving", [("ana",), ("ana", "bob")])
def test_what_the_same_members_say_again_adds_next_to_nothing(approving: tuple[str, ...]) -> None:
    world = World()
    answered(world, *approving)
    once = believed(world)
    for _ in range(9):
        answered(world, *approving)
    assert once < believed(world) < 1.02 * once


def test_two_who_agree_are_followed_where_there_are_tools_for_other_things_too() -> None:
    world = World()
    answer = answered(world, "ana")
    clock = ActionText(name="clock", description="Tells the time of day.")
    weighing = world.memory.recalling.weighing
    assert not weighing.weigh(scope("vic"), GOAL, [clock]).is_sure
    world.react(answer, "👍", by="bob")
    assert weighing.weigh(scope("vic"), GOAL, [clock]).is_sure


def test_one_member_with_ten_lessons_still_only_suggests() -> None:
    world = World()
    for _ in range(10):
        answered(world, "ana")
    assert believed(world) < INITIAL_THRESHOLD


def test_whoever_asked_cannot_make_void_what_others_approved() -> None:
    world = World()
    answer = world.ask(GOAL, RIGHT, of=scope("eve"))
    world.react(answer, "👍", by="tess", role=Role.TEACHER)
    world.react(answer, "👍", by="bob")
    before = believed(world)
    answered(world, "eve", "mal", of=scope("eve"), text=POISON)
    assert weigh(world).beliefs[0].text == RIGHT
    assert believed(world) > before - 0.1
    assert believed(world, POISON) < INITIAL_THRESHOLD


@pytest.mark.parametrize("audience", [Audience.CHANNEL, Audience.WORKSPACE])
def test_what_a_teacher_promotes_is_followed_where_it_was_said_too(audience: Audience) -> None:
    world = World()
    answer = answered(world, "ana")
    assert believed(world) < INITIAL_THRESHOLD
    world.memory.curation.promote(answer.workspace, answer.id, audience, actor="tess", role=Role.TEACHER)
    assert weigh(world).is_sure
    assert believed(world) > 2 * INITIAL_THRESHOLD


def test_two_who_say_the_opposite_in_nearly_the_same_words_do_not_agree() -> None:
    world = World()
    may, may_not = "You may take the dog with you to the office.", "You may not take the dog with you to the office."
    answered(world, "ana", text=may)
    alone = believed(world, may)
    answered(world, "bob", text=may_not)
    assert {each.text for each in weigh(world).beliefs} == {may, may_not}
    assert max(believed(world, may), believed(world, may_not)) <= alone < INITIAL_THRESHOLD
    assert not weigh(world).is_sure


def test_a_refusal_speaks_against_what_another_approved() -> None:
    world = World()
    answer = answered(world, "ana")
    before = believed(world)
    world.react(answer, "👎", by="bob")
    assert believed(world) < before
    assert world.episode(answer).verdicts.proposed is Verdict.DISPUTED
    world.react(answer, "👎", by="bob", added=False)
    assert believed(world) == before


def test_what_as_many_refuse_as_approve_says_nothing() -> None:
    world = World()
    world.react(answered(world, "ana"), "👎", by="bob")
    assert weigh(world).lessons == 0


def test_of_what_more_approve_than_refuse_both_sides_speak() -> None:
    world = World()
    answer = world.ask(GOAL, RIGHT, of=scope("tina"))
    world.react(world.ask("good morning"), "👍", by="tina", role=Role.TEACHER)
    for person in ("ana", "bob", "cy"):
        world.react(answer, "👍", by=person)
    before = believed(world)
    world.react(answer, "👎", by="dan")
    assert 0 < believed(world) < before


def test_a_teachers_word_is_surer_than_that_of_two_members() -> None:
    of_two, of_a_teacher = World(), World()
    answered(of_two, "ana", "bob")
    of_a_teacher.react(answered(of_a_teacher), "👍", by="tina", role=Role.TEACHER)
    assert INITIAL_THRESHOLD < believed(of_two) < believed(of_a_teacher)


def test_one_refusal_leaves_an_answer_that_several_approved_believed() -> None:
    world = World()
    answer = answered(world, "bob", "cy", "dan")
    assert world.episode(answer).verdicts.channel is S
    world.react(answer, "👎", by="eve")
    assert world.episode(answer).verdicts.channel is S
    assert believed(world) > INITIAL_THRESHOLD
    assert world.recalled(GOAL, scope("vic")) == [answer.id]


def test_one_refusal_leaves_what_two_approved_sure_enough_to_be_told() -> None:
    world = World()
    answer = answered(world, "ana", "bob")
    clock = ActionText(name="clock", description="Tells the time of day.")
    weighing = world.memory.recalling.weighing
    world.react(answer, "👎", by="eve")
    assert weighing.weigh(scope("vic"), GOAL, ()).is_sure
    assert weighing.weigh(scope("vic"), GOAL, [clock]).is_sure
    world.react(answer, "👎", by="dan")
    assert not weighing.weigh(scope("vic"), GOAL, ()).is_sure


@pytest.mark.parametrize("by", ["dan", "eve"])
def test_one_refusal_is_alone_though_the_answer_was_refused_for_another_question(by: str) -> None:
    world = World()
    world.react(world.ask("who won the cup last year", RIGHT), "👎", by=by)
    world.react(answered(world, "ana", "bob"), "👎", by="eve")
    assert weigh(world).is_sure


def test_who_was_proven_right_is_believed_more() -> None:
    world = World()
    for number in range(2):
        other = world.ask(f"how do I reset router number {number}?", f"button {number}")
        world.react(other, "👍", by="ana")
        world.clock.tick()
        world.memory.teaching.grade(other.workspace, other.id, S, actor="adm")
    answered(world, "ana")
    assert believed(world) > INITIAL_THRESHOLD


def test_lessons_can_be_kept_strictly_to_who_approved_them() -> None:
    world = World()
    answered(world, "ana")
    strict = Weighing(world.memory.core, EvidenceConfig(proposals=False))
    assert strict.weigh(scope("vic"), GOAL, ()) == Evidence()
    assert strict.weigh(scope("ana"), GOAL, ()).confidence > INITIAL_THRESHOLD


# Where it is found ------------------------------------------------------------------------------------------------


def test_it_is_no_lesson_in_prompts_and_lists_unless_the_evidence_is_sure() -> None:
    world = World()
    world.actions = ()
    with_teacher(world)
    answer = answered(world, "ana")
    found = world.memory.recalling.recall(scope("vic"), GOAL, actions=())
    assert found.exemplars == ()
    assert world.memory.recalling.recall(scope("vic"), GOAL).exemplars == ()
    for person in ("bob", "cy"):
        world.react(answer, "👍", by=person)
    assert world.episode(answer).verdicts.channel is P
    (shown,) = world.memory.recalling.recall(scope("vic"), GOAL, actions=()).exemplars
    assert (shown.episode.id, shown.is_proposed) == (answer.id, True)
    assert world.memory.recalling.recall(scope("vic"), GOAL).exemplars == ()
    told = world.ask(GOAL, RIGHT, of=scope("vic"))
    (used,) = world.lessons_used(told)
    assert (used.episode.id, used.is_proposed) == (answer.id, True)


def test_an_answer_that_repeats_it_though_the_evidence_is_not_sure_names_it_all_the_same() -> None:
    world = World()
    world.actions = ()
    with_teacher(world)
    answer = answered(world, "ana")
    told = world.ask(GOAL, RIGHT, of=scope("vic"))
    (used,) = world.lessons_used(told)
    assert (used.episode.id, used.is_proposed, used.relevance) == (answer.id, True, None)
    assert world.lessons_used(world.ask(GOAL, "something else", of=scope("vic"))) == ()


@given(st.lists(lived, min_size=1, max_size=5))
def test_nobody_meets_as_evidence_what_is_not_of_their_place(lives: list[Lived]) -> None:
    world = World()
    made = [each for number, life in enumerate(lives) for each in live(world, life, number)]
    made = [world.episode(each) for each in made]
    now = {(each.workspace, each.channel): each.channel_visibility for each in made}
    askers = {(life.workspace, person, life.channel) for life in lives for person in ("ana", "bob")}
    for workspace, person, channel in sorted(askers):
        for visibility in Visibility:
            asker = scope(person, workspace=workspace, channel=channel, visibility=visibility)
            evidence = world.memory.recalling.weighing.weigh(asker, "the one question", ())
            for episode_id in evidence.record.episode_ids:
                episode = next(each for each in made if each.id == episode_id)
                then = now[episode.workspace, episode.channel] or episode.visibility
                assert allowed(episode, asker, then) or is_of_the_place(episode, asker, then)
    assert world.memory.audit.check() == []


def is_of_the_place(episode: Episode, asker: Scope, now: Visibility) -> bool:
    """Said again in other words than the code's: no direct messages, and both what its channel was and is allow it."""
    if episode.archived_at is not None or episode.quarantine or DIRECT in (episode.visibility, asker.visibility):
        return False
    reached = reaching(episode, asker, episode.visibility) & reaching(episode, asker, now)
    return episode.workspace == asker.workspace and Audience.CHANNEL in reached


@given(scopes, scopes, names, st.none() | st.sampled_from([PUBLIC, PRIVATE, SHARED]))
def test_no_name_can_spell_its_way_into_another_places_proposals(
    made: Scope, asker: Scope, author: str, now: Visibility | None
) -> None:
    episode = Episode(
        goal="g",
        workspace="w",
        channel=made.channel,
        person=made.person,
        author=author,
        visibility=made.visibility,
        channel_visibility=now,
        verdicts=Verdicts(proposed=S),
    )
    named = set(proposals_for(asker))
    found = any(entry.partition in named for entry in index_entries_of(episode))
    assert found is is_of_the_place(episode, asker, now or made.visibility)


@pytest.mark.parametrize("act", ["withdraw", "archive", "forget", "purge", "narrow"])
def test_what_takes_a_lesson_away_takes_its_proposal_away(act: str) -> None:
    world = World()
    answer = answered(world, "ana")
    assert believed(world) > 0
    match act:
        case "withdraw":
            world.react(answer, "👍", added=False)
        case "archive":
            world.memory.curation.archive(answer.workspace, answer.id, actor="ana")
        case "forget":
            world.memory.privacy.forget(answer.workspace, "ana")
        case "purge":
            world.memory.purging.purge(answer.workspace, "ana", actor="adm", at=world.clock.tick())
        case "narrow":
            world.memory.channels.note(scope("bob", visibility=PRIVATE))
    assert weigh(world).lessons == 0
    assert world.memory.audit.check() == []
    if act == "narrow":
        assert weigh(world, of=scope("bob", visibility=PRIVATE)).lessons == 1
    if act == "archive":
        world.memory.curation.restore(answer.workspace, answer.id, actor="ana")
        assert believed(world) > 0
        assert world.memory.audit.check() == []


def test_a_rebuild_finds_proposals_and_what_votes_may_do() -> None:
    world = World()
    answer = answered(world, "ana")
    before = weigh(world)
    with world.memory.store.write() as tx:
        tx.episodes.set_index(answer.workspace, answer.id, [])
    assert weigh(world) != before
    assert world.memory.audit.check() != []
    world.memory.audit.rebuild()
    assert weigh(world) == before
    assert world.memory.audit.check() == []


# Newcomers --------------------------------------------------------------------------------------------------------


def test_newcomers_weigh_nothing_for_others_until_they_are_known() -> None:
    world = World()
    months_later(world)
    for eve in ("eve-1", "eve-2", "eve-3"):
        answered(world, "eve-1", "eve-2", "eve-3", of=scope(eve), text=POISON)
    assert weigh(world).lessons == 0
    assert believed(world, POISON, "eve-1") > INITIAL_THRESHOLD
    assert world.recalled(GOAL, scope("vic")) == []
    world.clock.tick(days=8)
    assert weigh(world).lessons == 0  # what they approved as newcomers stays theirs
    answered(world, "eve-1", text=POISON, of=scope("eve-1"))
    assert believed(world, POISON) > 0
    assert world.memory.audit.check() == []


def test_a_newcomers_vote_counts_once_a_teacher_confirmed_something_of_theirs() -> None:
    world = World()
    months_later(world)
    other = world.ask("how do I reset the router?", "hold the button")
    answered(world, "new", of=scope("new"))
    world.react(other, "👍", by="new")
    assert believed(world) == 0
    world.react(other, "👍", by="tea", role=Role.TEACHER)
    assert believed(world) > 0
    world.react(other, "👍", by="tea", role=Role.TEACHER, added=False)
    assert believed(world) == 0
    assert world.memory.audit.check() == []


def test_agreeing_with_what_a_teacher_approved_already_makes_nobody_known() -> None:
    world = World()
    months_later(world)
    answered(world, "new", of=scope("new"))
    other = world.ask("how do I reset the router?", "hold the button")
    world.react(other, "👍", by="tea", role=Role.TEACHER)
    world.react(other, "👍", by="new")
    assert believed(world) == 0


def test_teachers_and_the_people_of_the_first_days_are_known_at_once() -> None:
    world = World()
    world.ask("good morning")
    world.clock.tick(days=6)
    answered(world, "ana", of=scope("ana"))
    assert believed(world) > 0
    world.clock.tick(days=60)
    answer = world.ask("how do I reset the router?", "hold the button")
    world.react(answer, "👍", by="tea", role=Role.TEACHER)
    assert world.episode(answer).verdicts.channel is S


def test_how_long_one_is_a_newcomer_is_a_setting() -> None:
    world = World(policy=TeachingPolicy(newcomer=timedelta(0)))
    months_later(world)
    answered(world, "new", of=scope("new"))
    assert believed(world) > 0
    with pytest.raises(ValueError, match="newcomer"):
        TeachingPolicy(newcomer=timedelta(days=-1))


def test_who_was_forgotten_comes_back_as_a_newcomer() -> None:
    world = World()
    answered(world, "ana")
    months_later(world)
    world.memory.privacy.forget("terminal:w", "ana")
    answered(world, "ana")
    assert weigh(world).lessons == 0


# Where there is a teacher -----------------------------------------------------------------------------------------


def with_teacher(world: World) -> None:
    world.react(world.ask("how do I reset the router?", "hold the button"), "👍", by="tea", role=Role.TEACHER)


def test_where_there_is_a_teacher_members_propose() -> None:
    world = World()
    early = answered(world, "bob", "cy")
    with_teacher(world)
    late = answered(world, "bob", "cy")
    assert world.episode(early).verdicts == Verdicts(channel=S)
    assert world.episode(late).verdicts == Verdicts(proposed=S)
    assert world.memory.audit.check() == []


def test_two_refusals_cannot_undermine_what_a_teacher_taught() -> None:
    world = World()
    taught = world.ask(GOAL, RIGHT)
    world.react(taught, "👍", by="tea", role=Role.TEACHER)
    before = believed(world)
    for _ in range(10):
        unjudged = world.ask(GOAL, RIGHT, of=scope("vic"))
        for eve in ("eve", "mallory"):
            world.react(unjudged, "👎", by=eve)
        assert world.episode(unjudged).verdicts == Verdicts(proposed=F)
    assert [each.verdict for each in world.memory.recalling.recall(scope("vic"), GOAL).exemplars] == [S]
    assert before - believed(world) < 0.2
    assert believed(world) > 2 * INITIAL_THRESHOLD


@pytest.mark.parametrize("teacher_is_first", [True, False])
def test_the_order_of_arrival_does_not_matter_for_who_decides(*, teacher_is_first: bool) -> None:
    """Of two deliveries, the earlier act may come second: votes after the teacher's first one only propose."""
    world = World()
    early, late, of_teacher = world.ask("lunch?"), world.ask("dinner?"), world.ask("tea?")
    moments = [world.clock.tick() for _ in range(5)]
    thumbs = [world.reaction(early, by=person, at=at) for person, at in zip(("bob", "cy"), moments[:2], strict=True)]
    thumbs += [world.reaction(late, by=person, at=at) for person, at in zip(("bob", "cy"), moments[3:], strict=True)]
    teachers = world.reaction(of_teacher, by="tea", role=Role.TEACHER, at=moments[2])
    for reaction in [teachers, *thumbs] if teacher_is_first else [*thumbs, teachers]:
        world.memory.teaching.react(reaction, event_id=world.ids())
    assert [world.episode(each).verdicts.channel for each in (early, late)] == [S, P]
    world.memory.privacy.forget("terminal:w", "tea")
    assert [world.episode(each).verdicts.channel for each in (early, late)] == [S, S]
    assert world.memory.audit.check() == []
