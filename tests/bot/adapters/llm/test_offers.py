"""How many candidates a person is asked about."""

import pytest
from hypothesis import given, strategies as st

from bot.adapters.llm.offline.ranking import Likelihood, on_offer
from memory.model import MOST_OPTIONS

BELIEFS = st.floats(-1, 1, allow_nan=False)


@pytest.mark.parametrize(
    ("likeliest", "offered"),
    [
        ([], 0),
        ([(0.044, 0.0)], 0),
        ([(0.045, 0.0)], 1),
        ([(0.044, 0.0), (0.044, 0.0), (0.044, 0.0)], 0),  # none of them is worth asking about by itself
        ([(0.1, 0.0), (0.02, 0.0), (0.019, 0.0)], 2),
        ([(0.5, 0.0), (0.05, 0.0), (0.049, 0.0)], 2),  # a tenth of the likeliest
        ([(0.2, 0.0), (0.1, 0.0), (0.1, 0.0), (0.1, 0.0)], 3),
        ([(0.0, 0.079)], 0),
        ([(0.0, 0.08), (0.03, 0.0)], 2),  # what one member alone said, and what is believed beside it
        ([(0.05, 0.0), (-0.2, -0.3)], 1),
        ([(0.05, 0.0, 1)], 1),
        ([(0.064, 0.064, 3)], 0),  # an answer with three lessons is believed so much for anything
        ([(0.065, 0.0, 3)], 1),
        ([(0.064, 0.0, 3), (0.05, 0.0, 1)], 2),
        ([(0.064, 0.0, 8)], 0),
        ([(0.065, 0.0, 8)], 1),
    ],
)
def test_beside_what_is_worth_asking_about_is_what_is_likely_too(
    likeliest: list[tuple[float, float] | tuple[float, float, int]], offered: int
) -> None:
    assert on_offer([Likelihood(*each) for each in likeliest]) == offered


@given(st.lists(st.builds(Likelihood, BELIEFS, BELIEFS, st.integers(0, 8)), max_size=6))
def test_a_person_is_asked_only_where_something_is_worth_it(candidates: list[Likelihood]) -> None:
    likeliest = sorted(candidates, key=lambda each: max(each.belief, each.suggested), reverse=True)
    offered = on_offer(likeliest)
    first = likeliest[:MOST_OPTIONS]
    assert offered <= len(first)
    assert (offered > 0) is any(each.is_worth_asking for each in first)


@given(BELIEFS, BELIEFS, st.integers(0, 7))
def test_an_answer_with_more_lessons_needs_more_belief(belief: float, suggested: float, lessons: int) -> None:
    more = Likelihood(belief, suggested, lessons + 1)
    assert Likelihood(belief, suggested, lessons).is_worth_asking or not more.is_worth_asking
