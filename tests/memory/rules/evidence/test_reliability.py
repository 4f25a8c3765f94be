"""How far people can be relied on, as a function of what they judged."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from memory.model.evidence import JudgementCount
from memory.rules.evidence.reliability import CERTAIN, LEAST_RELIABLE, by_person, reliability

COUNTS = st.builds(
    JudgementCount,
    actor=st.sampled_from(["ana", "bo", "cy"]),
    confidence=st.integers(0, 100),
    is_right=st.booleans(),
    is_known=st.booleans(),
    is_checked=st.booleans(),
    number=st.integers(1, 60),
)
MANY = st.lists(COUNTS, max_size=30)


def judged(actor: str, right: int, wrong: int, confidence: int = CERTAIN) -> list[JudgementCount]:
    each = JudgementCount(actor=actor, confidence=confidence, is_right=True, is_known=True)
    return [each._replace(number=right), each._replace(is_right=False, number=wrong)]


def of(counts: Sequence[JudgementCount], actor: str = "ana") -> float:
    return reliability(by_person(counts)).get(actor, 1.0)


def test_a_fifth_of_certain_answers_refused_is_three_fifths() -> None:
    assert of(judged("ana", 784, 216)) == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize(("right", "wrong"), [(0, 0), (100, 0), (98, 2), (1, 0)])
def test_whoever_refuses_no_more_than_is_wrong_is_relied_on(right: int, wrong: int) -> None:
    assert reliability(by_person(judged("ana", right, wrong))) == {}


def test_one_refusal_is_no_record_yet() -> None:
    assert of(judged("ana", 0, 1)) > 0.85


def test_refusals_of_what_is_not_certain_say_nothing_of_a_person() -> None:
    assert of(judged("ana", 0, 100, CERTAIN - 1)) == 1.0


def test_refusals_of_what_nobody_else_approved_say_nothing_of_a_person() -> None:
    of_others = [each._replace(is_checked=False) for each in judged("ana", 0, 100)]
    assert of(of_others) == 1.0
    assert of([*of_others, *judged("ana", 0, 3)]) == of(judged("ana", 0, 3)) < 1.0


@given(MANY, st.integers(CERTAIN, 100))
def test_a_refusal_never_raises_it_and_an_approval_never_lowers_it(counts: list[JudgementCount], at: int) -> None:
    right, wrong = judged("ana", 1, 1, at)
    counts = [*counts, *judged("ana", 1, 0, 0)]  # among those who count already
    assert of([*counts, wrong]) <= of(counts) <= of([*counts, right])


@given(MANY, MANY)
def test_nobody_changes_anothers(counts: list[JudgementCount], more: list[JudgementCount]) -> None:
    known = [each._replace(is_known=True) for each in counts]
    others = [each._replace(actor="eve", is_known=True) for each in more]
    assert all(of([*known, *others], actor) == of(known, actor) for actor in ("ana", "bo", "cy"))


@given(MANY)
def test_it_is_within_bounds_whatever_the_order(counts: list[JudgementCount]) -> None:
    found = reliability(by_person(counts))
    assert all(LEAST_RELIABLE <= each < 1 for each in found.values())
    assert reliability(by_person(counts[::-1])) == found
