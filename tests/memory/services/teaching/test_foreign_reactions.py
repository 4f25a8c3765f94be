"""Reactions that name a run or a node of another answer count for neither, and leave nothing."""

from dataclasses import replace

import pytest

from tests.doubles.memory_world import World, scope


@pytest.mark.parametrize("is_posted", [False, True])
@pytest.mark.parametrize("named", ["another run", "another workspace", "no run"])
def test_only_the_message_says_which_answer_a_reaction_is_about(named: str, is_posted: bool) -> None:
    world = World()
    answer, another = world.ask("lunch?"), world.ask("tea?", of=scope("bo", channel="c2"))
    foreign = world.ask("rent?", of=scope("bo", workspace="terminal:v"))
    run_id = {"another run": another.run_id, "another workspace": foreign.run_id}.get(named, "none")
    given = replace(world.reaction(answer, message_id="" if is_posted else "elsewhere"), run_id=run_id)
    assert world.memory.teaching.react(given, event_id="x").is_known is is_posted
    assert world.episode(answer).verdicts.overall.is_validated is is_posted
    with world.memory.store.read() as tx:
        for each in (another, foreign):
            assert tx.teaching.reactions_of_run(each.workspace, each.run_id) == []
    assert world.memory.audit.check() == []


def test_a_vote_on_a_node_of_another_answer_leaves_nothing() -> None:
    world = World()
    answer, another = world.ask("lunch?"), world.ask("tea?")
    given = replace(world.reaction(answer), run_id=answer.run_id, node_id=another.id)
    assert not world.memory.teaching.react(given, event_id="x").is_known
    assert not world.memory.teaching.vote(replace(given, message_id="")).is_known
    with world.memory.store.read() as tx:
        assert tx.teaching.reactions_by(answer.workspace, "ana") == []
        assert tx.teaching.votes(answer.workspace, answer.run_id) == []
