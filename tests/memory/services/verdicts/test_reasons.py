"""A person's reason stands at what they judged, not at what their vote settles besides."""

from datetime import timedelta

from memory.model import Reaction, TeachingPolicy, Termination, Verdict
from tests.doubles.memory_world import World

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
