"""People who vote in bad faith: what they reach, and what it costs them."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest

from memory.model import Audience, Episode, EventKind, Lesson, Role, TeachingPolicy, Verdict, Verdicts, Visibility
from memory.rules.verdict import REVIEW
from memory.services import VoteResult
from tests.doubles.attack_world import Attacked
from tests.doubles.memory_world import START, World, scope

S, F, P, D = Verdict.SUCCESS, Verdict.FAILURE, Verdict.PENDING, Verdict.DISPUTED


def approved(
    world: World, goal: str, answer: str = "an answer", *, by: tuple[str, ...] = ("bob", "cy"), asker: str = "ana"
) -> Episode:
    asked = world.ask(goal, answer, of=scope(asker))
    for person in by:
        world.react(asked, "👍", by=person)
    return world.episode(asked)


def verify(world: World, episode: Episode, verdict: Verdict) -> None:
    world.clock.tick()
    world.memory.teaching.grade(episode.workspace, episode.id, verdict, actor="owner", role=Role.ADMIN)


def channel(world: World, episode: Episode) -> Verdict:
    return world.episode(episode).verdicts.channel


class TestSpite(Attacked):
    """One person who hurts others."""

    def test_one_spiteful_person_makes_no_channel_lesson_and_decides_nothing(self, world: World) -> None:
        answers = [world.ask(f"question number {n}") for n in range(5)]
        for answer in answers:
            world.react(answer, "👎", by="eve")
        assert {channel(world, answer) for answer in answers} == {P}
        assert world.recalled("question number 1", scope("eve")) == []

    def test_one_spiteful_person_unmakes_nothing_that_several_approved(self, world: World) -> None:
        good = approved(world, "question number 1")
        world.react(good, "👎", by="eve")
        assert channel(world, good) is S
        assert world.recalled("question number 1", scope("dora")) == [good.id]

    def test_spite_of_two_blocks_only_until_an_administrator_has_spoken_once(self, world: World) -> None:
        good = [approved(world, f"question number {n}") for n in range(4)]
        for answer in good:
            for spiteful in ("eve", "mallory"):
                world.react(answer, "👎", by=spiteful)
        assert {channel(world, answer) for answer in good} == {D}
        verify(world, good[0], S)
        # What they said elsewhere is as if it had never been said: their record weighs nothing, and nothing in reverse.
        assert {channel(world, answer) for answer in good} == {S}
        assert good[3].id in world.recalled("question number 3", scope("dora"))

    def test_mass_rejection_by_one_person_changes_nothing_for_others(self, world: World) -> None:
        taught = [approved(world, f"thing {n}") for n in range(3)]
        for answer in taught:
            world.memory.teaching.grade(answer.workspace, answer.id, S, actor="tea", role=Role.TEACHER)
            for emoji_of in ("eve", "eve"):
                world.react(answer, "👎", by=emoji_of)
        assert {channel(world, answer) for answer in taught} == {S}

    def test_the_own_scope_of_somebody_nobody_trusts_is_theirs(self, world: World) -> None:
        for n in range(4):
            verify(world, approved(world, f"question number {n}", by=("eve",)), F)
        mine = world.ask("my coffee?", "black", of=scope("eve"))
        world.react(mine, "👍", by="eve")
        assert world.episode(mine).verdicts == Verdicts(personal=S)
        assert world.recalled("my coffee?", scope("eve")) == [mine.id]
        assert world.recalled("my coffee?") == []


class TestSelfApproval(Attacked):
    """One person who approves their own."""

    def test_what_one_approves_oneself_is_for_oneself(self, world: World) -> None:
        for n in range(10):
            own = world.ask("which shop?", f"eve's shop {n}", of=scope("eve"))
            world.react(own, "👍", by="eve")
            world.memory.teaching.grade(own.workspace, own.id, S, actor="eve", role=Role.MEMBER)
            world.correct(own, f"eve's other shop {n}", by="eve")
        assert world.recalled("which shop?") == []
        assert world.recalled("which shop?", scope("eve")) != []

    def test_one_author_has_one_voice_however_many_messages_corrections_and_promotions(self, world: World) -> None:
        flood: set[str] = set()
        for n in range(6):
            own = world.ask("which shop?", f"shop {n} of eve", of=scope("eve"))
            world.memory.teaching.grade(own.workspace, own.id, S, actor="tea", role=Role.TEACHER)
            flood.add(own.id)
            others = world.ask("which shop?", f"wrong {n}", of=scope(f"person-{n}"))
            lesson = world.correct(others, f"shop {n + 10} of eve", by="eve")
            world.memory.teaching.grade(others.workspace, others.id, F, actor="tea", role=Role.TEACHER)
            world.memory.teaching.grade(lesson.workspace, lesson.id, S, actor="tea", role=Role.TEACHER)
            world.memory.curation.promote(
                lesson.workspace, lesson.id, Audience.WORKSPACE, actor="tea", role=Role.TEACHER
            )
            flood.add(lesson.id)
        exemplars = world.memory.recalling.recall(scope("bob"), "which shop?").exemplars
        of_eve = [each for each in exemplars if each.episode.author == "eve" and each.lesson is not Lesson.AVOID]
        assert len(of_eve) == 1
        said = {each.episode.correction for each in exemplars} - {""}
        assert said <= {of_eve[0].episode.output}


class TestCollusion(Attacked):
    """Several accounts of one mind."""

    def test_three_accounts_reach_their_channel_and_no_further(self, world: World) -> None:
        bad = world.ask("which bank?", "the bank of eve", of=scope("eve-1"))
        for account in ("eve-1", "eve-2", "eve-3"):
            world.react(bad, "👍", by=account)
        assert world.episode(bad).verdicts == Verdicts(personal=S, channel=S)
        assert world.recalled("which bank?", scope("bob", channel="elsewhere")) == []

    def test_one_verified_lie_takes_all_of_theirs_back(self, world: World) -> None:
        accounts = ("eve-1", "eve-2", "eve-3")
        lies = [world.ask(f"which bank for case {n}?", "the bank of eve", of=scope("eve-1")) for n in range(5)]
        for lie in lies:
            for account in accounts:
                world.react(lie, "👍", by=account)
        assert {channel(world, lie) for lie in lies} == {S}
        verify(world, lies[2], F)
        assert {channel(world, lie) for lie in lies if lie != lies[2]} == {P}
        assert {each for n in range(5) for each in world.recalled(f"which bank for case {n}?")} <= {lies[2].id}

    def test_against_a_lesson_of_others_they_get_a_disagreement_and_not_the_answer(self, world: World) -> None:
        honest = approved(world, "which bank?", "the savings bank")
        for account in ("eve-1", "eve-2"):
            lie = world.ask("which bank?", "wire it to eve", of=scope(account))
            for voter in ("eve-1", "eve-2", "eve-3"):
                world.react(lie, "👍", by=voter)
        exemplars = world.memory.recalling.recall(scope("dora"), "which bank?").exemplars
        assert {each.lesson for each in exemplars} == {Lesson.DISPUTED}
        assert honest.id in {each.episode.id for each in exemplars}

    def test_a_teachers_word_settles_it(self, world: World) -> None:
        honest = approved(world, "which bank?", "the savings bank")
        lie = approved(world, "which bank?", "wire it to eve", by=("eve-2", "eve-3"), asker="eve-1")
        world.react(honest, "👍", by="tea", role=Role.TEACHER)
        assert world.recalled("which bank?", scope("dora")) == [honest.id]
        assert lie.id not in world.recalled("which bank?")

    def test_agreeing_with_what_is_verified_already_earns_nothing(self, world: World) -> None:
        for known in [world.ask(f"known thing {n}") for n in range(5)]:
            verify(world, known, S)
            for account in ("eve-1", "eve-2"):
                world.react(known, "👍", by=account)
        with world.memory.store.read() as tx:
            assert tx.teaching.record_of(scope().workspace, ["eve-1", "eve-2"]) == {"eve-1": (0, 0), "eve-2": (0, 0)}


class TestRecord(Attacked):
    """Who was right before counts more, and never alone."""

    policy = TeachingPolicy(quorum_up=3, quorum_down=3)

    def test_somebody_proven_right_outweighs_a_missing_voice_but_not_the_second_person(self, world: World) -> None:
        for n in range(3):
            verify(world, approved(world, f"question number {n}", by=("bob",)), S)
        lone = world.ask("alone?")
        world.react(lone, "👍", by="bob")
        assert channel(world, lone) is P
        world.react(lone, "👍", by="cy")
        assert channel(world, lone) is S
        fresh = world.ask("two newcomers?")
        for person in ("cy", "dora"):
            world.react(fresh, "👍", by=person)
        assert channel(world, fresh) is P


class TestTrust(Attacked):
    """What an administrator decides says how far the voters are trusted elsewhere."""

    def test_taking_the_verification_back_gives_the_trust_back(self, world: World) -> None:
        first, second = approved(world, "one?"), approved(world, "two?")
        verify(world, first, F)
        assert (channel(world, first), channel(world, second)) == (F, P)
        verify(world, first, P)
        assert (channel(world, first), channel(world, second)) == (S, S)

    @pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
    def test_order_of_arrival_does_not_matter(self, world: World, order: tuple[int, ...]) -> None:
        asked = [world.ask(f"question number {n}") for n in range(2)]
        acts = [
            world.reaction(asked[0], "👍", by="eve", at=START + timedelta(minutes=1)),
            world.reaction(asked[1], "👎", by="eve", at=START + timedelta(minutes=2)),
            world.reaction(asked[1], "👍", by="bob", at=START + timedelta(minutes=3)),
            replace(world.reaction(asked[0], "👎", by="owner", at=START + timedelta(minutes=4)), role=Role.ADMIN),
            world.reaction(asked[1], "👍", by="cy", at=START + timedelta(minutes=5)),
        ]
        for number in (*order, 4):
            world.memory.teaching.react(acts[number], event_id=f"e{number}")
        assert (channel(world, asked[0]), channel(world, asked[1])) == (F, S)

    def test_a_damaged_record_is_noticed_and_rebuilt(self, world: World) -> None:
        first, second = approved(world, "one?"), approved(world, "two?")
        verify(world, first, F)
        with world.memory.store.write() as tx:
            tx.teaching.set_trust_evidence(first.workspace, first.run_id, [])
        assert {each.what for each in world.memory.audit.check()} >= {"trust"}
        assert world.memory.audit.rebuild() > 0
        assert world.memory.audit.check() == []
        assert channel(world, second) is P

    def test_forgetting_the_administrator_takes_the_proof_along(self, world: World) -> None:
        first, second = approved(world, "one?"), approved(world, "two?")
        verify(world, first, F)
        world.memory.privacy.forget(first.workspace, "owner")
        assert (channel(world, first), channel(world, second)) == (S, S)


class TestFlipFlop(Attacked):
    """Somebody who changes their mind all day."""

    def test_the_last_word_counts_once(self, world: World) -> None:
        answer = world.ask("lunch?")
        world.react(answer, "👍", by="bob")
        for _ in range(20):
            for emoji in "👍👎":
                for added in (True, False):
                    world.react(answer, emoji, by="eve", added=added)
        assert world.episode(answer).verdicts == Verdicts(proposed=S)
        world.react(answer, "👍", by="cy")
        assert channel(world, answer) is S

    def test_a_lesson_comes_and_goes_with_it_and_nothing_piles_up(self, world: World) -> None:
        answer = world.ask("lunch?")
        for _ in range(5):
            world.react(answer, "👍", by="ana")
            assert world.recalled("lunch?") == [answer.id]
            world.react(answer, "👍", by="ana", added=False)
            assert world.recalled("lunch?") == []
        assert world.episode(answer).strength == 0.5


class TestLimits(Attacked):
    """Somebody in a hurry."""

    policy = TeachingPolicy(votes_per_window=3, promotions_per_window=2, window=timedelta(minutes=10))

    def vote(self, world: World, answers: list[Episode], person: str) -> list[VoteResult]:
        return [world.react(answer, "👍", by=person) for answer in answers]

    def test_votes_beyond_the_limit_count_for_nobody_else(self, world: World) -> None:
        answers = [world.ask(f"question number {n}", of=scope("eve")) for n in range(5)]
        told = self.vote(world, answers, "bob")
        self.vote(world, answers[3:], "cy")
        world.clock.tick(minutes=11)
        assert [each.is_limited for each in told] == [False, False, False, True, True]
        assert [channel(world, answer) for answer in answers] == [P] * 5
        self.vote(world, answers[:3], "dora")
        assert [channel(world, answer) for answer in answers] == [S, S, S, P, P]
        with world.memory.store.read() as tx:
            kept = tx.teaching.votes(answers[4].workspace, answers[4].run_id)
        assert [(vote.actor, vote.is_limited) for vote in kept] == [("bob", True), ("cy", False)]

    def test_nothing_of_the_own_scope_is_lost(self, world: World) -> None:
        own = [world.ask(f"question number {n}", of=scope("eve")) for n in range(6)]
        self.vote(world, own, "eve")
        assert {world.episode(answer).verdicts.personal for answer in own} == {S}

    def test_a_late_delivery_makes_the_same_difference_as_one_in_time(self, world: World) -> None:
        answers = [world.ask(f"question number {n}") for n in range(4)]
        acts = [world.reaction(a, "👍", by="bob", at=START + timedelta(seconds=n)) for n, a in enumerate(answers)]
        for number in (3, 1, 2):
            world.memory.teaching.react(acts[number], event_id=f"e{number}")
        world.react(answers[3], "👍", by="cy")
        assert channel(world, answers[3]) is S
        world.memory.teaching.react(acts[0], event_id="e0")
        assert channel(world, answers[3]) is P
        world.memory.teaching.react(
            replace(acts[0], is_active=False, at=START + timedelta(hours=1)), event_id="e0 back"
        )
        assert channel(world, answers[3]) is S

    def test_administrators_are_not_limited(self, world: World) -> None:
        answers = [world.ask(f"question number {n}") for n in range(6)]
        for answer in answers:
            verify(world, answer, S)
        assert {channel(world, answer) for answer in answers} == {S}

    def test_what_a_teacher_teaches_is_not_limited_and_leaves_room_to_their_votes(self, world: World) -> None:
        answers = [world.ask(f"question number {n}", of=scope("eve")) for n in range(8)]
        lessons = [world.correct(answer, f"answer to {answer.goal}", by="tea", role=Role.TEACHER) for answer in answers]
        assert {channel(world, each) for each in lessons} == {S}
        assert {channel(world, each) for each in answers} == {F}
        more = [world.ask(f"thing {n}", of=scope("eve")) for n in range(4)]
        told = [world.react(each, "👍", by="tea", role=Role.TEACHER).is_limited for each in more]
        assert told == [False, False, False, True]
        # Nor does a used up limit hold back what comes then.
        late = world.correct(more[3], "that", by="tea", role=Role.TEACHER)
        assert (channel(world, late), channel(world, more[3])) == (S, F)

    def test_what_a_member_teaches_is_limited(self, world: World) -> None:
        answers = [world.ask(f"question number {n}", of=scope("eve")) for n in range(3)]
        lessons = [world.correct(each, "that", by="bob") for each in answers]
        with world.memory.store.read() as tx:
            votes = [tx.teaching.votes(each.workspace, each.run_id) for each in (*answers, *lessons)]
        assert [vote.is_limited for (vote,) in votes] == [False, False, True, False, True, True]
        assert {world.episode(each).verdicts.personal for each in lessons} == {S}

    def test_a_review_lets_others_have_what_is_beyond_a_limit(self, world: World) -> None:
        answers = [world.ask(f"question number {n}", of=scope("eve")) for n in range(4)]
        for answer in answers:
            world.react(answer, "👍", by="tea", role=Role.TEACHER)
        assert channel(world, answers[3]) is P, "the teacher has used up the limit"
        lessons = [world.correct(answer, "that", by="bob") for answer in answers]
        promote = world.memory.curation.promote
        last = promote(lessons[3].workspace, lessons[3].id, Audience.CHANNEL, actor="tea", role=Role.TEACHER)
        assert last.verdicts.channel is S
        of_guest = world.correct(answers[0], "this", by="gus", role=Role.GUEST)
        approval = replace(world.reaction(of_guest, by="tea", role=Role.TEACHER), source=REVIEW, run_id=of_guest.run_id)
        assert not world.memory.teaching.vote(approval).is_limited
        assert channel(world, of_guest) is S

    def test_a_vote_beyond_the_limit_counts_when_it_is_given_again_later(self, world: World) -> None:
        answers = [world.ask(f"question number {n}", of=scope("eve")) for n in range(4)]
        self.vote(world, answers, "bob")
        world.react(answers[3], "👍", by="cy")
        world.clock.tick(minutes=11)
        assert channel(world, answers[3]) is P
        for added in (False, True):
            world.react(answers[3], "👍", by="bob", added=added)
        assert channel(world, answers[3]) is S

    def test_the_same_vote_in_another_role_is_limited_as_that_role(self, world: World) -> None:
        answers = [world.ask(f"question number {n}", of=scope("eve")) for n in range(4)]
        self.vote(world, answers[:3], "bob")
        vote = world.reaction(answers[3], "👍", by="bob", at=world.clock.tick())
        for number, (role, is_limited) in enumerate(((Role.MEMBER, True), (Role.ADMIN, False), (Role.MEMBER, True))):
            told = world.memory.teaching.react(replace(vote, role=role), event_id=f"e{number}")
            assert told.is_limited is is_limited

    def test_promotions_beyond_the_limit_are_noted_and_change_nothing(self, world: World) -> None:
        answers = [approved(world, f"question number {n}", by=(f"b{n}", f"c{n}")) for n in range(3)]
        promote = world.memory.curation.promote
        wide = [
            promote(a.workspace, a.id, Audience.WORKSPACE, actor="tea", role=Role.TEACHER).promoted for a in answers
        ]
        assert wide == [Audience.WORKSPACE, Audience.WORKSPACE, None]
        events = world.memory.audit.run(answers[2].workspace, answers[2].run_id).events
        noted = [each for each in events if each.kind is EventKind.LIMITED]
        assert [(each.actor, each.detail["what"], each.detail["audience"]) for each in noted] == [
            ("tea", "promoted", "workspace")
        ]
        world.clock.tick(minutes=11)
        last = promote(answers[2].workspace, answers[2].id, Audience.WORKSPACE, actor="tea", role=Role.TEACHER)
        assert last.verdicts.workspace is S


class TestProvenance(Attacked):
    """Every row says who taught, as what, where, when and by which event."""

    def test_votes_corrections_lessons_and_promotions_name_their_source(self, world: World) -> None:
        answer = world.ask("lunch?", of=scope(workspace="slack:T1"))
        world.react(answer, "👎", by="bob", event_id="Ev1")
        corrected = world.memory.teaching.correct(
            scope("tea", workspace="slack:T1"),
            answer.run_id,
            "at noon",
            role=Role.TEACHER,
            at=world.clock.tick(),
            event_id="Ev2",
        )
        assert corrected is not None
        lesson = corrected.lesson
        world.memory.curation.promote("slack:T1", lesson.id, Audience.WORKSPACE, actor="tea", role=Role.TEACHER)
        with world.memory.store.read() as tx:
            told = tx.teaching.reactions_of_run("slack:T1", answer.run_id)
            votes = tx.teaching.votes("slack:T1", lesson.run_id)
        assert [(r.actor, r.role, r.event_id) for r in told] == [
            ("bob", Role.MEMBER, "Ev1"),
            ("tea", Role.TEACHER, "Ev2"),
        ]
        assert [(v.actor, v.role, v.event_id, v.workspace) for v in votes] == [("tea", Role.TEACHER, "Ev2", "slack:T1")]
        events = (
            *world.memory.audit.run("slack:T1", answer.run_id).events,
            *world.memory.audit.run("slack:T1", lesson.run_id).events,
        )
        by_hand = (EventKind.VOTED, EventKind.CORRECTED, EventKind.PROMOTED)
        of_people = [each for each in events if each.kind in by_hand or (each.kind, each.actor) == ("created", "tea")]
        assert [(each.kind, each.actor, each.detail["role"]) for each in of_people] == [
            (EventKind.VOTED, "bob", "member"),
            (EventKind.VOTED, "tea", "teacher"),
            (EventKind.CORRECTED, "tea", "teacher"),
            (EventKind.CREATED, "tea", "teacher"),
            (EventKind.VOTED, "tea", "teacher"),
            (EventKind.PROMOTED, "tea", "teacher"),
        ]
        assert [each.detail.get("event") for each in of_people][:5] == ["Ev1", "Ev2", "Ev2", "Ev2", "Ev2"]


class TestStrangers(Attacked):
    """People from outside, and names that are equal by chance."""

    def test_a_stranger_in_a_shared_channel_is_seen_and_never_counted(self, world: World) -> None:
        answer = world.ask("lunch?")
        for person in ("guest-1", "guest-2", "guest-3"):
            world.react(answer, "👍", by=person, role=Role.GUEST)
            world.react(answer, "👎", by=person, role=Role.GUEST)
            world.correct(answer, f"ask {person}", by=person, role=Role.GUEST)
        assert world.episode(answer).verdicts == Verdicts()
        assert world.recalled("lunch?") == []
        verify(world, answer, S)
        with world.memory.store.read() as tx:
            assert tx.teaching.record_of(answer.workspace, ["guest-1"]) == {"guest-1": (0, 0)}

    def test_equal_ids_in_two_workspaces_never_meet(self, world: World) -> None:
        here, there = scope("ana", workspace="slack:T1"), scope("ana", workspace="slack:T2")
        mine = world.ask("which bank?", "ours", of=here, message_id="m1")
        theirs = world.ask("which bank?", "theirs", of=there, message_id="m1")
        for person in ("bob", "cy"):
            world.react(theirs, "👍", by=person, message_id="m1")
        world.react(mine, "👎", by="bob", message_id="m1")
        assert world.episode(mine).verdicts == Verdicts(proposed=F)
        assert world.recalled("which bank?", here) == []
        assert world.recalled("which bank?", there) == [theirs.id]
        # Trust and limits stay where they were earned.
        world.memory.teaching.grade(mine.workspace, mine.id, S, actor="owner", role=Role.ADMIN)
        assert channel(world, theirs) is S
        with world.memory.store.read() as tx:
            assert tx.teaching.record_of("slack:T1", ["bob"]) == {"bob": (0, 1)}
            assert tx.teaching.record_of("slack:T2", ["bob"]) == {"bob": (0, 0)}

    @pytest.mark.parametrize("visibility", [Visibility.DIRECT, Visibility.PRIVATE])
    def test_what_was_said_in_confidence_is_promoted_by_nobody(self, world: World, visibility: Visibility) -> None:
        asker = scope("ana", visibility=visibility, channel="c9")
        answer = world.ask("my pin?", "ask me", of=asker)
        for person in ("bob", "cy", "tea"):
            world.react(answer, "👍", by=person, role=Role.TEACHER if person == "tea" else Role.MEMBER)
        assert world.recalled("my pin?", scope("bob")) == []
        assert world.recalled("my pin?", scope("bob", channel="c9")) == []
