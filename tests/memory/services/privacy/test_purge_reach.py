"""What a purge reaches beyond the answers that the person judged: by trust, by limits, by words left behind."""

from datetime import timedelta

import pytest
from hypothesis import example, given, strategies as st

from memory.model import Role, TeachingPolicy, Verdict
from tests.doubles.attack_world import Attacked
from tests.doubles.memory_world import World, scope
from tests.memory.services.privacy.test_laws_purging import MAL, FullPlay, purge
from tests.memory.services.privacy.test_purge_laws import EVERYTHING, Act, Play, W, resting_on_what_is_gone

STRICT = TeachingPolicy(
    quorum_up=1, quorum_down=1, votes_per_window=2, window=timedelta(minutes=4), trust_agree=1.2, trust_teacher=0
)
"""A teacher, trusted until proven wrong once, makes a channel lesson."""


class TestReach(Attacked):
    def test_what_rests_on_votes_that_the_purged_one_had_made_trusted(self, world: World) -> None:
        """Mal had proven cy right. Without that, cy's vote does not carry the lesson that bob's answer used."""
        one, two, three = (world.ask(f"unrelated number {n}", of=scope("eve")) for n in range(3))
        for answer, voter, owner, is_right in ((one, "cy", "owner", False), (two, "dan", "owner", True)):
            world.react(answer, "👍", by=voter)
            world.react(answer, "👍" if is_right else "👎", by=owner, role=Role.ADMIN)
        world.react(three, "👍", by="cy")
        world.react(three, "👍", by="mal", role=Role.ADMIN)
        lesson = world.ask("where is the key?", "under the mat by the door")
        for voter in ("cy", "dan"):
            world.react(lesson, "👍", by=voter)
        assert world.episode(lesson).verdicts.channel is Verdict.SUCCESS
        follower = world.ask("where is the key?", "under the mat by the door", of=scope("bob"))
        world.react(follower, "👍", by="bob")
        done = purge(world)
        assert world.episode(lesson).verdicts.channel is Verdict.PENDING
        assert world.episode(follower).verdict is Verdict.PENDING
        assert {lesson.run_id, follower.run_id, three.run_id} == set(done.runs)

    @pytest.mark.parametrize("is_taken_back", [False, True])
    def test_a_reason_goes_with_the_grade_that_brought_it(self, world: World, is_taken_back: bool) -> None:
        answer = world.ask("when is lunch?", "at three", of=scope("bob"))
        grade = world.memory.teaching.grade
        world.clock.tick()
        grade(W, answer.id, Verdict.FAILURE, actor="mal", role=Role.TEACHER, reason="bob is lazy")
        world.react(answer, "👎", by="tea", role=Role.TEACHER)
        assert world.episode(answer).outcome_reason == "bob is lazy"
        world.clock.tick()
        if is_taken_back:
            grade(W, answer.id, Verdict.PENDING, actor="mal", role=Role.TEACHER)
            assert (world.episode(answer).verdict, world.episode(answer).outcome_reason) == (Verdict.FAILURE, "")
        purge(world)
        assert (world.episode(answer).verdict, world.episode(answer).outcome_reason) == (Verdict.FAILURE, "")


# The law, where the purged person is an administrator who decided whom to trust --------------------------------------

acts = st.lists(
    st.tuples(
        st.sampled_from(["ask", "follow", "follow", "vote", "vote", "verify", "verify"]),
        st.sampled_from(["ana", "cy", MAL]),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    min_size=4,
    max_size=25,
)


class Verified(FullPlay):
    """A play where the one who is purged verifies what others said."""

    def do(self, number: int, history: list[Act], act: Act) -> None:
        what, who, which, variant = act
        target = self.target(number, history, which, ("ask", "follow")) if what == "verify" else None
        if target is not None and who == MAL:
            verdict = (Verdict.SUCCESS, Verdict.FAILURE, Verdict.SUCCESS, Verdict.PENDING)[variant]
            self.world.memory.teaching.grade(W, target.id, verdict, actor=MAL)
        else:
            super().do(number, history, act)


def verified(history: list[Act], without: str = "") -> Play:
    return Verified(without=without, world=World(config=EVERYTHING, policy=STRICT)).run(history)


@given(acts)
@example(
    [
        *[("ask", "ana", 0, 0), ("vote", "cy", 0, 0), ("verify", "ana", 0, 1)],
        *[("ask", "ana", 0, 0), ("vote", "cy", 0, 0), ("verify", MAL, 0, 0)],
        *[("ask", "ana", 0, 0), ("vote", "cy", 0, 0), ("follow", "ana", 0, 0)],
    ]
)
def test_a_purged_administrators_trust_in_others_goes_along(history: list[Act]) -> None:
    full, left = verified(history), verified(history, without=MAL)
    done: set[int] = set()
    while more := resting_on_what_is_gone(full, left) - done:
        for number in more:
            left.take_back_approvals(number)
        done |= more
    purge(full.world)
    assert full.live() == left.live()
    assert full.world.memory.audit.check() == []
