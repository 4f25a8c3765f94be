"""The evidence rule: local Gaussian-process regression of what people approved, with a prior and trust as noise.

    belief(a | x) = prior(a | x) + k' (K + N)^-1 (r_a - prior(a | x_i))

over the nearest lessons `x_i`, approved and refused alike. `prior` is how well an action's description fits, and all
goals that it was approved for; at the goal of a lesson, without that lesson. `K` and `k` are kernels of the goals'
cosines, so that repetitions do not add up and distant lessons fade. `N` holds what one verdict is worth (noise), and
one unknown bias of each author for each thing that they approve, and for each that they refuse (a random effect), so
that many lessons of one person on it weigh little more than one. With one bias for all that a person says, whoever
also says something else would be believed in full: that would tell how small their bias is. Reference: kriging with
mixed effects (Rasmussen and Williams 2006, chapter 2), class means shrunk to a prior (James and Stein 1961); measured
in `tests/README.md`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceConfig:
    """The numbers of the rule."""

    lessons: int = 48
    """How many of the nearest lessons are weighed; 32 and 128 differ little."""
    sharpness: float = 3.7
    """How fast a lesson's bearing fades with distance: `exp(sharpness * (cosine - 1))`."""
    prior_sharpness: float = 12.0
    """The same for how well an action fits the goal before the nearest lessons are weighed (a softmax over them)."""
    description_worth: float = 3.5
    """How many goals that an action was approved for its description is worth, in how well it fits a goal."""
    goals_alike: float = 0.13
    """How much more like each other goals are than like the description of their action, by the cosine."""
    refused: float = -0.9
    """What a refused candidate is taken to be worth; an approved one is worth 1."""
    member_noise: float = 1.0
    """Variance of one member's verdict."""
    biased_noise: float = 0.1
    """The same where the bias of whoever gave it is told apart. With more, what two people say ten times would be
    believed farther than what they say once: it is averaged out, as their biases are not."""
    written_noise: float = 0.15
    """The same of what the asker wrote down as the right answer, for themself."""
    trusted_noise: float = 0.2
    """Variance of the verdict of a teacher or an administrator, and of what holds for all of the workspace."""
    tap_noise: float = 0.5
    """Share of the variance that is left of a choice among what was offered: surer than a thumb."""
    no_fit: float = 0.45
    """Cosine at which a goal is as likely to fit no action as the one described, where there are `few` ..."""
    few: int = 10
    """... of them; with more it is less likely in proportion that none fits."""
    author_effect: float = 7.5
    """Variance of the bias that all approvals of one candidate by one other member share, and all their refusals of it:
    what one person alone says of an answer, however often, is believed to 1 / (1 + author_effect) at most."""
    lone_refusal: float = 3.0
    """How many times as large it is of what nobody else refuses as near the goal: one 👎 unmakes nothing that two
    approved."""
    agreement: float = 0.75
    """How much smaller it is of what three people or more approve as near the goal: `(2 / people) ** agreement` times,
    for many who agree are seldom wrong together. Of two it is not, for two may collude."""
    suggested_effect: float = 1.0
    """The same in how far something is suggested, which is asked about and not followed: there one person's word goes
    half of the way (measured: `tests/README.md`)."""
    proposals: bool = True
    """Whether what other members think of an answer, without having decided, is evidence in its channel."""

    def __post_init__(self) -> None:
        if self.lessons < 1 or min(self.sharpness, self.prior_sharpness) <= 0:
            raise ValueError("the evidence rule needs at least one lesson, and a sharpness above 0")
        if (
            min(self.member_noise, self.biased_noise, self.trusted_noise, self.tap_noise) <= 0
            or min(self.author_effect, self.lone_refusal - 1, self.agreement, self.suggested_effect) < 0
        ):
            raise ValueError(
                "noise must be above 0, the effects of an author not below it, a lone refusal's not below 1"
            )


class Voice(NamedTuple):
    """One of the people behind a verdict."""

    author: str
    weight: float = 1.0
    """How much they are trusted, above 0; 1 for a member nothing is proven of."""


class NoisyVerdict(NamedTuple):
    """One verdict, and what it is worth."""

    approves: bool
    noise: float
    """Variance of the verdict, above 0."""
    voices: tuple[Voice, ...] = ()
    """Whose verdict it is, where their biases matter: nobody's for the asker and teachers."""
    reliability: float = 1.0
    """How far those behind it can be relied on together, above 0: a refusal says so much less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The beliefs in `m` candidates, made of `n` lessons."""

    values: "Matrix"
    """Shape (m,): the prior plus the sum of the effects."""
    suggested: "Matrix"
    """Shape (m,): the values with the bias of `suggested_effect`. The same where nobody's bias matters."""
    weights: "Matrix"
    """Shape (n,): how much each lesson counts."""
    effects: "Matrix"
    """Shape (n, m): what each lesson adds to each belief."""


def action_prior(fits: "Matrix", config: EvidenceConfig) -> "Matrix":
    """What is believed of actions before any lesson: shape (goals, actions), each row adding up to at most 1.

    `fits`, of the same shape, are the cosines of goals with the descriptions of the actions. One more candidate, that
    no action fits, takes its share at the cosine `no_fit`, so that one of few actions is not believed in for want of
    another.
    """
    import numpy as np

    odds: Matrix = np.exp(config.prior_sharpness * (fits - config.no_fit))
    none_fits = min(1.0, config.few / odds.shape[1])
    shares: Matrix = odds / (none_fits + odds.sum(axis=1, keepdims=True))
    return shares


def learned_fits(
    described: "Matrix",
    lessons: "Matrix",
    cosines: "Matrix",
    between: "Matrix",
    approves: "Matrix",
    config: EvidenceConfig,
) -> "Matrix":
    """How well actions fit goals where goals that they were approved for count beside their descriptions.

    It is the cosine with a class mean that is shrunk to the description, so that an action known from elsewhere is less
    likely to be meant here. Shape (1 + n, actions), as `described`, the cosines of the goals with the descriptions: the
    asked goal first, then those of n lessons. `lessons` and `cosines`, of shape (actions,), tell how many lessons
    approve each action, and the mean cosine of their goals with the asked one. `between` (1 + n, 1 + n) are the cosines
    of the goals, `approves` (1 + n, actions) is 1 where a lesson approves the action; nothing does at the asked goal.

    At the goal of a lesson the mean is that without the lesson itself: what is approved near it is known exactly, and
    the rest is taken to be as much nearer or farther than from the asked goal as the description is.
    """
    import numpy as np

    at_goal, near = between[0, 1:], approves.sum(axis=0)
    many = np.maximum(lessons, near)
    left = many - approves
    # Of each goal, how much nearer those of the lessons are to it than to the asked one; nothing is nearer to itself.
    nearer = between[:, 1:] - at_goal
    nearer.flat[len(at_goal) :: len(at_goal) + 1] = -at_goal
    moved = nearer @ approves[1:] + (many - near) * (described - described[0])
    means = (many * cosines + moved) / np.maximum(left, 1)
    counts = np.minimum(left, lessons)
    together = config.description_worth * described + counts * (means - config.goals_alike)
    learned: Matrix = together / (config.description_worth + counts)
    return learned


def posterior(
    cosines: "Matrix",
    observations: Sequence[NoisyVerdict],
    judged: Sequence[Sequence[int]],
    prior: "Matrix",
    config: EvidenceConfig,
) -> Posterior:
    """The beliefs in m candidates for a goal, made of n observations.

    `cosines` (n + 1, n + 1) are those of the goals with each other, the asked one first and then those of the lessons;
    `prior` has shape (n + 1, m). `judged` says of each observation which candidates it approves or refuses: one, or all
    that one question offered in vain.
    """
    import numpy as np

    at_goal, at_lessons = prior[0], prior[1:]
    if not observations:
        return Posterior(values=at_goal, suggested=at_goal, weights=np.zeros(0), effects=at_lessons)
    kernel = np.exp(config.sharpness * (np.minimum(cosines, 1.0) - 1))
    unbiased = kernel[1:, 1:].copy()
    unbiased.flat[:: len(unbiased) + 1] += [each.noise for each in observations]
    shared = _shared_biases(observations, judged, kernel, config)
    covariances = np.array([unbiased] if shared is None else [unbiased + each for each in shared])
    solved = np.linalg.solve(covariances, kernel[0, 1:, None])
    weights, of_suggestion = solved[0], solved[-1, :, 0]
    beyond_prior = _beyond_prior(observations, judged, at_lessons, config.refused)
    effects = weights * beyond_prior
    values = at_goal + effects.sum(axis=0)
    suggested = values if shared is None else at_goal + of_suggestion @ beyond_prior
    return Posterior(values=values, suggested=suggested, weights=weights[:, 0], effects=effects)


def _beyond_prior(
    observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]], at_lessons: "Matrix", refused: float
) -> "Matrix":
    """Shape (n, m), as the prior `at_lessons`: what each verdict says of each candidate, less what was believed before.

    A refusal tells of the refused candidate alone: of the others it leaves the prior as it is.
    """
    import numpy as np

    approves = np.array([each.approves for each in observations], np.float64)
    reliability = np.array([each.reliability for each in observations])
    beyond_prior: Matrix = -at_lessons * approves[:, None]
    rows = np.repeat(np.arange(len(judged)), list(map(len, judged)))
    columns = np.array(list(chain.from_iterable(judged)))
    beyond_prior[rows, columns] = np.where(approves, 1.0, refused * reliability)[rows] - at_lessons[rows, columns]
    return beyond_prior


def _shared_biases(
    observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]], kernel: "Matrix", config: EvidenceConfig
) -> "tuple[Matrix, Matrix] | None":
    """The covariances of verdicts' biases, for what is believed and for what is suggested.

    Each verdict has the mean of its voices' biases, by their weights. A voice of weight w has the variance (noise +
    author effect) / w, so a verdict of one such voice has just that. It has a bias for each candidate that it approves
    or refuses; of a verdict on several at once, their mean's size. What it alone refuses has a second one, which fades
    with distance: if it were the same everywhere, what the voice refuses elsewhere would tell how large it is here.
    None where nobody's bias matters, as for whoever is alone.
    """
    import numpy as np

    entries = [
        (row, (author, each.approves, candidate), math.sqrt(weight) / together)
        for row, (each, about) in enumerate(zip(observations, judged, strict=True))
        if each.voices
        for together in (sum([weight for _, weight in each.voices]) * math.sqrt(len(about)),)
        for author, weight in each.voices
        for candidate in about
    ]
    if not entries:
        return None
    rows, biases, shares = zip(*entries, strict=True)
    column_of = {bias: column for column, bias in enumerate(dict.fromkeys(biases))}
    places = rows, [column_of[bias] for bias in biases]
    nearest = _nearest_voices(observations, judged, kernel[0, 1:])
    bias, local = np.zeros((2, len(observations), len(column_of)))
    bias[places] = shares
    sizes = np.ones(len(column_of))
    for (author, approves, candidate), column in column_of.items():
        own, others = _own_and_others(nearest[approves, candidate], author)
        if approves:
            sizes[column] = _size_of_approval(own, others, config.agreement)
        else:
            local[:, column] = bias[:, column] * math.sqrt(_size_of_refusal(own, others, config.lone_refusal) - 1)
    fading = kernel[1:, 1:] * (local @ local.T)
    return (
        config.author_effect * ((bias * sizes) @ bias.T + fading),
        config.suggested_effect * (bias @ bias.T + fading),
    )


def _nearest_voices(
    observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]], nearness: "Matrix"
) -> dict[tuple[bool, int], dict[str, float]]:
    """How near the goal each voice approves a candidate, or refuses it. One without voices is somebody else's."""
    nearest: dict[tuple[bool, int], dict[str, float]] = {}
    for each, about, near in zip(observations, judged, nearness.tolist(), strict=True):
        for candidate in about:
            by_author = nearest.setdefault((each.approves, candidate), {})
            for author in [voice.author for voice in each.voices] or [""]:
                by_author[author] = max(near, by_author.get(author, 0.0))
    return nearest


def _own_and_others(nearest: Mapping[str, float], author: str) -> tuple[float, list[float]]:
    return nearest[author], [near for other, near in nearest.items() if other != author]


def _size_of_approval(own: float, others: Sequence[float], agreement: float) -> float:
    """How many times as large the bias of a voice is that approves what others approve, so near the goal.

    Others count in the square of how near they are: with what is approved for other questions one must not pass for
    many here.
    """
    people = 1 + sum([min(1.0, near / own) ** 2 for near in others])
    return math.pow(min(1.0, 2 / people), agreement)


def _size_of_refusal(own: float, others: Sequence[float], lone_refusal: float) -> float:
    """The same of a voice that refuses: 1 if somebody else refuses it as near the goal, `lone_refusal` if nobody does.

    What is wrong elsewhere may be right here.
    """
    return lone_refusal - (lone_refusal - 1) * min(1.0, max(others, default=0.0) / own)
