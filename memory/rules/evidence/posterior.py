"""The evidence rule: local Gaussian-process regression of what people approved, with a prior and trust as noise.

    belief(a | x) = prior(a | x) + k' (K + N)^-1 (r_a - prior(a | x_i))

over the nearest lessons `x_i`, approved and refused alike. `prior` is how well an action's description fits, and all
goals that it was approved for; at the goal of a lesson, without that lesson. `K` and `k` are kernels of the goals'
cosines, so that repetitions do not add up and distant lessons fade. `N` holds what one verdict is worth (noise), and
one unknown bias of each author for each thing that they approve, and for each that they refuse (a random effect:
`memory.rules.evidence.voices`), so that many lessons of one person on it weigh little more than one. With one bias for
all that a person says, whoever also says something else would be believed in full: that would tell how small their
bias is. Reference: kriging with mixed effects (Rasmussen and Williams 2006, chapter 2), class means shrunk to a prior
(James and Stein 1961); measured in `tests/README.md`.
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
    """How much smaller it is where three or more people approve as near the goal: `(2 / people) ** agreement` times."""
    elsewhere: float = 4.0
    """How many times farther from the goal, by the kernel, than the nearest of the same author an approval must be to
    count as one of another question, which tells less of their bias."""
    suggested_effect: float = 1.0
    """The author effect in how far something is suggested, which is asked about and not followed: there one person's
    word goes half of the way (measured: `tests/README.md`)."""
    proposals: bool = True
    """Whether what other members think of an answer, without having decided, is evidence in its channel."""

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
    """The beliefs in `m` candidates, made of `n` lessons."""

    at_goal: "Matrix"
    """Shape (m,): the prior."""
    weights: "Matrix"
    """Shape (n,): how much each lesson counts."""
    beyond_prior: "Matrix"
    """Shape (n, m): what each lesson says of each candidate, less what was believed before."""
    suggesting: "Callable[[], Matrix] | None" = None
    """The weights with the bias of `suggested_effect`; None where nobody's bias matters."""

    @cached_property
    def values(self) -> "Matrix":
        """Shape (m,): the prior plus the sum of the effects."""
        values: Matrix = self.at_goal + self.weights @ self.beyond_prior
        return values

    @cached_property
    def suggested(self) -> "Matrix":
        """Shape (m,): the values with the bias of `suggested_effect`. The same where nobody's bias matters."""
        if self.suggesting is None:
            return self.values
        suggested: Matrix = self.at_goal + self.suggesting() @ self.beyond_prior
        return suggested

    @cached_property
    def effects(self) -> "Matrix":
        """Shape (n, m): what each lesson adds to each belief."""
        return self.weights[:, None] * self.beyond_prior


def action_prior(fits: "Matrix", config: EvidenceConfig) -> "Matrix":
    """What is believed of actions before any lesson: shape (goals, actions), each row adding up to at most 1.

    `fits`, of the same shape, are the cosines of goals with the descriptions of the actions. One more candidate, that
    no action fits, takes its share at the cosine `no_fit`, so that one of few actions is not believed in for want of
    another.
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
        return Posterior(at_goal=at_goal, weights=np.zeros(0), beyond_prior=at_lessons)
    approves, noises, refusals = numbers_of(observations)
    about = _places(judged)
    # In place: a matrix of its own for each step takes as long as the step.
    kernel = np.minimum(cosines, 1.0)
    kernel -= 1.0
    kernel *= config.sharpness
    np.exp(kernel, out=kernel)
    unbiased, at_goals = kernel[1:, 1:].copy(), kernel[0, 1:]
    unbiased.ravel()[:: len(unbiased) + 1] += noises
    verdicts = approves + config.refused * refusals
    # A refusal tells of the refused candidate alone: of the others it leaves the prior as it is.
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
    """The places in a matrix of shape (n, m) of what each observation is about."""
    import numpy as np

    columns, rows = np.array([*chain(*judged)]), np.arange(len(judged))
    return rows if len(columns) == len(rows) else rows.repeat([*map(len, judged)]), columns
