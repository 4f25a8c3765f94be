"""Laws of votes, trust and limits where people change roles, vote on single nodes and at the same moment."""

import random
from datetime import timedelta

from hypothesis import example, given, strategies as st

from memory.model import Audience, Episode, Reaction, Role, TeachingPolicy, Termination, Verdict
from tests.doubles.memory_world import START, World, scope

W = "terminal:w"
POLICY = TeachingPolicy(
    votes_per_window=2, window=timedelta(minutes=3), trust_agree=1.2, trust_disagree=1, trust_teacher=1
)
"""A member is trusted until proven wrong once, a teacher a little longer."""
ASKERS = ("ana", "bob", "ana")

Act = tuple[int, int, str, Role, int, bool]
"""(answer, node, person, role, value, whether it is cast or withdrawn)"""

acts = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 2),
        st.sampled_from(["ana", "bob", "cy", "dan"]),
        st.sampled_from([Role.MEMBER, Role.MEMBER, Role.TEACHER, Role.ADMIN, Role.GUEST]),
        st.sampled_from([1, -1]),
        st.sampled_from([True, True, True, False]),
    ),
    max_size=16,
)


def opened(policy: TeachingPolicy = POLICY) -> tuple[World, list[list[Episode]]]:
    """Three answers of three nodes; the last one is promoted to everybody."""
    world = World(policy=policy)
    children = (("first", Termination.SUCCESS), ("second", Termination.FAILURE))
    answers = [world.ask(f"question {n}", of=scope(who), children=children) for n, who in enumerate(ASKERS)]
    world.memory.curation.promote(W, answers[2].id, Audience.WORKSPACE, actor="owner", role=Role.ADMIN)
    return world, [world.nodes(answer) for answer in answers]


def cast(world: World, answers: list[list[Episode]], act: Act, minute: float) -> None:
    answer, node, person, role, value, is_active = act
    judged = answers[answer][node]
    vote = Reaction(
        workspace=W,
        channel=judged.channel,
        message_id=f"run/{judged.run_id}",
        node_id="" if node == 0 else judged.id,
        actor=person,
        source=f"emoji:{value}",
        value=value,
        at=START + timedelta(minutes=minute),
        role=role,
        run_id=judged.run_id,
        is_active=is_active,
    )
    world.clock.tick()
    world.memory.teaching.vote(vote)


def state(world: World, answers: list[list[Episode]]) -> object:
    with world.memory.store.read() as tx:
        votes = [
            [(v.node_id, v.actor, v.role, v.value, v.at, v.is_limited) for v in tx.teaching.votes(W, nodes[0].run_id)]
            for nodes in answers
        ]
        proven = [
            [(each.node_id, each.actor, each.agrees) for each in tx.teaching.trust_evidence(W, nodes[0].run_id)]
            for nodes in answers
        ]
        indexed = [tx.episodes.index_of(W, node.id) for nodes in answers for node in nodes]
    verdicts = [[(now := world.episode(node)).verdicts, now.status] for nodes in answers for node in nodes]
    return votes, proven, verdicts, indexed


@given(acts, st.sampled_from([0, 1, 0.5]))
@example(
    [
        (0, 0, "cy", Role.MEMBER, 1, True),
        (0, 0, "dan", Role.TEACHER, -1, True),
        (0, 0, "cy", Role.TEACHER, 1, False),
        (1, 0, "dan", Role.TEACHER, -1, True),
        (1, 0, "cy", Role.ADMIN, -1, True),
    ],
    1,
)
def test_after_every_vote_all_that_is_stored_is_what_the_log_says(sequence: list[Act], pace: float) -> None:
    world, answers = opened()
    for place, act in enumerate(sequence):
        cast(world, answers, act, place * pace)
        assert world.memory.audit.check() == []


@given(acts, st.randoms(use_true_random=False))
def test_votes_are_a_function_of_registers_and_times(sequence: list[Act], chance: random.Random) -> None:
    """Whatever the order of arrival, with roles that change from one vote to the next."""
    timed = list(enumerate(sequence))
    late = list(timed)
    chance.shuffle(late)
    world, answers = opened()
    for minute, act in timed:
        cast(world, answers, act, minute)
    other, same = opened()
    for minute, act in late:
        cast(other, same, act, minute)
    assert state(world, answers) == state(other, same)
    assert other.memory.audit.check() == []


@given(acts, st.sampled_from([0, 1]))
def test_an_erased_answer_leaves_the_others_as_if_nobody_had_judged_it(sequence: list[Act], pace: float) -> None:
    world, answers = opened()
    left, rest = opened()
    for place, act in enumerate(sequence):
        cast(world, answers, act, place * pace)
        if act[0] != 0:
            cast(left, rest, act, place * pace)
    world.memory.privacy.erase_run(W, answers[0][0].run_id)
    assert state(world, answers[1:]) == state(left, rest[1:])
    assert world.memory.audit.check() == []


def test_a_record_counts_for_what_was_said_in_another_role_too() -> None:
    """Trust that is used up as a member may still be lost as a teacher."""
    world, answers = opened(TeachingPolicy())
    cast(world, answers, (0, 0, "cy", Role.TEACHER, 1, True), 0)
    for node in range(3):
        cast(world, answers, (1, node, "cy", Role.MEMBER, -1, True), 5 * node)
    for node in range(3):
        assert world.episode(answers[0][0]).verdicts.channel is Verdict.SUCCESS
        cast(world, answers, (1, node, "eve", Role.ADMIN, 1, True), 20)
    assert world.episode(answers[0][0]).verdicts.channel is Verdict.PENDING
    assert world.memory.audit.check() == []
