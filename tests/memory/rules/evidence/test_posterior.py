"""The laws of the evidence rule."""

from itertools import combinations_with_replacement, product
from math import sqrt
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from memory.model.evidence import INITIAL_THRESHOLD
from memory.rules.evidence.judged_lesson import noise_of
from memory.rules.evidence.posterior import EvidenceConfig, Posterior, action_prior
from memory.rules.evidence.voices import Voice
from tests.memory.rules.evidence.said import Said, believed as believed_of

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

CONFIG = EvidenceConfig()
ACTIONS = 3
DIMENSION = 6
ANN, BEN = Voice("ann"), Voice("ben")
VOICES = [(), (ANN,), (BEN,), (ANN, BEN), (Voice("ann", 2.0), BEN), (Voice("cy", 0.3),), (Voice("cy", 0.6), ANN)]


def unit(seed: int, rows: int) -> "Matrix":
    matrix = np.random.default_rng(seed).normal(size=(rows, DIMENSION))
    units: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return units


observations = st.lists(
    st.builds(
        Said,
        candidates=st.lists(st.integers(0, ACTIONS - 1), min_size=1, unique=True).map(tuple),
        approves=st.booleans(),
        noise=st.sampled_from([0.2, 1.0]),
        voices=st.sampled_from(VOICES),
        reliability=st.sampled_from([0.4, 1.0]),
    ),
    max_size=8,
)


def believed(seed: int, said: list[Said], config: EvidenceConfig = CONFIG) -> Posterior:
    goals, descriptions = unit(seed, len(said) + 1), unit(seed + 1, ACTIONS)
    prior = action_prior(goals @ descriptions.T, config)
    return believed_of(said, goals @ goals.T, prior, config)


class Company(NamedTuple):
    """How near the goal a voice says something of a candidate, and each of the others who say the same, against it.

    And how far they are trusted, at most as a member nothing is proven of.
    """

    own: float
    trust: float
    others: list[tuple[float, float]]

    @property
    def people(self) -> float:
        return sum(trust * near**2 for near, trust in self.others)

    @property
    def alone(self) -> float:
        return 1 - max([near * trust for near, trust in self.others], default=0.0)


def company(said: list[Said], near: "Matrix", author: str, approves: bool, candidate: int) -> Company:
    nearest: dict[str, float] = {}
    trust: dict[str, float] = {}
    for each, nearness in zip(said, near, strict=True):
        for name, weight in each.voices or (Voice(""),):
            trust[name] = max(trust.get(name, 0.0), min(1.0, weight))
            if each.approves is approves and candidate in each.candidates:
                nearest[name] = max(nearest.get(name, 0.0), nearness)
    own = nearest.pop(author)
    return Company(own, trust[author], [(min(1.0, each / own), trust[name]) for name, each in nearest.items()])


def agreement(said: list[Said], near: "Matrix", voice: Voice, candidate: int) -> float:
    """How near the nearest approval of a candidate by somebody else is, times the trust in them."""
    trust: dict[str, float] = {}
    for each in said:
        for name, weight in each.voices or (Voice(""),):
            trust[name] = max(trust.get(name, 0.0), min(1.0, weight))
    return max(
        [
            float(nearness) * trust[name]
            for each, nearness in zip(said, near, strict=True)
            for name, _ in each.voices or (Voice(""),)
            if each.approves and candidate in each.candidates and name != voice.author
        ],
        default=0.0,
    )


def shared_bias(said: list[Said], i: int, j: int, kernel: "Matrix", *, is_suggestion: bool) -> float:
    """Covariance of two means of voices, where each voice of weight w has a bias of variance 1 / w.

    It has it on each candidate that both approve, or both refuse; where many approve a smaller one. It has a second
    one, which fades with distance, where it is alone with a refusal, and, unless just one other approves the same here
    and there, of what it approves far from its nearest.
    """
    one, other = said[i], said[j]
    if one.approves is not other.approves:
        return 0.0
    whole = sum(each.weight for each in one.voices) * sum(each.weight for each in other.voices)
    whole *= sqrt(len(one.candidates) * len(other.candidates))
    found = 0.0
    for ours, theirs in product(one.voices, other.voices):
        for candidate in {*one.candidates} & {*other.candidates} if ours.author == theirs.author else ():
            here = company(said, kernel[0, 1:], ours.author, one.approves, candidate)
            size, second = 1.0, (CONFIG.lone_refusal - 1) * here.alone
            if one.approves:
                second = 0.0
            if one.approves and not is_suggestion:
                size = min(1.0, 2 / (here.trust + here.people)) ** CONFIG.agreement
                none_or_many = here.alone**4 + min(1.0, max(0.0, here.people - 1))
                seconds = [
                    max(0.0, here.own / kernel[0, 1 + each] - CONFIG.elsewhere)
                    * (
                        none_or_many
                        + max(0.0, 1 - none_or_many) * (1 - agreement(said, kernel[1 + each, 1:], ours, candidate))
                    )
                    for each in (i, j)
                ]
                second = size * sqrt(seconds[0] * seconds[1])
            found += (size + second * kernel[1 + i, 1 + j]) * sqrt(ours.weight * theirs.weight)
    return found / (whole or 1)


@given(st.integers(0, 1000), observations)
def test_it_is_the_dense_solution_of_the_mixed_model(seed: int, said: list[Said]) -> None:
    goals, descriptions = unit(seed, len(said) + 1), unit(seed + 1, ACTIONS)
    prior = action_prior(goals @ descriptions.T, CONFIG)
    kernel = np.exp(CONFIG.sharpness * (np.minimum(goals @ goals.T, 1) - 1))
    noise, shared = np.diag([each.noise for each in said]), np.zeros((2, len(said), len(said)))
    rewards = prior[1:].copy()
    for i, one in enumerate(said):
        for j in range(len(said)):
            shared[:, i, j] = [shared_bias(said, i, j, kernel, is_suggestion=each) for each in (False, True)]
        if one.approves:
            rewards[i] = 0
        rewards[i, list(one.candidates)] = 1 if one.approves else CONFIG.refused * one.reliability
    found = believed(seed, said)
    effects = (CONFIG.author_effect, CONFIG.suggested_effect)
    for beliefs, effect, biases in zip((found.values, found.suggested), effects, shared, strict=True):
        weights = kernel[0, 1:] @ np.linalg.inv(kernel[1:, 1:] + noise + effect * biases)
        assert np.allclose(beliefs, prior[0] + weights @ (rewards - prior[1:]))


@given(st.integers(0, 1000), observations, st.randoms(use_true_random=False))
def test_the_order_of_lessons_changes_nothing(seed: int, said: list[Said], random: Random) -> None:
    goals, descriptions = unit(seed, len(said) + 1), unit(seed + 1, ACTIONS)
    prior = action_prior(goals @ descriptions.T, CONFIG)
    order = list(range(len(said)))
    random.shuffle(order)
    rows = [0, *(n + 1 for n in order)]
    shuffled = believed_of([said[n] for n in order], goals[rows] @ goals[rows].T, prior[rows], CONFIG)
    assert np.allclose(shuffled.values, believed(seed, said).values)


@given(st.integers(0, 1000), observations)
def test_a_belief_is_the_prior_and_what_each_lesson_adds(seed: int, said: list[Said]) -> None:
    found = believed(seed, said)
    prior = action_prior(unit(seed, len(said) + 1) @ unit(seed + 1, ACTIONS).T, CONFIG)[0]
    assert np.allclose(found.values, prior + found.effects.sum(axis=0))
    assert found.weights.shape == (len(said),)


def same_question(said: list[Said]) -> "Matrix":
    """The beliefs where every lesson is about the very question, and nothing was believed before."""
    count = len(said) + 1
    return believed_of(said, np.ones((count, count)), np.zeros((count, ACTIONS)), CONFIG).values


def approval(*authors: str, noise: float | None = None) -> Said:
    voices = tuple(Voice(author) for author in authors)
    noise = noise_of(CONFIG, voices, is_biased=True) if noise is None else noise / (len(voices) or 1)
    return Said(candidates=(0,), approves=True, noise=noise, voices=voices)


@given(st.integers(1, 40), st.sampled_from([0.2, 1.0]))
def test_more_agreement_never_lowers_a_belief(count: int, noise: float) -> None:
    fewer = same_question([approval(noise=noise)] * count)[0]
    assert same_question([approval(noise=noise)] * (count + 1))[0] > fewer


def test_copies_of_one_persons_lesson_never_reach_far() -> None:
    bound = 1 / (1 + CONFIG.author_effect)
    one, ten, forty = (same_question([approval("ann")] * count)[0] for count in (1, 10, 40))
    assert one < ten < forty < bound
    assert same_question([approval("ann"), approval("ben")])[0] > one * 1.5


beside = st.lists(st.tuples(st.integers(0, ACTIONS - 1), st.booleans()), max_size=10)


@given(st.integers(0, 1000), st.integers(1, 5), beside)
def test_whatever_else_one_person_says_they_are_believed_no_further(
    seed: int, copies: int, others: list[tuple[int, bool]]
) -> None:
    """Neither what they approve and refuse elsewhere, nor that they refuse elsewhere what they approve here."""
    said = [approval("ann")] * copies
    said += [
        Said(candidates=(candidate,), approves=approves, noise=1.0, voices=(ANN,))
        for candidate, approves in others
        if candidate or not approves
    ]
    directions = np.abs(unit(seed, len(said) + 1))  # no two are opposites, as goals hardly are
    directions[: copies + 1] = directions[0]
    found = believed_of(said, directions @ directions.T, np.zeros((len(said) + 1, ACTIONS)), CONFIG).values
    alone = 1 / (1 + CONFIG.author_effect)
    assert found[0] < alone


@given(st.integers(1, 48))
def test_one_person_alone_only_suggests_and_two_who_agree_are_sure(copies: int) -> None:
    assert same_question([approval("ann")] * copies)[0] < INITIAL_THRESHOLD
    assert same_question([approval("ann", "ben")] * copies)[0] > INITIAL_THRESHOLD


@given(st.integers(1, 48))
def test_one_person_alone_suggests_to_half_and_two_who_agree_no_less_than_is_believed(copies: int) -> None:
    alone, together = (
        believed_of([each] * copies, np.ones((copies + 1, copies + 1)), np.zeros((copies + 1, ACTIONS)), CONFIG)
        for each in (approval("ann"), approval("ann", "ben"))
    )
    assert 2 * alone.values[0] < alone.suggested[0] < 1 / (1 + CONFIG.suggested_effect)
    assert together.suggested[0] > max(alone.suggested[0], together.values[0])


@given(st.integers(0, 1000), observations)
def test_without_others_what_is_suggested_is_what_is_believed(seed: int, said: list[Said]) -> None:
    found = believed(seed, [each._replace(voices=()) for each in said])
    assert np.array_equal(found.suggested, found.values)
    assert same_question([approval("ann"), approval("ben")])[0] > INITIAL_THRESHOLD


@given(st.integers(2, 6))
def test_one_lesson_of_several_is_as_many_lessons_of_one_each(people: int) -> None:
    names = [f"person {number}" for number in range(people)]
    together, each_alone = same_question([approval(*names)])[0], same_question([approval(name) for name in names])[0]
    assert together == pytest.approx(each_alone)


@given(st.floats(0.1, 2.0), st.floats(0.0, 1.0))
def test_who_is_trusted_more_is_believed_more(weight: float, more: float) -> None:
    def belief(of: float) -> float:
        voice = Voice("ann", of)
        return float(same_question([Said(candidates=(0,), approves=True, noise=1 / of, voices=(voice,))])[0])

    assert belief(weight + more) >= belief(weight)


def test_one_refusal_does_not_undo_what_several_approved() -> None:
    assert same_question([approval("ann", "ben", "cy"), refusal("eve", noise=1.0)])[0] > INITIAL_THRESHOLD


def at(*cosines: float) -> "Matrix":
    """The cosines of a goal with some that are as near to it, and as far from each other as they can be."""
    apart = np.diag(np.sqrt([1 - each * each for each in cosines]))
    goals = np.vstack([np.eye(1, 1 + len(cosines)), np.hstack([np.array(cosines)[:, None], apart])])
    found: Matrix = goals @ goals.T
    return found


def refusal(author: str, noise: float = CONFIG.biased_noise) -> Said:
    return Said(candidates=(0,), approves=False, noise=noise, voices=(Voice(author),))


def of_answer(said: list[Said], cosines: "Matrix") -> float:
    """The belief in the candidate that all of it is about."""
    return float(believed_of(said, cosines, np.zeros((len(said) + 1, ACTIONS)), CONFIG).values[0])


@given(st.integers(0, 10), st.integers(1, 10), st.floats(-0.2, 0.2))
@example(10, 10, 0.2)
def test_who_agrees_with_many_elsewhere_is_not_sure_alone_here(others: int, times: int, far: float) -> None:
    """All approve the same for one question, and one of them for another one as well."""
    names = ["eve"] * times + [str(each) for each in range(others)]
    cosines = np.full((len(names) + 2, len(names) + 2), far)
    cosines[1:-1, 1:-1] = 1.0
    cosines[np.ix_([0, -1], [0, -1])] = 1.0
    assert of_answer([*map(approval, names), approval("eve")], cosines) < INITIAL_THRESHOLD


@given(st.integers(2, 5), st.integers(0, 16), st.floats(-0.2, 0.3))
@example(5, 16, 0.3)
def test_who_approves_the_same_elsewhere_takes_nothing_from_others_by_agreeing_here(
    others: int, elsewhere: int, far: float
) -> None:
    """Each of what they approve elsewhere is a question of its own."""
    cosines = np.full((others + elsewhere + 2, others + elsewhere + 2), far)
    here = [0, *range(1, others + 1), -1]
    cosines[np.ix_(here, here)] = 1.0
    np.fill_diagonal(cosines, 1.0)
    before = [approval(str(each)) for each in range(others)] + [approval("eve")] * elsewhere
    assert of_answer([*before, approval("eve")], cosines) > of_answer(before, cosines[:-1, :-1])


def test_of_three_who_agree_each_is_believed_farther_and_of_two_not() -> None:
    beliefs = [float(same_question([approval(name) for name in "abcdef"[:count]])[0]) for count in range(1, 7)]
    biased = [1 / (1 + (CONFIG.author_effect + CONFIG.biased_noise) / count) for count in range(1, 7)]
    assert beliefs[:2] == pytest.approx(biased[:2])
    assert all(belief > plain + 0.05 for belief, plain in zip(beliefs[2:], biased[2:], strict=True))
    assert beliefs[0] < INITIAL_THRESHOLD < beliefs[1]


@given(st.integers(1, 9), st.floats(0.01, 0.2))
def test_who_are_trusted_little_agree_as_fewer_people(count: int, trust: float) -> None:
    """All who agree are believed no farther than as many of the others as they are trusted together."""
    little = [Said((0,), True, CONFIG.biased_noise / trust, (Voice(str(each), trust),)) for each in range(count)]
    together = 1 + count * trust
    fewer = 1 / (
        1 + (CONFIG.author_effect * min(1.0, 2 / together) ** CONFIG.agreement + CONFIG.biased_noise) / together
    )
    assert same_question([approval("eve"), *little])[0] == pytest.approx(fewer)


@pytest.mark.parametrize("by", [("dan",), ("dan", "dan"), ("eve",), ("eve",) * 5, ()])
@given(st.floats(0.0, 0.2))
def test_a_refusal_alone_is_so_whatever_is_refused_elsewhere(by: tuple[str, ...], far: float) -> None:
    """The same answer may well be wrong for another question."""
    elsewhere = [refusal(author) for author in by]
    approved = approval("ann", "ben")
    assert of_answer([approved, refusal("eve"), *elsewhere], at(1.0, 1.0, *[far] * len(by))) > INITIAL_THRESHOLD


said_of_one = st.lists(
    st.tuples(st.booleans(), st.sampled_from("abcd"), st.sampled_from([0.3, 0.7, 0.9, 1.0])), max_size=8
)


@given(said_of_one, st.booleans(), st.sampled_from("abcdefg"))
def test_who_joins_for_the_same_question_moves_the_belief_their_way(
    before: list[tuple[bool, str, float]], approves: bool, author: str
) -> None:
    said = [approval(each) if is_right else refusal(each) for is_right, each, _ in before]
    joined = [*said, approval(author) if approves else refusal(author)]
    same = np.ones((len(joined) + 1, len(joined) + 1))
    moved = of_answer(joined, same) - of_answer(said, same[:-1, :-1])
    assert moved >= -1e-9 if approves else moved <= 1e-9


@pytest.mark.slow
def test_who_approves_for_the_first_time_lowers_nothing_of_all_that_three_may_have_said() -> None:
    """All ways to say up to four things, at four distances."""
    ways = [*product((True, False), "abc", (0.3, 0.7, 0.9, 1.0))]
    lowered = []
    for count in range(1, 5):
        for before in combinations_with_replacement(ways, count):
            said = [approval(each) if is_right else refusal(each) for is_right, each, _ in before]
            cosines = at(*[each for _, _, each in before], 1.0)
            joined = of_answer([*said, approval("kim")], cosines)
            lowered += [before] if joined < of_answer(said, cosines[:-1, :-1]) - 1e-9 else []
    assert lowered == []


@given(said_of_one)
@example([(True, "a", 0.3), (True, "a", 0.3), (True, "a", 1.0)])
@example([(True, "a", 0.3)] * 8 + [(True, "a", 1.0)])
def test_who_approves_for_the_first_time_never_lowers_what_is_refused_at_any_distance(
    before: list[tuple[bool, str, float]],
) -> None:
    said = [approval(each) if is_right else refusal(each) for is_right, each, _ in before]
    cosines = at(*[each for _, _, each in before], 1.0)
    joined = of_answer([*said, approval("kim")], cosines)
    assert joined >= of_answer(said, cosines[:-1, :-1]) - 1e-9


def test_a_teachers_word_outweighs_a_members() -> None:
    teacher = Said(candidates=(1,), approves=True, noise=CONFIG.trusted_noise)
    values = same_question([approval("ann"), approval("ben"), teacher])
    assert values.argmax() == 1


def test_a_refusal_lowers_what_was_refused_and_leaves_the_rest() -> None:
    values = same_question([Said(candidates=(0,), approves=False, noise=1.0)])
    assert values[0] < 0
    assert values[1] == values[2] == 0


def test_a_question_that_offered_nothing_right_lowers_all_that_it_offered() -> None:
    values = same_question([Said(candidates=(0, 2), approves=False, noise=1.0)])
    assert values[0] == values[2] < 0
    assert values[1] == 0


def test_without_lessons_the_best_description_is_believed_only_as_far_as_it_fits() -> None:
    descriptions = np.eye(DIMENSION)[:2]
    near, strange = np.eye(DIMENSION)[0], np.eye(DIMENSION)[5]
    prior = action_prior(np.stack([near, strange]) @ descriptions.T, CONFIG)
    assert prior[0, 0] > 0.9
    assert prior[1].max() < 0.1
    assert (prior.sum(axis=1) <= 1).all()


def test_among_many_actions_it_is_less_likely_that_none_fits() -> None:
    goal = np.eye(DIMENSION)[:1]

    def odds(count: int) -> float:
        fits = action_prior(goal @ np.repeat(goal, count, axis=0).T * CONFIG.no_fit, CONFIG).sum()
        return float(fits / (1 - fits))

    assert np.isclose(odds(CONFIG.few), CONFIG.few)  # each of a few is as likely as that none fits
    assert np.isclose(odds(3 * CONFIG.few), 9 * CONFIG.few)


@pytest.mark.parametrize(
    "wrong",
    [
        {"lessons": 0},
        {"sharpness": 0.0},
        {"member_noise": 0.0},
        {"biased_noise": 0.0},
        {"author_effect": -1.0},
        {"lone_refusal": 0.9},
        {"agreement": -0.1},
        {"elsewhere": 0.9},
    ],
)
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"evidence rule|noise"):
        EvidenceConfig(**wrong)  # type: ignore[arg-type]
