"""A limit is where a full count puts it, whatever the order in which votes come, go and move."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings, strategies as st

from memory.adapters.sql import SqlStore
from memory.model import Reaction, Role, TeachingPolicy, Vote
from memory.ports import Store, Transaction
from memory.services.verdicts.tally import update_votes, with_limits
from memory.services.verdicts.verdicts import refold
from tests.doubles.memory_world import START

W = "terminal:w"
ANSWERS = 6
MINUTE = timedelta(minutes=1)

Act = tuple[int, int, str, tuple[Role, str], int, bool]
"""(answer, minute it is said to have happened, person, role and source, value, whether it is cast or withdrawn)"""

MEMBER, TEACHER, ADMIN = ((role, "button") for role in (Role.MEMBER, Role.TEACHER, Role.ADMIN))
WITHOUT_LIMIT = [ADMIN, *((Role.TEACHER, source) for source in ("correction", "correction:e1", "review"))]
"""Nobody's votes in these roles, by these sources, are limited; nor do they leave less room to others."""

acts = st.lists(
    st.tuples(
        st.integers(0, ANSWERS - 1),
        st.integers(0, 12),
        st.sampled_from(["bob", "bob", "bob", "bob", "cy"]),
        st.sampled_from([*[MEMBER, TEACHER, (Role.MEMBER, "correction:e1")] * 3, *WITHOUT_LIMIT]),
        st.sampled_from([1, -1]),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=6,
    max_size=24,
)
policies = st.builds(
    TeachingPolicy, votes_per_window=st.integers(1, 3), window=st.integers(1, 8).map(lambda n: timedelta(minutes=n))
)


def counted(votes: Sequence[Vote], policy: TeachingPolicy) -> list[Vote]:
    """The votes with their marks, by counting for each one all that its voter cast in the window before it."""

    def is_limited(vote: Vote) -> bool:
        earlier = [
            each
            for each in votes
            if (each.workspace, each.actor) == (vote.workspace, vote.actor)
            and (each.role, each.source) not in WITHOUT_LIMIT
            and each.at > vote.at - policy.window
            and (each.at, each.run_id, each.node_id) < (vote.at, vote.run_id, vote.node_id)
        ]
        return (vote.role, vote.source) not in WITHOUT_LIMIT and len(earlier) >= policy.votes_per_window

    return [replace(vote, is_limited=is_limited(vote)) for vote in votes]


def cast(store: Store, act: Act, policy: TeachingPolicy) -> None:
    answer, minute, person, (role, source), value, is_active = act
    vote = Reaction(
        workspace=W,
        channel="c1",
        message_id=f"m{answer}",
        actor=person,
        source=source,
        value=value,
        at=START + minute * MINUTE,
        role=role,
        run_id=f"r{answer}",
        is_active=is_active,
    )
    with store.write() as tx:
        # What stands is written over whatever its time: votes come, go and move both ways.
        for earlier in tx.teaching.reactions_of_run(W, vote.run_id):
            if earlier.actor == person:
                tx.teaching.put_reaction(replace(earlier, is_active=False))
        tx.teaching.put_reaction(vote)
        update_votes(tx, W, tx.teaching.polls(W, [vote.run_id]), policy)


def stored(tx: Transaction) -> list[Vote]:
    return [vote for answer in range(ANSWERS) for vote in tx.teaching.votes(W, f"r{answer}")]


@settings(max_examples=4 * settings().max_examples)  # each is quick, and what is touched is a matter of single places
@given(acts, policies)
def test_every_mark_is_that_of_a_full_count_after_every_vote(sequence: list[Act], policy: TeachingPolicy) -> None:
    store = SqlStore.in_memory()
    for act in sequence:
        cast(store, act, policy)
        with store.read() as tx:
            votes = stored(tx)
            assert votes == counted(votes, policy) == with_limits(tx, votes, policy)


@settings(max_examples=4 * settings().max_examples)  # each is quick, and what is touched is a matter of single places
@given(acts, policies, st.sets(st.integers(0, ANSWERS - 1), min_size=1))
def test_answers_counted_from_scratch_do_not_rest_on_the_marks_they_had(
    sequence: list[Act], policy: TeachingPolicy, wrong: set[int]
) -> None:
    store = SqlStore.in_memory()
    for act in sequence:
        cast(store, act, policy)
    with store.write() as tx:
        for number in wrong:
            turned = [replace(vote, is_limited=not vote.is_limited) for vote in tx.teaching.votes(W, f"r{number}")]
            tx.teaching.set_votes(W, f"r{number}", turned)
        refold(tx, W, [f"r{number}" for number in wrong], policy)
        votes = stored(tx)
        assert votes == counted(votes, policy)
        # What is erased leaves room to what stays.
        tx.teaching.delete_runs(W, [f"r{number}" for number in wrong])
        refold(tx, W, [f"r{number}" for number in range(ANSWERS) if number not in wrong], policy)
        rest = stored(tx)
        assert rest == counted(rest, policy)
