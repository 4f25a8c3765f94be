"""A reason stands at what its giver judged, not at what their vote settles besides, and goes with their judgement."""

from datetime import timedelta

import pytest

from memory.model import Episode, Reaction, Role, TeachingPolicy, Termination, Verdict
from tests.doubles.memory_world import World, scope
from tests.doubles.stores import content

CHILDREN = [("book a room", Termination.SUCCESS), ("book a bus", Termination.SUCCESS)]


def test_a_reason_for_one_node_is_not_that_of_another_which_the_grade_settles() -> None:
    world = World(policy=TeachingPolicy(newcomer=timedelta(0), quorum_up=3, quorum_down=3))
    root = world.ask("plan the offsite", children=CHILDREN)
    _, room, bus = world.nodes(root)
    for person in ("bo", "cy"):
        for node in (room, bus):
            vote = Reaction.on_run(node, person, "grade", 1, world.clock.tick(minutes=1), node_id=node.id)
            world.memory.teaching.vote(vote)
    assert world.episode(bus).verdicts.channel is Verdict.PENDING  # two do not suffice until they are proven right
    world.memory.teaching.grade(root.workspace, room.id, Verdict.SUCCESS, actor="boss", reason="the room is right")
    assert [world.episode(each).verdicts.channel for each in (room, bus)] == [Verdict.SUCCESS] * 2
    assert [world.episode(each).outcome_reason for each in (room, bus)] == ["the room is right", ""]
    assert world.memory.audit.check() == []


def test_a_reason_for_the_whole_answer_is_that_of_all_its_nodes() -> None:
    world = World()
    root = world.ask("plan the offsite", children=CHILDREN)
    world.memory.teaching.grade(root.workspace, root.id, Verdict.SUCCESS, actor="boss", reason="all of it is right")
    assert {each.outcome_reason for each in world.nodes(root)} == {"all of it is right"}


class Graders:
    """A teacher and an administrator who give their reasons for a verdict on one answer."""

    def __init__(self) -> None:
        self.world = World()
        self.answer = self.world.ask("when is lunch?", "at three")
        self.grade("tea", Verdict.SUCCESS, "the cook said so")
        self.grade("boss", Verdict.SUCCESS, "it is the new rule")

    def grade(self, who: str, verdict: Verdict, reason: str = "") -> None:
        self.world.clock.tick()
        role = Role.TEACHER if who == "tea" else Role.ADMIN
        self.world.memory.teaching.grade(
            self.answer.workspace, self.answer.id, verdict, actor=who, role=role, reason=reason
        )

    def withdraw(self, who: str) -> None:
        self.grade(who, Verdict.PENDING)

    def purge(self, who: str) -> None:
        self.world.memory.purging.purge(self.answer.workspace, who, actor="admin", at=self.world.clock.tick())

    @property
    def now(self) -> Episode:
        assert self.world.memory.audit.check() == []
        return self.world.episode(self.answer)


def test_a_reason_that_is_shown_again_goes_when_its_giver_is_forgotten() -> None:
    graders = Graders()
    graders.withdraw("boss")
    assert graders.now.outcome_reason == "the cook said so"
    graders.world.memory.privacy.forget(graders.answer.workspace, "tea")
    assert graders.now.outcome_reason == ""
    assert b"the cook said so" not in content(graders.world.memory.store)


def test_a_reason_that_is_shown_again_stays_when_whoever_gave_the_later_one_is_purged() -> None:
    graders = Graders()
    graders.withdraw("boss")
    graders.purge("boss")
    assert (graders.now.verdict, graders.now.outcome_reason) == (Verdict.SUCCESS, "the cook said so")


@pytest.mark.parametrize("remove", [Graders.withdraw, Graders.purge])
def test_a_reason_that_was_withdrawn_does_not_come_back_when_a_later_one_is(remove: object) -> None:
    graders = Graders()
    graders.world.react(graders.answer)
    assert callable(remove)
    remove(graders, "tea")
    assert graders.now.outcome_reason == "it is the new rule"
    graders.withdraw("boss")
    assert (graders.now.verdict, graders.now.outcome_reason) == (Verdict.SUCCESS, "")


def test_who_takes_back_the_opposite_verdict_leaves_the_reason_of_before() -> None:
    graders = Graders()
    graders.withdraw("boss")
    graders.grade("boss", Verdict.FAILURE, "it moved")
    assert graders.now.outcome_reason == "it moved"
    graders.withdraw("boss")
    assert (graders.now.verdict, graders.now.outcome_reason) == (Verdict.SUCCESS, "the cook said so")


def test_a_correction_that_is_undone_takes_its_reason_along() -> None:
    world = World()
    answer = world.ask("when is lunch?", "at three")
    world.react(answer, "👎")
    at = world.clock.tick()
    world.memory.teaching.correct(scope("tea"), answer.run_id, "at noon", role=Role.TEACHER, at=at, reason="it moved")
    assert world.episode(answer).outcome_reason == "it moved"
    world.memory.teaching.undo(answer.workspace, "tea", at=world.clock.tick())
    assert (world.episode(answer).verdict, world.episode(answer).outcome_reason) == (Verdict.FAILURE, "")
    assert world.memory.audit.check() == []


def test_taking_back_a_verdict_on_the_whole_answer_takes_its_reason_from_all_nodes_but_those_judged_alone() -> None:
    world = World()
    root = world.ask("plan the offsite", children=CHILDREN)
    _, room, bus = world.nodes(root)
    for node in (root, room, bus):
        world.react(node)
    grade, at = world.memory.teaching.grade, root.workspace
    for person in ("tea", "boss"):
        role = Role.TEACHER if person == "tea" else Role.ADMIN
        world.clock.tick()
        grade(at, root.id, Verdict.SUCCESS, actor=person, role=role, reason=f"{person} read it")
    grade(at, room.id, Verdict.FAILURE, actor="boss", reason="no room")
    world.clock.tick()
    grade(at, root.id, Verdict.PENDING, actor="boss")
    assert [each.outcome_reason for each in world.nodes(root)] == ["tea read it", "no room", "tea read it"]
    assert world.memory.audit.check() == []
