"""Recorded together, new episodes leave what they leave one by one, whoever said what of them, and when."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from memory.errors import InvalidInput
from memory.model import Channel, Episode, EventKind, Origin, Reaction, Role, TeachingPolicy, Visibility, Vote
from memory.ports import EpisodeFilter, IndexEntry
from memory.rules.fold import unjudged
from memory.rules.quarantine import Flag
from memory.services.core import event
from memory.services.teaching.new_episodes import NewEpisode, record_new
from memory.services.verdicts.quarantine import quarantine_events
from memory.services.verdicts.verdicts import ReactionSet
from tests.doubles.memory_world import START, World, scope

W = scope().workspace
LIMITS = TeachingPolicy(votes_per_window=2, newcomer=timedelta(minutes=30))
WIDE = replace(LIMITS, votes_per_window=6)
MANY = 20
"""More than are looked around one by one."""


class Said(NamedTuple):
    """One person's signal on an episode."""

    person: str
    value: int
    role: Role
    minute: int
    is_active: bool


class Made(NamedTuple):
    """One episode, and what is known of it."""

    run: int
    channel: str
    is_flagged: bool
    correction: str
    is_archived: bool
    words_of: tuple[str, ...]
    said: tuple[Said, ...]


saids = st.builds(
    Said,
    st.sampled_from(["ana", "bo", "cy"]),
    st.sampled_from([1, -1]),
    st.sampled_from([Role.MEMBER, Role.MEMBER, Role.TEACHER, Role.ADMIN]),
    st.integers(0, 90),
    st.sampled_from([True, True, True, False]),
)


def mades_of(said: st.SearchStrategy[Said]) -> st.SearchStrategy[Made]:
    return st.builds(
        Made,
        st.integers(0, 8),
        st.sampled_from(["c1", "narrowed"]),
        st.booleans(),
        st.sampled_from(["", "", "at one"]),
        st.sampled_from([False, False, True]),
        st.sampled_from([(), ("bo",), ("bo", "ana", "")]),
        st.lists(said, max_size=3).map(tuple),
    )


mades, mades_of_members = mades_of(saids), mades_of(saids.map(lambda said: said._replace(role=Role.MEMBER)))


def new(number: int, made: Made, world: World) -> NewEpisode:
    run_id = f"r{made.run}"
    episode = unjudged(
        Episode(
            id=f"e{number:02}",
            run_id=run_id,
            goal=f"when is lunch number {number}?",
            output="at noon",
            step_number=number + 1,
            parent_id="e00" if made.run == 0 and number else "",
            origin=Origin.IMPORT,
            workspace=W,
            channel=made.channel,
            person="ana",
            author="ana",
            visibility=Visibility.PUBLIC,
            created_at=START,
        )
    )
    before = [event(episode, EventKind.CREATED, "ana", START)]
    before += quarantine_events(episode, [Flag.SECRET] if made.is_flagged else [], START)
    if made.correction:
        before.append(event(episode, EventKind.CORRECTED, "ana", START, detail={"text": made.correction}))
    reactions = [
        ReactionSet(reactions=(vote(episode, said),), at=START + timedelta(minutes=said.minute), reason="because")
        for said in made.said
    ]
    archived = event(episode, EventKind.ARCHIVED, "ana", START + timedelta(hours=2))
    return NewEpisode(
        episode=episode,
        vector=None if number % 5 == 4 else world.memory.embedder.embed([episode.goal])[0],
        before=before,
        reactions=reactions,
        after=[archived] if made.is_archived else [],
        words_of=made.words_of,
    )


def vote(episode: Episode, said: Said) -> Reaction:
    return Reaction(
        workspace=W,
        channel=episode.channel,
        message_id=f"run/{episode.run_id}",
        node_id=episode.id,
        actor=said.person,
        source="grade",
        value=said.value,
        at=START + timedelta(minutes=said.minute),
        role=said.role,
        run_id=episode.run_id,
        is_active=said.is_active,
    )


class Left(NamedTuple):
    """What is stored of an episode."""

    episode: Episode
    votes: Sequence[Vote]
    registers: Collection[Reaction]
    log: Counter[str]
    found: Sequence[IndexEntry]
    words_of: Sequence[str]
    vector: object


def recorded(mades: Sequence[Made], at_once: int, policy: TeachingPolicy = LIMITS) -> tuple[World, list[Left]]:
    """A world into which these came, so many at once, and what is left of each."""
    world = World(policy=policy)
    with world.memory.store.write() as tx:
        tx.channels.put(Channel(workspace=W, channel="narrowed", visibility=Visibility.PRIVATE, since=START))
    episodes = [new(number, made, world) for number, made in enumerate(mades)]
    for start in range(0, len(episodes), at_once):
        with world.memory.store.write() as tx:
            record_new(world.memory.core, tx, episodes[start : start + at_once])
    with world.memory.store.read() as tx:
        stored = tx.episodes.get_many(W, [each.episode.id for each in episodes])
        words = tx.episodes.words_of_others(W, stored)
        vectors = tx.episodes.vectors(W, stored)
        left = [
            Left(
                episode,
                tx.teaching.votes(W, episode.run_id),
                {replace(each, seq=0) for each in tx.teaching.reactions_of_run(W, episode.run_id)},
                Counter(repr((each.kind, each.actor, each.at, each.detail)) for each in tx.log.of_episode(W, name)),
                tx.episodes.index_of(W, name),
                words.get(name, []),
                vectors[name][1].tolist() if name in vectors else None,
            )
            for name, episode in sorted(stored.items())
        ]
    return world, left


@pytest.mark.parametrize("policy", [LIMITS, WIDE], ids=["few votes", "more votes"])
@given(st.lists(mades, min_size=1, max_size=8) | st.lists(mades_of_members, min_size=1, max_size=8))
def test_together_they_leave_what_they_leave_one_by_one(policy: TeachingPolicy, mades: list[Made]) -> None:
    together, left = recorded(mades, len(mades), policy)
    _, one_by_one = recorded(mades, 1, policy)
    assert left == one_by_one
    assert together.memory.audit.check() == []


def test_a_verdict_that_falls_with_its_voters_limit_has_the_time_of_the_vote_that_reached_it() -> None:
    first = Made(0, "c1", False, "", False, (), (Said("bo", 1, Role.TEACHER, 52, True),))
    earlier = [
        Made(number, "c1", False, "", False, (), (Said("bo", 1, Role.TEACHER, number, True),)) for number in (1, 2)
    ]
    _, left = recorded([first, *earlier], 3)
    assert left == recorded([first, *earlier], 1)[1]
    assert [each.episode.graded_at for each in left] == [START + timedelta(minutes=minute) for minute in (2, 1, 2)]
    assert not left[0].episode.verdicts.channel.is_validated


def test_many_votes_of_one_person_are_counted_within_their_limit() -> None:
    said = [Said("bo", 1, Role.MEMBER, minute, True) for minute in range(0, 4 * MANY, 4)]
    mades = [Made(number, "c1", False, "", False, (), (each,)) for number, each in enumerate(said)]
    together, left = recorded(mades, len(mades))
    assert left == recorded(mades, 1)[1]
    assert {vote.is_limited for each in left for vote in each.votes} == {True, False}
    assert together.memory.audit.check() == []


def test_nothing_is_left_where_one_of_them_cannot_be_stored() -> None:
    world = World()
    fine, made = (Made(number, "c1", False, "", False, (), ()) for number in range(2))
    broken = new(1, made, world)
    broken = replace(broken, episode=replace(broken.episode, output="a\0b"))
    with pytest.raises(InvalidInput), world.memory.store.write() as tx:
        record_new(world.memory.core, tx, [new(0, fine, world), broken])
    with world.memory.store.read() as tx:
        assert len(tx.episodes.search(W, EpisodeFilter(limit=None))) == 0
        assert tx.log.newest(W, limit=9) == []


def test_nothing_new_needs_no_statement() -> None:
    world = World()
    with world.memory.store.read() as tx:
        record_new(world.memory.core, tx, [])
