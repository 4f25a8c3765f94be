"""The threshold as a function of what people judged: its laws, and how it serves streams of judgements."""

import random
from collections.abc import Sequence
from statistics import median

import pytest
from hypothesis import given, strategies as st

from memory.model.evidence import INITIAL_THRESHOLD, JudgementCount
from memory.rules.evidence.reliability import CERTAIN
from memory.rules.evidence.threshold import MOST_OF_ONE, PRIOR_JUDGEMENTS, judged_from, newest_counted, threshold

BUDGET = 0.05
CONFIDENCES = st.integers(0, 100)
UNCERTAIN = st.integers(0, CERTAIN - 1)
COUNTS = st.builds(
    JudgementCount,
    actor=st.sampled_from(["ana", "bo", "cy"]),
    confidence=CONFIDENCES,
    is_right=st.booleans(),
    is_known=st.just(value=True),
    number=st.integers(1, 60),
)
MANY = st.lists(COUNTS, max_size=30)
BUDGETS = st.floats(0.01, 0.5)


def judged(actor: str, confidence: int, right: int, wrong: int, *, is_known: bool = True) -> list[JudgementCount]:
    each = JudgementCount(actor=actor, confidence=confidence, is_right=True, is_known=is_known)
    return [each._replace(number=right), each._replace(is_right=False, number=wrong)]


def shares_wrong(counts: Sequence[JudgementCount]) -> list[float]:
    return [wrong / judged for judged, wrong in zip(*judged_from(counts), strict=True)]


def crowd(people: int, *, of_each: int = 60, slips: float = 0.0, seed: int = 1) -> list[JudgementCount]:
    """What people say of answers of every confidence that are as often wrong as the prior says, `slips` by mistake."""
    chance = random.Random(seed)
    found: list[JudgementCount] = []
    for person in range(people):
        for _ in range(of_each):
            confidence = chance.choice([*range(5, 60, 2), *[70] * 10])
            is_right = chance.random() > 0.02 + 0.73 * 2.718 ** (-0.09 * confidence)
            said = is_right != (chance.random() < slips)
            found.append(JudgementCount(actor=f"p{person}", confidence=confidence, is_right=said, is_known=True))
    return found


def test_it_starts_where_the_prior_has_it() -> None:
    assert threshold([], BUDGET) == INITIAL_THRESHOLD
    assert threshold([], 0.02) > threshold([], BUDGET) > threshold([], 0.1)


@given(MANY, BUDGETS)
def test_it_stays_within_bounds(counts: Sequence[JudgementCount], budget: float) -> None:
    assert 0.05 <= threshold(counts, budget) <= 0.6


@given(MANY, BUDGETS, st.randoms(use_true_random=False))
def test_neither_order_nor_division_matters(counts: list[JudgementCount], budget: float, chance: random.Random) -> None:
    singles = [each._replace(number=1) for each in counts for _ in range(each.number)]
    chance.shuffle(singles)
    assert threshold(singles, budget) == threshold(counts, budget)
    assert shares_wrong(singles) == pytest.approx(shares_wrong(counts))


@given(MANY, BUDGETS, BUDGETS)
def test_a_larger_budget_never_raises_it(counts: Sequence[JudgementCount], one: float, other: float) -> None:
    assert threshold(counts, max(one, other)) <= threshold(counts, min(one, other))


@given(MANY, UNCERTAIN, st.sampled_from(["ana", "bo", "cy"]), BUDGETS)
def test_a_refusal_never_lowers_it_and_an_approval_never_raises_it(
    counts: list[JudgementCount], confidence: int, actor: str, budget: float
) -> None:
    """Of whoever judged before: with a second person the first counts for less."""
    counts = [*counts, *(judged(actor, 5, 1, 1) if counts else [])]
    (right, wrong), before = judged(actor, confidence, 1, 1), shares_wrong(counts)
    assert all(new >= old - 1e-12 for new, old in zip(shares_wrong([*counts, wrong]), before, strict=True))
    assert all(new <= old + 1e-12 for new, old in zip(shares_wrong([*counts, right]), before, strict=True))
    assert threshold([*counts, wrong], budget) >= threshold(counts, budget) >= threshold([*counts, right], budget)


def test_it_rises_with_what_is_refused_and_falls_with_what_is_approved() -> None:
    assert threshold(judged("ana", 20, 20, 20), BUDGET) > INITIAL_THRESHOLD
    assert threshold([*judged("ana", 20, 80, 1), *judged("ana", 10, 60, 2)], BUDGET) < INITIAL_THRESHOLD


def test_one_person_alone_counts_in_full() -> None:
    few = [*judged("ana", 20, 90, 30), *judged("ana", 50, 80, 0)]
    many = [each._replace(number=each.number * 10) for each in few]
    at_twenty = [shares_wrong(counts)[15] for counts in (few, many)]
    assert at_twenty[0] < at_twenty[1]
    assert at_twenty[1] == pytest.approx(30 / 200, abs=0.02)


@pytest.mark.parametrize(("people", "of_each"), [(1, 500), (5, 100), (20, 100)])
@pytest.mark.parametrize("slips", [0.0, 0.1, 0.2])
def test_who_refuses_what_is_right_by_mistake_does_not_drive_it_up(people: int, of_each: int, slips: float) -> None:
    found = [threshold(crowd(people, of_each=of_each, slips=slips, seed=seed), BUDGET) for seed in range(9)]
    assert 0.12 <= median(found) <= 0.25
    assert max(found) <= 0.4


def test_who_refuses_everything_counts_for_nothing() -> None:
    honest = crowd(9)
    angry = [one for n in (5, 20, 35, 50, 70) for one in judged("eve", n, 0, 60)]
    assert abs(threshold([*honest, *angry], BUDGET) - threshold(honest, BUDGET)) <= 0.03


@given(
    st.lists(
        st.tuples(st.sampled_from(["x1", "x2", "x3"]), UNCERTAIN, st.integers(0, 500), st.integers(0, 500)),
        min_size=1,
        max_size=12,
    )
)
def test_what_k_people_can_move_is_bounded(votes: list[tuple[str, int, int, int]]) -> None:
    """Whatever they say below the highest confidences, and however often: the others and the prior keep their part."""
    honest = crowd(9)
    hostile = [one for actor, confidence, right, wrong in votes for one in judged(actor, confidence, right, wrong)]
    most = MOST_OF_ONE * len({actor for actor, *_ in votes})
    for n, w, n_now, w_now in zip(*judged_from(honest), *judged_from([*honest, *hostile]), strict=True):
        assert n - 1e-9 <= n_now <= n + most + 1e-9
        assert w - 1e-9 <= w_now <= w + most + 1e-9
        assert w / (n + most) - 1e-9 <= w_now / n_now <= (w + most) / (n + most) + 1e-9


@pytest.mark.parametrize("refused", [0.03, 0.035, 0.04])
def test_the_fewer_are_judged_the_more_is_asked(refused: float) -> None:
    """At the same share of refusals, which is within the budget."""
    few, more, many = (
        threshold(judged("ana", 20, n - round(refused * n), round(refused * n)), BUDGET) for n in (50, 200, 1000)
    )
    assert few > INITIAL_THRESHOLD
    assert few > more > many


@pytest.mark.parametrize(("budget", "newest"), [(0.01, 3500), (0.02, 1750), (0.05, 700), (0.1, 350), (0.5, 350)])
def test_a_smaller_budget_is_counted_from_more_judgements(budget: float, newest: int) -> None:
    assert newest_counted(budget) == newest


def test_where_somebody_is_known_only_they_count() -> None:
    known = judged("ana", 20, 50, 1)
    strangers = [one for n in range(5) for one in judged(f"s{n}", 20, 0, 100, is_known=False)]
    assert threshold([*known, *strangers], BUDGET) == threshold(known, BUDGET)
    assert threshold(strangers, BUDGET) > INITIAL_THRESHOLD


@pytest.mark.parametrize("confidence", [10, 20, 30, 45, 69, 100])
def test_one_refusal_moves_it_little(confidence: int) -> None:
    """In a new workspace, however sure the bot was: it does not ask about everything from then on."""
    found = threshold(judged("ana", confidence, 0, 1), BUDGET)
    assert found <= INITIAL_THRESHOLD + (0.03 if confidence == 10 else 0.1)


def test_many_judgements_move_it_all_the_way() -> None:
    assert threshold(judged("ana", 7, 30 * int(PRIOR_JUDGEMENTS), 0), 0.02) == 0.05
