"""Which lessons may be shown, and which of them are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.evidence import InfluentialLesson
from memory.rules.evidence.posterior import EvidenceConfig, Observation, Posterior, Voice, posterior
from memory.rules.evidence.weighing import INFLUENTIAL, influential_places, most_influential

CANDIDATES = 4

seen = st.builds(
    Observation,
    candidates=st.tuples(st.integers(0, CANDIDATES - 1)),
    approves=st.booleans(),
    noise=st.sampled_from([0.2, 1.0]),
    voices=st.sampled_from([(), (Voice("ann"),), (Voice("ben"),)]),
)
lessons = st.lists(
    st.builds(
        InfluentialLesson,
        episode_id=st.uuids().map(str),
        candidate=st.integers(0, CANDIDATES),
        action=st.just("answer"),
        approves=st.booleans(),
        belief=st.just(0.0),
    ),
    max_size=10,
)


def weighed(said: list[Observation], prior: list[float] | None = None) -> Posterior:
    """All about one question."""
    start = np.array(prior or [0.0] * CANDIDATES)
    count = len(said)
    return posterior(np.ones(count), np.ones((count, count)), said, start, np.tile(start, (count, 1)), EvidenceConfig())


def right(candidate: int = 0, noise: float = 0.2, author: str = "") -> Observation:
    return Observation(candidates=(candidate,), approves=True, noise=noise, voices=(Voice(author),) if author else ())


def wrong(candidate: int = 0, noise: float = 1.0, author: str = "") -> Observation:
    return Observation(candidates=(candidate,), approves=False, noise=noise, voices=(Voice(author),) if author else ())


@given(st.lists(seen, max_size=8), st.booleans())
def test_what_is_shown_agrees_with_the_belief(said: list[Observation], is_sure: bool) -> None:
    found = weighed(said)
    places = influential_places(said, found, is_sure=is_sure)
    for place in places:
        value = found.values[said[place].candidates[0]]
        assert bool(value > 0) is said[place].approves
    effects = [abs(found.effects[place, said[place].candidates[0]]) for place in places]
    assert effects == pytest.approx(sorted(effects, reverse=True))
    assert all(effect >= INFLUENTIAL for effect in effects)


def test_two_members_who_speak_against_a_teachers_answer_are_not_shown() -> None:
    said = [right(), wrong(author="eve"), wrong(author="mal")]
    assert influential_places(said, weighed(said), is_sure=False) == [0]
    alone = said[1:]
    assert influential_places(alone, weighed(alone), is_sure=False) == [0, 1]


def test_a_refusal_of_what_would_be_done_all_the_same_is_not_shown() -> None:
    said = [wrong(noise=9.0)]
    found = weighed(said, [0.9, 0.0, 0.0, 0.0])
    assert influential_places(said, found, is_sure=False) == [0]
    assert influential_places(said, found, is_sure=True) == []


@given(lessons, st.integers(0, 6))
def test_few_are_chosen_each_of_another_candidate_and_of_both_signs(
    influential: list[InfluentialLesson], most: int
) -> None:
    chosen = most_influential(influential, most)
    first = list({each.candidate: each for each in reversed(influential)}.values())
    assert len(chosen) == min(most, len(first))
    assert len({each.candidate for each in chosen}) == len(chosen)
    assert all(each in first for each in chosen)
    if most >= 2:
        assert {each.approves for each in chosen} == {each.approves for each in first}
    if chosen:
        assert chosen[0] == influential[0]
