"""Which lessons may be shown, and which of them are."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memory.model.evidence import InfluentialLesson
from memory.rules.evidence.posterior import EvidenceConfig, Posterior
from memory.rules.evidence.voices import Voice
from memory.rules.evidence.weighing import INFLUENTIAL, influential_places, most_influential
from tests.memory.rules.evidence.said import Said, believed

CANDIDATES = 4

seen = st.builds(
    Said,
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


def weighed(said: list[Said], prior: list[float] | None = None) -> Posterior:
    """All about one question."""
    start = np.array(prior or [0.0] * CANDIDATES)
    count = len(said) + 1
    return believed(said, np.ones((count, count)), np.tile(start, (count, 1)), EvidenceConfig())


def places(said: list[Said], found: Posterior, *, is_sure: bool) -> list[int]:
    observations, columns = [each.observation for each in said], [each.candidates[0] for each in said]
    return influential_places(observations, columns, found, is_sure=is_sure)


def right(candidate: int = 0, noise: float = 0.2, author: str = "") -> Said:
    return Said(candidates=(candidate,), approves=True, noise=noise, voices=(Voice(author),) if author else ())


def wrong(candidate: int = 0, noise: float = 1.0, author: str = "") -> Said:
    return Said(candidates=(candidate,), approves=False, noise=noise, voices=(Voice(author),) if author else ())


@given(st.lists(seen, max_size=8), st.booleans())
def test_what_is_shown_agrees_with_the_belief(said: list[Said], is_sure: bool) -> None:
    found = weighed(said)
    shown = places(said, found, is_sure=is_sure)
    for place in shown:
        value = found.values[said[place].candidates[0]]
        assert bool(value > 0) is said[place].approves
    effects = [abs(found.effects[place, said[place].candidates[0]]) for place in shown]
    assert effects == pytest.approx(sorted(effects, reverse=True))
    assert all(effect >= INFLUENTIAL for effect in effects)


def test_two_members_who_speak_against_a_teachers_answer_are_not_shown() -> None:
    said = [right(), wrong(author="eve"), wrong(author="mal")]
    assert places(said, weighed(said), is_sure=False) == [0]
    alone = said[1:]
    assert places(alone, weighed(alone), is_sure=False) == [0, 1]


def test_a_refusal_of_what_would_be_done_all_the_same_is_not_shown() -> None:
    said = [wrong(noise=9.0)]
    found = weighed(said, [0.9, 0.0, 0.0, 0.0])
    assert places(said, found, is_sure=False) == [0]
    assert places(said, found, is_sure=True) == []


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
