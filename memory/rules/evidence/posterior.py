"""The evidence rule: local Gaussian-process regression of what people approved, with a prior and trust as noise.

    belief(a | x) = prior(a | x) + k' (K + N)^-1 (r_a - prior(a | x_i))

over the nearest lessons `x_i`, approved and refused. `prior` is how well the goal fits an action's description and all
goals that the action was approved for; at the goal of a lesson it leaves that lesson out. `K` and `k` are kernels of
the goals' cosines, so repetitions do not add up and distant lessons count less. `N` has the noise of each verdict, and
an unknown bias (a random effect, `memory.rules.evidence.voices`) of each author for each candidate that they approve,
and for each that they refuse, so many lessons of one person on a candidate weigh little more than one. With a single
bias for each person, other verdicts of theirs would reveal that it is small, and they would be believed in full.
Reference: kriging with mixed effects (Rasmussen and Williams 2006, chapter 2), class means shrunk to a prior (James and
Stein 1961); measured in `tests/README.md`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from memory.rules.evidence.voices import NoisyVerdict, numbers_of, shared_biases

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]
    Bools = NDArray[np.bool_]
    Places = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceConfig:
    """The parameters of the rule. Raises `ValueError` for values out of range."""

    lessons: int = 48
    """How many of the nearest lessons are weighed; results with 32 and 128 differ little."""
    sharpness: float = 3.7
    """How fast a lesson's weight decreases with distance: `exp(sharpness * (cosine - 1))`."""
    prior_sharpness: float = 12.0
    """The sharpness of the softmax over fits of actions that gives their prior."""
    description_worth: float = 3.5
    """The weight of an action's description in its fit, in goals that the action was approved for."""
    goals_alike: float = 0.13
    """By how much cosines between goals of an action exceed those between a goal and its description."""
    refused: float = -0.9
    """The value of a refusal; an approval has 1."""
    member_noise: float = 1.0
    """Variance of one member's verdict without a bias of its own."""
    biased_noise: float = 0.1
    """Variance of a verdict beside its voices' biases. It is small, because repeating a verdict averages noise out, but
    not biases: with more, what two people say ten times would be believed more than what they say once."""
    written_noise: float = 0.15
    """Variance of an answer that the asker wrote as the right one, for themself."""
    trusted_noise: float = 0.2
    """Variance of the verdict of a teacher or administrator, and of lessons of the workspace."""
    tap_noise: float = 0.5
    """Factor of the variance for a choice among options, which is surer than a thumb."""
    no_fit: float = 0.45
    """Cosine at which a goal is as likely to fit no action as the one described, with up to `few` actions."""
    few: int = 10
    """With more actions, it is proportionally less likely that none fits."""
    author_effect: float = 7.5
    """Variance of the bias shared by all approvals of one candidate by one other member, and of that shared by all
    their refusals of it. One person alone is believed to 1 / (1 + author_effect) at most, however many lessons."""
    lone_refusal: float = 3.0
    """Factor of this variance for a refusal that nobody else gives as near the goal, so that one 👎 does not outweigh
    two approvals."""
    agreement: float = 0.75
    """The variance is multiplied by `(2 / people) ** agreement` if three or more people approve as near the goal."""
    elsewhere: float = 4.0
    """An approval this many times farther from the goal (by the kernel) than the author's nearest one counts as about
    another question, and reveals less of the author's bias."""
    suggested_effect: float = 1.0
    """The author effect in `suggested` beliefs, which only lead to a question: one person alone is believed to a half
    (measured: `tests/README.md`)."""
    proposals: bool = True
    """Whether undecided votes of other members are evidence in their channel."""

    def __post_init__(self) -> None:
        if self.lessons < 1 or min(self.sharpness, self.prior_sharpness) <= 0:
            raise ValueError("the evidence rule needs at least one lesson, and a sharpness above 0")
        if (
            min(self.member_noise, self.biased_noise, self.trusted_noise, self.tap_noise) <= 0
            or min(self.author_effect, self.suggested_effect, self.agreement) < 0
            or min(self.lone_refusal, self.elsewhere) < 1
        ):
            raise ValueError(
                "noise must be above 0, the effects of an author and of agreement not below it, a lone refusal's and "
                "how far elsewhere is not below 1"
            )


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """The beliefs in `m` candidates from `n` lessons."""

    at_goal: "Matrix"
    """Shape (m,): the prior at the goal."""
    weights: "Matrix"
    """Shape (n,): the weight of each lesson."""
    beyond_prior: "Matrix"
    """Shape (n, m): the verdict of each lesson on each candidate, minus the prior at the lesson's goal."""
    suggesting: "Callable[[], Matrix] | None" = None
    """Computes the weights with the author effect `suggested_effect`; None if no verdict has voices."""

    @cached_property
    def values(self) -> "Matrix":
        """Shape (m,): the beliefs, which are the prior plus the sum of the effects."""
        values: Matrix = self.at_goal + self.weights @ self.beyond_prior
        return values

    @cached_property
    def suggested(self) -> "Matrix":
        """Shape (m,): the beliefs with the author effect `suggested_effect`."""
        if self.suggesting is None:
            return self.values
        suggested: Matrix = self.at_goal + self.suggesting() @ self.beyond_prior
        return suggested

    @cached_property
    def effects(self) -> "Matrix":
        """Shape (n, m): the effect of each lesson on each belief."""
        return self.weights[:, None] * self.beyond_prior


def action_prior(fits: "Matrix", config: EvidenceConfig) -> "Matrix":
    """The prior of actions: shape (goals, actions), a softmax whose rows add up to at most 1.

    `fits`, of the same shape, has the cosines of goals and actions. "No action fits" is one more candidate, with the
    cosine `no_fit`, so that a bad fit is not believed in for lack of other actions.
    """
    import numpy as np

    odds: Matrix = np.exp(config.prior_sharpness * (fits - config.no_fit))
    none_fits = min(1.0, config.few / odds.shape[1])
    odds /= none_fits + odds.sum(axis=1, keepdims=True)
    return odds


def learned_fits(
    described: "Matrix",
    lessons: "Matrix",
    cosines: "Matrix",
    between: "Matrix",
    approves: "Matrix",
    config: EvidenceConfig,
) -> "Matrix":
    """The fits of actions from their descriptions and from goals that they were approved for.

    A fit is the cosine with a class mean that is shrunk to the description, so an action known from other goals is less
    likely here. The result has the shape (1 + n, actions): the asked goal first, then the goals of n lessons.

    - `described`, of the same shape: the cosines of goals and descriptions.
    - `lessons`, `cosines`, shape (actions,): how many lessons approve each action, and the mean cosine of their goals
      with the asked goal.
    - `between`, shape (1 + n, 1 + n): the cosines between the goals.
    - `approves`, shape (1 + n, actions): 1 if a lesson approves the action. The first row is 0.

    At the goal of a lesson the mean leaves out the lesson itself. Cosines with the other n lessons are known; the
    remaining goals are assumed to be nearer than to the asked goal by as much as the description is.
    """
    import numpy as np

    at_goal, near = between[0, 1:], approves.sum(axis=0)
    many = np.maximum(lessons, near)
    left = many - approves
    # How much nearer the lessons' goals are to each goal than to the asked one; a lesson itself is left out.
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
    """The beliefs in m candidates for a goal from n observations.

    `cosines`, of shape (n + 1, n + 1), are those between the goals, the asked goal first; `prior` has the shape
    (n + 1, m). `judged` has for each observation the candidates that it approves or refuses: one, or all options of a
    question.
    """
    import numpy as np

    at_goal, at_lessons = prior[0], prior[1:]
    if not observations:
        return Posterior(at_goal=at_goal, weights=np.zeros(0), beyond_prior=at_lessons)
    approves, noises, refusals = numbers_of(observations)
    about = _places(judged)
    # In place, as allocating a matrix takes as long as a step.
    kernel = np.minimum(cosines, 1.0)
    kernel -= 1.0
    kernel *= config.sharpness
    np.exp(kernel, out=kernel)
    unbiased, at_goals = kernel[1:, 1:].copy(), kernel[0, 1:]
    unbiased.ravel()[:: len(unbiased) + 1] += noises
    verdicts = approves + config.refused * refusals
    # An approval speaks against all other candidates, a refusal only against its own.
    beyond_prior = at_lessons * -approves[:, None]
    beyond_prior[about] = verdicts[about[0]] - at_lessons[about]
    if not any(each.voices for each in observations):
        return Posterior(at_goal=at_goal, weights=np.linalg.solve(unbiased, at_goals), beyond_prior=beyond_prior)
    shared = shared_biases(
        observations,
        judged,
        kernel,
        lone_refusal=config.lone_refusal,
        agreement=config.agreement,
        elsewhere=config.elsewhere,
    )
    return Posterior(
        at_goal=at_goal,
        weights=np.linalg.solve(unbiased + config.author_effect * shared.believed(), at_goals),
        beyond_prior=beyond_prior,
        suggesting=lambda: np.linalg.solve(unbiased + config.suggested_effect * shared.suggested(), at_goals),
    )


def _places(judged: Sequence[Sequence[int]]) -> "Places":
    """The (rows, columns) of a matrix of shape (n, m) that the observations are about."""
    import numpy as np

    columns, rows = np.array([*chain(*judged)]), np.arange(len(judged))
    return rows if len(columns) == len(rows) else rows.repeat([*map(len, judged)]), columns
