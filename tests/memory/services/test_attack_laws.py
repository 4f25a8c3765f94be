"""Laws that hold with administrators, trust and limits at work, over random sequences of votes."""

import random
from datetime import timedelta

from hypothesis import given, strategies as st

from memory.adapters.sql import SqlStore
from memory.model import MAX_WEIGHT, Episode, Role, TeachingPolicy, Vote
from memory.ports import EpisodeFilter
from memory.rules.verdict import trust_evidence_of, weight
from tests.doubles.memory_world import START, World

PEOPLE = {
    "ana": Role.MEMBER,
    "bob": Role.MEMBER,
    "cy": Role.MEMBER,
    "tea": Role.TEACHER,
    "owner": Role.ADMIN,
    "chief": Role.ADMIN,
}
POLICY = TeachingPolicy(votes_per_window=2, window=timedelta(minutes=4))

Act = tuple[int, str, str, bool]
"""(answer, person, emoji, added)"""

acts = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(sorted(PEOPLE)), st.sampled_from("👍👎"), st.booleans()), max_size=20
)


def played(sequence: list[tuple[int, Act]]) -> World:
    """Four questions and these acts, delivered in this order; the number of an act is the minute it happened."""
    world = World(SqlStore.in_memory(), policy=POLICY)
    answers = [world.ask(f"question number {n}") for n in range(4)]
    for minute, (answer, person, emoji, added) in sequence:
        world.react(
            answers[answer],
            emoji,
            by=person,
            role=PEOPLE[person],
            added=added,
            at=START + timedelta(minutes=minute),
        )
    return world


def state(world: World) -> list[tuple[object, ...]]:
    nodes: list[Episode] = []
    ids = _ids(world)
    with world.memory.store.read() as tx:
        for number in range(4):
            nodes += [
                each
                for each in tx.episodes.get_many("terminal:w", ids).values()
                if each.goal == f"question number {number}"
            ]
        votes = [
            [(v.actor, v.value, v.at, v.is_limited) for v in tx.teaching.votes(node.workspace, node.run_id)]
            for node in nodes
        ]
        indexed = [tx.episodes.index_of(node.workspace, node.id) for node in nodes]
    verdicts = [(node.verdicts, node.status, node.strength) for node in nodes]
    return list(zip(verdicts, votes, indexed, strict=True))


def _ids(world: World) -> list[str]:
    return [each.id for each in world.memory.audit.episodes("terminal:w", EpisodeFilter(limit=None))]


@given(acts, st.randoms(use_true_random=False))
def test_order_of_delivery_does_not_matter_with_trust_and_limits(sequence: list[Act], chance: random.Random) -> None:
    timed = list(enumerate(sequence))
    shuffled = list(timed)
    chance.shuffle(shuffled)
    one, other = played(timed), played(shuffled)
    assert state(one) == state(other)
    assert other.memory.audit.check() == []


@given(acts, st.sampled_from(sorted(PEOPLE)))
def test_forgetting_somebody_is_as_if_they_had_never_voted(sequence: list[Act], person: str) -> None:
    timed = list(enumerate(sequence))
    world = played(timed)
    if person == "ana":  # she asked the questions: with her everything goes
        world.memory.privacy.forget("terminal:w", person)
        assert state(world) == []
        return
    world.memory.privacy.forget("terminal:w", person)
    assert state(world) == state(played([each for each in timed if each[1][1] != person]))
    assert world.memory.audit.check() == []


@given(acts)
def test_a_rebuild_of_a_sound_memory_finds_nothing(sequence: list[Act]) -> None:
    world = played(list(enumerate(sequence)))
    before = state(world)
    assert world.memory.audit.rebuild() == 0
    assert state(world) == before


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.sampled_from([Role.MEMBER, Role.TEACHER]))
def test_a_weight_is_bounded_and_rises_with_being_right(right: int, wrong: int, role: Role) -> None:
    found = weight(right, wrong, role, TeachingPolicy())
    assert 0 <= found <= MAX_WEIGHT
    assert weight(right + 1, wrong, role, TeachingPolicy()) >= found >= weight(right, wrong + 1, role, TeachingPolicy())


def test_a_newcomer_weighs_one_and_a_strict_house_lets_them_weigh_nothing() -> None:
    assert weight(0, 0, Role.MEMBER, TeachingPolicy()) == 1
    assert weight(0, 0, Role.MEMBER, TeachingPolicy(trust_agree=1)) == 0
    assert weight(0, 1, Role.MEMBER, TeachingPolicy()) == 0
    assert weight(0, 1, Role.TEACHER, TeachingPolicy()) == 1


def test_only_members_and_teachers_are_measured() -> None:
    votes = [
        Vote(workspace="w", run_id="r", actor=role.value, role=role, value=1, at=START + timedelta(minutes=n))
        for n, role in enumerate((Role.GUEST, Role.MEMBER, Role.TEACHER, Role.ADMIN))
    ]
    assert [(each.actor, each.agrees) for each in trust_evidence_of(votes)] == [("member", True), ("teacher", True)]
