"""Which questions to teach first."""

import numpy as np
from hypothesis import given, strategies as st

from memory.model import Vector
from memory.rules.evidence.coverage import SETTLED_FROM, greedy_cover


def vectors(*angles: float) -> list[Vector]:
    return [np.array([np.cos(angle), np.sin(angle)], np.float32) for angle in angles]


def test_the_question_that_settles_most_comes_first() -> None:
    alone, group = [2.0], [0.0, 0.1, -0.1]
    assert greedy_cover(vectors(*alone, *group), 5) == [(1, [1, 2, 3]), (0, [0])]
    assert greedy_cover(vectors(*alone, *group), 1) == [(1, [1, 2, 3])]
    assert greedy_cover([], 5) == []


@given(st.lists(st.floats(0, 6.2), max_size=12))
def test_every_question_is_settled_once_and_by_one_that_is_near(angles: list[float]) -> None:
    goals = vectors(*angles)
    groups = greedy_cover(goals, len(goals) or 1)
    settled = [n for _, group in groups for n in group]
    assert sorted(settled) == list(range(len(goals)))
    for first, group in groups:
        assert group[0] == first
        assert all(n == first or goals[first] @ goals[n] >= SETTLED_FROM - 1e-6 for n in group)
    assert [len(group) for _, group in groups] == sorted((len(group) for _, group in groups), reverse=True)
