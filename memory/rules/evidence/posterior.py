"""The evidence rule: local Gaussian-process regression of what people approved, with a prior and trust as noise.

    belief(a | x) = prior(a | x) + k' (K + N)^-1 (r_a - prior(a | x_i))

over the nearest lessons `x_i`, approved and refused alike. `K` and `k` are kernels of the goals' cosines, so that
repetitions do not add up and distant lessons fade. `N` holds what one verdict is worth (noise), and one unknown bias
for each author (a random effect), so that many lessons of one person weigh little more than one. Reference: kriging
with mixed effects (Rasmussen and Williams 2006, chapter 2); measured in `tests/README.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceConfig:
    """The numbers of the rule."""

    lessons: int = 48
    """How many of the nearest lessons are weighed; 32 and 128 differ little."""
    sharpness: float = 5.0
    """How fast a lesson's bearing fades with distance: `exp(sharpness * (cosine - 1))`."""
    prior_sharpness: float = 10.0
    """The same for how well an action's description fits the goal (a softmax over the actions)."""
    refused: float = -0.8
    """What a refused candidate is taken to be worth; an approved one is worth 1."""
    member_noise: float = 1.0
    """Variance of one member's verdict."""
    trusted_noise: float = 0.2
    """Variance of the verdict of a teacher, an administrator, or several people who agree."""
    no_fit: float = 0.45
    """Cosine at which a goal is as likely to fit no action as the one described."""
    author_effect: float = 8.0
    """Variance of the bias that all verdicts of one other member share: what one person alone says of an answer,
    however often, is believed to 1 / (1 + author_effect) at most."""
    proposals: bool = True
    """Whether what other members think of an answer, without having decided, is evidence in its channel."""

    def __post_init__(self) -> None:
        if self.lessons < 1 or min(self.sharpness, self.prior_sharpness) <= 0:
            raise ValueError("the evidence rule needs at least one lesson, and a sharpness above 0")
        if min(self.member_noise, self.trusted_noise) <= 0 or self.author_effect < 0:
            raise ValueError("noise must be above 0, and the effect of an author not below it")


@dataclass(frozen=True, slots=True)
class Voice:
    """One of the people behind a verdict."""

    author: str
    weight: float = 1.0
    """How much they are trusted, above 0; 1 for a member nothing is proven of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One lesson: which candidate was judged, how, and what the verdict is worth."""

    candidate: int
    """Column of the candidate that was approved or refused."""
    approves: bool
    noise: float
    """Variance of the verdict, above 0."""
    voices: tuple[Voice, ...] = ()
    """Whose verdict it is, where their biases matter: nobody's for the asker and teachers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The beliefs in `m` candidates, made of `n` lessons."""

    values: "Matrix"
    """Shape (m,): the prior plus the sum of the effects."""
    weights: "Matrix"
    """Shape (n,): how much each lesson counts."""
    effects: "Matrix"
    """Shape (n, m): what each lesson adds to each belief."""


def description_prior(goals: "Matrix", descriptions: "Matrix", config: EvidenceConfig) -> "Matrix":
    """What is believed of actions before any lesson: shape (goals, actions), each row adding up to at most 1.

    `goals` and `descriptions` are rows of unit length. One more candidate, that no action fits, takes its share at the
    cosine `no_fit`, so that one of few actions is not believed in for want of another.
    """
    import numpy as np

    odds: Matrix = np.exp(config.prior_sharpness * (goals @ descriptions.T - config.no_fit))
    shares: Matrix = odds / (1 + odds.sum(axis=1, keepdims=True))
    return shares


def posterior(
    to_goal: "Matrix",
    between: "Matrix",
    observations: Sequence[Observation],
    prior: "Matrix",
    prior_at_lessons: "Matrix",
    config: EvidenceConfig,
) -> Posterior:
    """The beliefs in all candidates for a goal.

    `to_goal` (n,) are the cosines of the lessons' goals with the goal, `between` (n, n) with each other; `prior` has
    shape (m,), `prior_at_lessons` (n, m).
    """
    import numpy as np

    count = len(observations)
    if not count:
        return Posterior(values=prior.copy(), weights=np.zeros(0), effects=np.zeros((0, len(prior))))
    kernel = np.exp(config.sharpness * (np.minimum(between, 1.0) - 1))
    kernel_to_goal = np.exp(config.sharpness * (np.minimum(to_goal, 1.0) - 1))
    weights = np.linalg.solve(kernel + _noise(observations, config), kernel_to_goal)
    rows, columns = np.arange(count), np.array([each.candidate for each in observations])
    approves = np.array([each.approves for each in observations])
    # A refusal tells of the refused candidate alone: of the others it leaves the prior as it is.
    beyond_prior = np.where(approves[:, None], -prior_at_lessons, 0.0)
    worth = np.where(approves, 1.0, config.refused)
    beyond_prior[rows, columns] = worth - prior_at_lessons[rows, columns]
    effects = weights[:, None] * beyond_prior
    return Posterior(values=prior + effects.sum(axis=0), weights=weights, effects=effects)


def _noise(observations: Sequence[Observation], config: EvidenceConfig) -> "Matrix":
    """What each verdict is worth, and the biases that verdicts share: the mean of its voices, by their weights.

    A voice of weight w has the variance (noise + author effect) / w, so a verdict of one such voice has just that.
    """
    import numpy as np

    authors = {voice.author: 0 for each in observations for voice in each.voices}
    columns = {author: column for column, author in enumerate(authors)}
    bias = np.zeros((len(observations), len(columns)))
    for row, each in enumerate(observations):
        together = sum(voice.weight for voice in each.voices)
        for voice in each.voices:
            bias[row, columns[voice.author]] = math.sqrt(voice.weight) / together
    noise: Matrix = np.diag([each.noise for each in observations]) + config.author_effect * (bias @ bias.T)
    return noise
