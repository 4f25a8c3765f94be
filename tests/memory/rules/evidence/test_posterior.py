"""The laws of the evidence rule."""

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.rules.evidence.posterior import EvidenceConfig, Observation, Posterior, description_prior, posterior

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

CONFIG = EvidenceConfig()
ACTIONS = 3
DIMENSION = 6


def unit(seed: int, rows: int) -> "Matrix":
    matrix = np.random.default_rng(seed).normal(size=(rows, DIMENSION))
    units: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return units


observations = st.lists(
    st.builds(
        Observation,
        candidates=st.lists(st.integers(0, ACTIONS - 1), min_size=1, unique=True).map(tuple),
        approves=st.booleans(),
        noise=st.sampled_from([0.2, 1.0]),
        author=st.sampled_from(["", "ann", "ben"]),
    ),
    max_size=8,
)


def believed(seed: int, said: list[Observation], config: EvidenceConfig = CONFIG) -> Posterior:
    goals, descriptions = unit(seed, len(said) + 1), unit(seed + 1, ACTIONS)
    prior = description_prior(goals, descriptions, config)
    return posterior(goals[1:] @ goals[0], goals[1:] @ goals[1:].T, said, prior[0], prior[1:], config)


@given(st.integers(0, 1000), observations)
def test_it_is_the_dense_solution_of_the_mixed_model(seed: int, said: list[Observation]) -> None:
    goals, descriptions = unit(seed, len(said) + 1), unit(seed + 1, ACTIONS)
    prior = description_prior(goals, descriptions, CONFIG)
    expected = prior[0].copy()
    kernel = np.exp(CONFIG.sharpness * (np.minimum(goals @ goals.T, 1) - 1))
    noise = np.zeros((len(said), len(said)))
    rewards = prior[1:].copy()
    for i, one in enumerate(said):
        for j, other in enumerate(said):
            noise[i, j] = (one.noise if i == j else 0) + CONFIG.author_effect * (one.author == other.author != "")
        if one.approves:
            rewards[i] = 0
        rewards[i, list(one.candidates)] = 1 if one.approves else CONFIG.refused
    if said:
        expected += kernel[0, 1:] @ np.linalg.inv(kernel[1:, 1:] + noise) @ (rewards - prior[1:])
    assert np.allclose(believed(seed, said).values, expected)


@given(st.integers(0, 1000), observations, st.randoms(use_true_random=False))
def test_the_order_of_lessons_changes_nothing(seed: int, said: list[Observation], random: Random) -> None:
    goals, descriptions = unit(seed, len(said) + 1), unit(seed + 1, ACTIONS)
    prior = description_prior(goals, descriptions, CONFIG)
    order = list(range(len(said)))
    random.shuffle(order)
    lessons = goals[1:][order]
    said_so = [said[n] for n in order]
    shuffled = posterior(lessons @ goals[0], lessons @ lessons.T, said_so, prior[0], prior[1:][order], CONFIG)
    assert np.allclose(shuffled.values, believed(seed, said).values)


@given(st.integers(0, 1000), observations)
def test_a_belief_is_the_prior_and_what_each_lesson_adds(seed: int, said: list[Observation]) -> None:
    found = believed(seed, said)
    prior = description_prior(unit(seed, len(said) + 1), unit(seed + 1, ACTIONS), CONFIG)[0]
    assert np.allclose(found.values, prior + found.effects.sum(axis=0))
    assert found.weights.shape == (len(said),)


def same_question(said: list[Observation]) -> "Matrix":
    """The beliefs where every lesson is about the very question, and nothing was believed before."""
    count = len(said)
    nothing = np.zeros((count, ACTIONS))
    return posterior(np.ones(count), np.ones((count, count)), said, np.zeros(ACTIONS), nothing, CONFIG).values


def approval(author: str = "", noise: float = 1.0) -> Observation:
    return Observation(candidates=(0,), approves=True, noise=noise, author=author)


@given(st.integers(1, 40), st.sampled_from([0.2, 1.0]))
def test_more_agreement_never_lowers_a_belief(count: int, noise: float) -> None:
    fewer = same_question([approval(noise=noise)] * count)[0]
    assert same_question([approval(noise=noise)] * (count + 1))[0] > fewer


def test_copies_of_one_persons_lesson_never_reach_far() -> None:
    bound = 1 / (1 + CONFIG.author_effect)
    one, ten, forty = (same_question([approval("ann")] * count)[0] for count in (1, 10, 40))
    assert one < ten < forty < bound
    assert same_question([approval("ann"), approval("ben")])[0] > one * 1.5


def test_a_teachers_word_outweighs_a_members() -> None:
    teacher = Observation(candidates=(1,), approves=True, noise=CONFIG.trusted_noise)
    values = same_question([approval("ann"), approval("ben"), teacher])
    assert values.argmax() == 1


def test_a_refusal_lowers_what_was_refused_and_leaves_the_rest() -> None:
    values = same_question([Observation(candidates=(0,), approves=False, noise=1.0)])
    assert values[0] < 0
    assert values[1] == values[2] == 0


def test_a_question_that_offered_nothing_right_lowers_all_that_it_offered() -> None:
    values = same_question([Observation(candidates=(0, 2), approves=False, noise=1.0)])
    assert values[0] == values[2] < 0
    assert values[1] == 0


def test_without_lessons_the_best_description_is_believed_only_as_far_as_it_fits() -> None:
    descriptions = np.eye(DIMENSION)[:2]
    near, strange = np.eye(DIMENSION)[0], np.eye(DIMENSION)[5]
    prior = description_prior(np.stack([near, strange]), descriptions, CONFIG)
    assert prior[0, 0] > 0.9
    assert prior[1].max() < 0.1
    assert (prior.sum(axis=1) <= 1).all()


@pytest.mark.parametrize("wrong", [{"lessons": 0}, {"sharpness": 0.0}, {"member_noise": 0.0}, {"author_effect": -1.0}])
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"evidence rule|noise"):
        EvidenceConfig(**wrong)  # type: ignore[arg-type]
