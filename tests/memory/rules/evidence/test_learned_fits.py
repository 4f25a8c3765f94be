"""How well actions fit goals: the laws of class means that leave a lesson out of its own prior."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memory.rules.evidence.posterior import EvidenceConfig, learned_fits

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

CONFIG = EvidenceConfig()
ACTIONS, DIMENSION = 4, 8


def unit(chance: np.random.Generator, rows: int) -> "Matrix":
    matrix = chance.normal(size=(rows, DIMENSION))
    units: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return units


def case(seed: int, lessons: int) -> tuple["Matrix", "Matrix", "Matrix"]:
    """Goals, descriptions, and what each lesson approves; the last of them nothing."""
    chance = np.random.default_rng(seed)
    approves = np.eye(ACTIONS)[chance.integers(0, ACTIONS, lessons)]
    approves[-1:] = 0
    return unit(chance, 1 + lessons), unit(chance, ACTIONS), approves


def fits(goals: "Matrix", descriptions: "Matrix", approves: "Matrix") -> "Matrix":
    """Where all lessons that there are were found."""
    lessons = approves.sum(axis=0)
    cosines = (goals[0] @ goals[1:].T @ approves) / np.maximum(lessons, 1)
    at_goals = np.vstack([np.zeros(ACTIONS), approves])
    return learned_fits(goals @ descriptions.T, lessons, cosines, goals @ goals.T, at_goals, CONFIG)


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_where_all_lessons_were_found_it_is_the_mean_of_the_others(seed: int, lessons: int) -> None:
    goals, descriptions, approves = case(seed, lessons)
    found, described, between = fits(goals, descriptions, approves), goals @ descriptions.T, goals @ goals.T
    for row in range(1 + lessons):
        for action in range(ACTIONS):
            others = [n for n in range(lessons) if approves[n, action] and n + 1 != row]
            together = sum(between[row, n + 1] - CONFIG.goals_alike for n in others)
            expected = CONFIG.description_worth * described[row, action] + together
            assert found[row, action] == pytest.approx(expected / (CONFIG.description_worth + len(others)))


def test_what_nobody_approved_is_as_its_description_says() -> None:
    goals, descriptions, approves = case(3, 6)
    assert np.allclose(fits(goals, descriptions, np.zeros_like(approves)), goals @ descriptions.T)


def test_lessons_that_were_not_found_move_with_the_description() -> None:
    goals, descriptions, _ = case(5, 1)
    described, nothing = goals @ descriptions.T, np.zeros((2, ACTIONS))
    of_each, means = np.full(ACTIONS, 7.0), np.full(ACTIONS, 0.3)
    at_goal, at_lesson = learned_fits(described, of_each, means, goals @ goals.T, nothing, CONFIG)
    assert at_lesson - at_goal == pytest.approx(described[1] - described[0])
