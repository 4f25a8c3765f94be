"""How many candidates a person is asked about."""

import pytest
from hypothesis import given, strategies as st

from bot.adapters.llm.offline.ranking import ASKED_FROM, SUGGESTED_FROM, on_offer
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
    ],
)
def test_beside_what_is_worth_asking_about_is_what_is_likely_too(
    likeliest: list[tuple[float, float]], offered: int
) -> None:
    assert on_offer(likeliest) == offered


@given(st.lists(st.tuples(BELIEFS, BELIEFS), max_size=6))
def test_a_person_is_asked_only_where_something_is_worth_it(candidates: list[tuple[float, float]]) -> None:
    likeliest = sorted(candidates, key=max, reverse=True)
    offered = on_offer(likeliest)
    first = likeliest[:MOST_OPTIONS]
    assert offered <= len(first)
    assert (offered > 0) is any(belief >= ASKED_FROM or suggested >= SUGGESTED_FROM for belief, suggested in first)
