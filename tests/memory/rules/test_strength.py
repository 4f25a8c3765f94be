"""Trust follows verdicts within bounds; attention rises when shown and fades with disuse."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory.model import Signal, Verdict, Verdicts, derive_strength
from memory.rules.strength import NUDGE, NUDGE_MAX, NUDGE_MIN, SALIENCE_MAX, bumped, nudged, salience
from tests.doubles.memory_world import START

verdict = st.sampled_from(Verdict)
all_verdicts = st.builds(Verdicts, personal=verdict, channel=verdict, workspace=verdict)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (Verdicts(), 0.5),
        (Verdicts(personal=Verdict.DISPUTED), 0.5),
        (Verdicts(personal=Verdict.SUCCESS), 0.7),
        (Verdicts(personal=Verdict.FAILURE), 0.7),
        (Verdicts(channel=Verdict.SUCCESS), 0.85),
        (Verdicts(personal=Verdict.SUCCESS, channel=Verdict.DISPUTED), 0.7),
        (Verdicts(channel=Verdict.FAILURE, workspace=Verdict.FAILURE), 1.0),
    ],
)
def test_the_widest_audience_that_decided_gives_the_base(verdicts: Verdicts, expected: float) -> None:
    assert derive_strength(verdicts, 0.0) == expected


@given(all_verdicts, st.lists(st.sampled_from(Signal)))
def test_strength_and_nudge_stay_within_their_bounds(verdicts: Verdicts, signals: list[Signal]) -> None:
    nudge = 0.0
    for signal in signals:
        nudge = nudged(nudge, signal)
        assert NUDGE_MIN <= nudge <= NUDGE_MAX
        assert 0.0 <= derive_strength(verdicts, nudge) <= 1.0


@given(st.lists(st.sampled_from([Signal.IGNORED, Signal.CONTRADICTED, Signal.UNKNOWN]), max_size=200))
def test_no_number_of_unlucky_answers_erases_a_taught_lesson(signals: list[Signal]) -> None:
    nudge = 0.0
    for signal in signals:
        nudge = nudged(nudge, signal)
    assert derive_strength(Verdicts(personal=Verdict.SUCCESS), nudge) >= 0.5


@given(all_verdicts)
def test_rejection_is_knowledge_not_decay(verdicts: Verdicts) -> None:
    turned = {Verdict.SUCCESS: Verdict.FAILURE, Verdict.FAILURE: Verdict.SUCCESS}
    opposite = Verdicts(**{name: turned.get(v, v) for name, v in _named(verdicts).items()})
    assert derive_strength(opposite, 0.0) == derive_strength(verdicts, 0.0)


def _named(verdicts: Verdicts) -> dict[str, Verdict]:
    return {"personal": verdicts.personal, "channel": verdicts.channel, "workspace": verdicts.workspace}


def test_nothing_to_judge_by_moves_nothing() -> None:
    assert NUDGE[Signal.UNKNOWN] == 0.0
    assert nudged(0.1, Signal.UNKNOWN) == 0.1


def test_salience_halves_in_a_fortnight_and_rises_by_a_tenth() -> None:
    assert salience(1.0, START, START + timedelta(days=14)) == 0.5
    assert salience(1.0, START, START + timedelta(days=28)) == 0.25
    assert bumped(1.0, START, START) == 1.1
    assert bumped(1.0, START, START + timedelta(days=14)) == 0.6


@given(st.floats(0, SALIENCE_MAX), st.integers(-100, 10_000))
def test_salience_is_bounded_and_a_clock_that_ran_backwards_changes_nothing(value: float, days: int) -> None:
    now = START + timedelta(days=days)
    assert 0.0 <= salience(value, START, now) <= value
    assert 0.0 <= bumped(value, START, now) <= SALIENCE_MAX
    if days <= 0:
        assert salience(value, START, now) == value
