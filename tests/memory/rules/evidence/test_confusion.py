"""How much what was taught is confused: its laws, and the threshold that follows from it."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from memory.model.evidence import INITIAL_THRESHOLD
from memory.rules.evidence.confusion import MARGIN, LeftOut, confusion
from memory.rules.evidence.threshold import MOST_OF_ONE, counted_threshold, share_wrong, threshold

BUDGET = 0.05
LESSONS = st.lists(
    st.builds(
        LeftOut,
        author=st.sampled_from(["ana", "bo", "cy"]),
        is_known=st.booleans(),
        confidence=st.floats(-0.2, 1),
        is_right=st.booleans(),
    ),
    max_size=30,
)


def lessons(
    right: int, wrong: int, *, author: str = "ana", confidence: float = 0.2, is_known: bool = True
) -> list[LeftOut]:
    each = LeftOut(author, is_known, confidence, is_right=True)
    return [each] * right + [each._replace(is_right=False)] * wrong


def test_with_nothing_taught_it_is_as_usual() -> None:
    assert confusion([]) == 1.0
    assert threshold([], BUDGET, confusion([])) == INITIAL_THRESHOLD


def test_as_many_wrong_as_usual_add_no_more_than_the_margin() -> None:
    wrong = round(4000 * share_wrong(0.2))
    assert confusion(lessons(4000 - wrong, wrong)) == pytest.approx(1 + MARGIN / math.sqrt(wrong), abs=0.01)


@given(LESSONS, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(left_out: list[LeftOut], chance: random.Random) -> None:
    shuffled = list(left_out)
    chance.shuffle(shuffled)
    assert confusion(shuffled) == pytest.approx(confusion(left_out))


@given(LESSONS, st.data())
def test_one_more_that_would_be_wrong_never_lowers_it(left_out: Sequence[LeftOut], data: st.DataObject) -> None:
    if left_out:
        place = data.draw(st.integers(0, len(left_out) - 1))
        worse = [replaced(each, is_right=False) if n == place else each for n, each in enumerate(left_out)]
        assert confusion(worse) >= confusion(left_out) > 0


def replaced(lesson: LeftOut, *, is_right: bool) -> LeftOut:
    return lesson._replace(is_right=is_right)


@given(st.floats(0.05, 8), st.floats(0.05, 8))
def test_more_confusion_never_lowers_the_threshold(one: float, other: float) -> None:
    assert threshold([], BUDGET, min(one, other)) <= threshold([], BUDGET, max(one, other))


def test_what_is_confused_raises_the_threshold_and_what_is_told_apart_lowers_it() -> None:
    assert threshold([], BUDGET, confusion(lessons(60, 40))) > INITIAL_THRESHOLD
    assert threshold([], BUDGET, confusion(lessons(200, 2))) < INITIAL_THRESHOLD


def test_where_somebody_is_known_nobody_else_counts() -> None:
    known, strangers = lessons(60, 4), lessons(0, 300, author="eve", is_known=False)
    assert confusion([*known, *strangers]) == confusion(known)
    assert confusion(strangers) > confusion([])


def test_one_of_several_counts_for_so_many_lessons_at_most() -> None:
    honest = lessons(60, 4)
    once, often = (lessons(0, round(times * MOST_OF_ONE), author="eve") for times in (1, 50))
    assert confusion([*honest, *often]) == pytest.approx(confusion([*honest, *once]))


@pytest.mark.parametrize("attackers", [1, 2, 3])
def test_of_several_nobody_more_than_halves_it_with_answers_that_are_hardly_in_doubt(attackers: int) -> None:
    honest = lessons(1, 0, confidence=0.0)
    easy = [each for n in range(attackers) for each in lessons(400, 0, author=f"eve-{n}", confidence=0.06)]
    assert confusion([*honest, *easy]) >= 1 / (1 + attackers)


def test_one_of_several_does_not_much_more_than_double_it() -> None:
    honest = lessons(1, 0, confidence=0.0)
    worst = confusion([*honest, *lessons(0, 400, author="eve", confidence=0.6)])
    assert 1.5 < worst < 2.3
    assert threshold([], BUDGET, worst) < 2 * threshold([], BUDGET, 1.0) + 0.01


def test_who_is_known_and_tells_nothing_leaves_nothing_to_others() -> None:
    known, strangers = lessons(1, 0, confidence=0.0), lessons(10, 30, author="eve", is_known=False)
    assert confusion([*known, *strangers]) == 1.0


def test_what_would_not_be_answered_anyway_says_nothing() -> None:
    assert confusion(lessons(0, 50, confidence=0.04)) == 1.0


def test_it_is_kept_with_the_threshold_that_it_leads_to() -> None:
    found = counted_threshold("w", [], BUDGET, 2.5)
    assert found.confusion == 2.5
    assert found.value == threshold([], BUDGET, 2.5)
    assert replace(found, confusion=1.0) != found
