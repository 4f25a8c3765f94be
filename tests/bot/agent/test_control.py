import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from bot.agent.control import Child, End, Flow, NodeOutcome, Policy, judge, run_flow
from memory.model import Termination

S, F, X = End.SUCCESS, End.FAILURE, End.STOPPED
TERMINATIONS = {S: Termination.SUCCESS, F: Termination.FAILURE, X: Termination.ABORTED}
MIRROR = {S: F, F: S, X: X}

ends = st.lists(st.sampled_from(End), max_size=6)


def outcome_of(end: End, output: str = "") -> NodeOutcome:
    return NodeOutcome(termination=TERMINATIONS[end], output=output)


def run(flow: Flow, wanted: Sequence[End], policy: Policy = Policy.ALL) -> tuple[End, int]:
    """The end of the flow and how many children ran."""
    ran: list[int] = []

    def child(number: int, end: End) -> Child:
        async def pursue() -> NodeOutcome:
            ran.append(number)
            return outcome_of(end)

        return pursue

    result = asyncio.run(run_flow(flow, [child(number, end) for number, end in enumerate(wanted)], policy))
    assert ran == list(range(len(ran)))
    assert [outcome.end for outcome in result.outcomes] == list(wanted)[: len(ran)]
    return result.end, len(ran)


@pytest.mark.parametrize(
    ("flow", "wanted", "end", "ran"),
    [
        (Flow.SEQUENCE, [S, S], S, 2),
        (Flow.SEQUENCE, [S, F], F, 2),
        (Flow.SEQUENCE, [F, S], F, 1),
        (Flow.SEQUENCE, [F, F], F, 1),
        (Flow.SEQUENCE, [S, X], X, 2),
        (Flow.SEQUENCE, [X, S], X, 1),
        (Flow.SEQUENCE, [X, F], X, 1),
        (Flow.FALLBACK, [S, S], S, 1),
        (Flow.FALLBACK, [S, F], S, 1),
        (Flow.FALLBACK, [F, S], S, 2),
        (Flow.FALLBACK, [F, F], F, 2),
        (Flow.FALLBACK, [F, X], X, 2),
        (Flow.FALLBACK, [X, S], X, 1),
        (Flow.SEQUENCE, [], S, 0),
        (Flow.FALLBACK, [], F, 0),
    ],
)
def test_truth_table_of_ordered_flows(flow: Flow, wanted: list[End], end: End, ran: int) -> None:
    assert run(flow, wanted) == (end, ran)


@pytest.mark.parametrize(
    ("policy", "wanted", "end"),
    [
        (Policy.ALL, [S, S, S], S),
        (Policy.ALL, [S, F, S], F),
        (Policy.ALL, [S, X, S], X),
        (Policy.ALL, [F, X, S], F),
        (Policy.MAJORITY, [S, S, F], S),
        (Policy.MAJORITY, [S, F, F], F),
        (Policy.MAJORITY, [S, F], F),
        (Policy.MAJORITY, [S, S, X], S),
        (Policy.MAJORITY, [S, F, X], X),
        (Policy.MAJORITY, [F, F, X], F),
        (Policy.ANY, [F, F, S], S),
        (Policy.ANY, [F, F, F], F),
        (Policy.ANY, [F, X, F], X),
        (Policy.ANY, [X, X, S], S),
    ],
)
def test_truth_table_of_parallel(policy: Policy, wanted: list[End], end: End) -> None:
    assert run(Flow.PARALLEL, wanted, policy) == (end, len(wanted))


@given(ends)
def test_de_morgan_sequence_and_fallback_mirror_each_other(wanted: list[End]) -> None:
    end, ran = run(Flow.SEQUENCE, wanted)
    assert run(Flow.FALLBACK, [MIRROR[each] for each in wanted]) == (MIRROR[end], ran)


@given(ends)
def test_de_morgan_parallel_all_and_any_mirror_each_other(wanted: list[End]) -> None:
    if wanted:
        assert judge(Policy.ANY, [MIRROR[each] for each in wanted]) is MIRROR[judge(Policy.ALL, wanted)]


@given(st.lists(st.sampled_from([S, F])))
def test_without_stops_a_sequence_is_and_a_fallback_is_or(wanted: list[End]) -> None:
    assert (run(Flow.SEQUENCE, wanted)[0] is S) == all(end is S for end in wanted)
    assert (run(Flow.FALLBACK, wanted)[0] is S) == any(end is S for end in wanted)


@given(st.lists(st.sampled_from(End), min_size=1, max_size=5), st.sampled_from(Policy))
def test_parallel_does_not_depend_on_order(wanted: list[End], policy: Policy) -> None:
    assert judge(policy, wanted) is judge(policy, sorted(wanted))


@given(st.lists(st.sampled_from(End), min_size=1, max_size=5), st.sampled_from(Policy))
def test_what_parallel_decided_no_stopped_child_could_have_changed(wanted: list[End], policy: Policy) -> None:
    decided = judge(policy, wanted)
    if decided is not X:
        for instead in (S, F):
            assert judge(policy, [instead if end is X else end for end in wanted]) is decided


def test_outputs_are_joined_in_order() -> None:
    async def joined(flow: Flow, *wanted: NodeOutcome) -> str:
        def child(outcome: NodeOutcome) -> Child:
            async def pursue() -> NodeOutcome:
                return outcome

            return pursue

        return (await run_flow(flow, [child(outcome) for outcome in wanted], Policy.ANY)).output

    one, two, bad = outcome_of(S, "one"), outcome_of(S, "two"), outcome_of(F, "no idea")
    assert asyncio.run(joined(Flow.SEQUENCE, one, two)) == "one\n\ntwo"
    assert asyncio.run(joined(Flow.SEQUENCE, one, bad)) == "one"
    assert asyncio.run(joined(Flow.FALLBACK, bad, two)) == "two"
    assert asyncio.run(joined(Flow.PARALLEL, bad, one, two)) == "one\n\ntwo"


async def test_parallel_children_really_run_at_the_same_time() -> None:
    meeting = asyncio.Barrier(3)

    async def child() -> NodeOutcome:
        await meeting.wait()  # one after another, they would wait here for ever
        return outcome_of(S)

    result = await run_flow(Flow.PARALLEL, [child, child, child])
    assert result.end is S


async def test_a_fault_in_one_parallel_child_leaves_no_other_running() -> None:
    cancelled = asyncio.Event()

    async def waits() -> NodeOutcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return outcome_of(S)

    async def breaks() -> NodeOutcome:
        raise LookupError("a bug")

    with pytest.raises(ExceptionGroup) as caught:
        await run_flow(Flow.PARALLEL, [waits, breaks])
    assert caught.group_contains(LookupError)
    assert cancelled.is_set()
