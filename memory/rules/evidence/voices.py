"""The people behind verdicts, and the biases that one person's verdicts share (random effects of authors)."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]
    Bools = NDArray[np.bool_]
    Places = NDArray[np.intp]


class Voice(NamedTuple):
    """A person behind a verdict."""

    author: str
    weight: float = 1.0
    """The trust in the person, above 0; 1 for a member of whom nothing is proven."""


@dataclass(frozen=True, slots=True)
class NoisyVerdict:
    """A verdict with its noise and voices."""

    approves: bool
    noise: float
    """Variance of the verdict, above 0."""
    voices: tuple[Voice, ...] = ()
    """The people behind it, if their biases matter; empty for the asker and teachers."""
    reliability: float = 1.0
    """Joint reliability of the people behind it, above 0; the factor of a refusal's value."""
    shares: tuple[tuple[str, float, float], ...] = field(init=False, repr=False, compare=False)
    """(Author, weight, share of the voice's bias in the verdict) of each voice, for a verdict on one candidate.

    Computed once, like `numbers`, as a verdict is weighed many times.
    """
    numbers: bytes = field(init=False, repr=False, compare=False)
    """The numbers for `numbers_of`, packed."""

    def __post_init__(self) -> None:
        together = sum([weight for _, weight in self.voices])
        shares = tuple([(author, weight, math.sqrt(weight) / together) for author, weight in self.voices])
        refusal = 0.0 if self.approves else self.reliability
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "numbers", struct.pack("3d", self.approves, self.noise, refusal))


def numbers_of(observations: Sequence[NoisyVerdict]) -> "Matrix":
    """Shape (3, n): 1 if a verdict approves, else 0; its noise; its reliability if it refuses, else 0.

    Joining packed bytes is five times as fast as reading attributes.
    """
    import numpy as np

    numbers: Matrix = np.frombuffer(b"".join([each.numbers for each in observations])).reshape(-1, 3).T
    return numbers


_NOBODY = (("", 1.0, 0.0),)
"""The shares of a verdict without voices."""


def shared_biases(
    observations: Sequence[NoisyVerdict],
    judged: Sequence[Sequence[int]],
    kernel: "Matrix",
    *,
    lone_refusal: float,
    agreement: float,
    elsewhere: float,
) -> "SharedBiases":
    """The biases of verdicts and how they covary; see `EvidenceConfig` for the parameters.

    Each voice has a bias for each candidate that it approves, and for each that it refuses. The bias of a verdict is
    the mean of its voices' biases, by their weights; a verdict of one voice of weight w has the variance (noise +
    author effect) / w. The k biases of a verdict on k candidates are divided by sqrt(k), so that their sum varies like
    one.

    - A refusal that nobody else gives has a second bias, which decreases with distance. If it did not, the voice's
      refusals of other questions would reveal how large it is here.
    - If three or more people approve the same, their biases are smaller, because many are seldom wrong together, while
      two may collude. A voice with a weight below 1 counts as that fraction of a person.
    - An approval far from the goal has such a second bias, too, unless exactly one other person approves the same, both
      here and there: without it, agreement elsewhere would reveal that the bias here is small. Then a person who agrees
      with many elsewhere would be believed here alone, and a person who approves the same for all questions would
      weaken others by agreeing with them. Two people who collude are detected by this very effect, so they have no
      second bias.
    """
    import numpy as np

    opinions = _opinions(observations, judged)
    verdicts, biases, approves = opinions.verdicts, opinions.biases, opinions.sides % 2 == 1
    nearness = kernel[0, 1:][verdicts]
    own = np.zeros(len(approves))
    np.maximum.at(own, biases, nearness)
    nearest, people = _agreeing(opinions, own)
    alone = 1 - nearest
    sizes = np.where(approves, np.minimum(2 / (opinions.trust + people), 1.0) ** agreement, 1.0)
    # 1 if no other person agrees as near the goal, or at least two do; 0 if one does, and also agrees elsewhere.
    none_or_many = (alone**4 + np.minimum(np.maximum(people - 1, 0.0), 1.0))[biases]
    none_or_many += np.maximum(1 - none_or_many, 0.0) * (1 - _nearest_agreement(opinions, kernel[1:, 1:]))
    of_approvals = sizes[biases] * none_or_many * np.maximum(own[biases] / nearness - elsewhere, 0.0)
    seconds = np.where(approves[biases], of_approvals, (lone_refusal - 1) * alone[biases])
    first, second = np.zeros((2, len(observations), len(own)))
    first[verdicts, biases] = opinions.shares
    second[verdicts, biases] = opinions.shares * np.sqrt(seconds)
    return SharedBiases(kernel=kernel[1:, 1:], first=first, second=second, sizes=sizes, approves=approves)


class SharedBiases(NamedTuple):
    """The shares of `n` verdicts in `m` biases and `m` second biases. Variances are in units of the author effect."""

    kernel: "Matrix"
    """Shape (n, n): the kernel by which second biases decrease with distance."""
    first: "Matrix"
    """Shape (n, m): the share of each verdict in each bias."""
    second: "Matrix"
    """Shape (n, m): the share in each second bias, times its standard deviation."""
    sizes: "Matrix"
    """Shape (m,): the variance of each bias."""
    approves: "Bools"
    """Shape (m,): whether the bias is one of approvals."""

    def believed(self) -> "Matrix":
        """Shape (n, n): the covariances for beliefs."""
        covariances: Matrix = (self.first * self.sizes) @ self.first.T
        covariances += self.kernel * (self.second @ self.second.T)
        return covariances

    def suggested(self) -> "Matrix":
        """Shape (n, n): the covariances for suggested beliefs, which do not depend on how many people agree."""
        refusing = self.second[:, ~self.approves]
        covariances: Matrix = self.first @ self.first.T
        covariances += self.kernel * (refusing @ refusing.T)
        return covariances


class _Opinions(NamedTuple):
    """One opinion for each voice of a verdict and each of its candidates: `p` opinions with `m` biases.

    A verdict without voices gets opinions of an unnamed author, with the share 0.
    """

    verdicts: "Places"
    """Shape (p,): the index of the opinion's verdict."""
    biases: "Places"
    """Shape (p,): the index of its bias."""
    shares: "Matrix"
    """Shape (p,): the share of the verdict in the bias."""
    sides: "Places"
    """Shape (m,): what the bias is about: twice the index of the candidate, plus 1 for approvals. Each author has one
    bias for each side."""
    trust: "Matrix"
    """Shape (m,): the trust in the bias's author, at most 1."""


def _opinions(observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]]) -> _Opinions:
    import numpy as np

    trust_of: dict[str, float] = {}
    number_of: dict[tuple[str, int], int] = {}
    opinions: list[tuple[int, int, float]] = []
    for row, (verdict, about) in enumerate(zip(observations, judged, strict=True)):
        for author, weight, share in verdict.shares or _NOBODY:
            if weight > trust_of.get(author, 0.0):
                trust_of[author] = weight
            if len(about) > 1:
                share /= math.sqrt(len(about))
            for candidate in about:
                side = 2 * candidate + verdict.approves
                opinions.append((row, number_of.setdefault((author, side), len(number_of)), share))
    verdicts, biases, shares = zip(*opinions, strict=True)
    sides, trust = [side for _, side in number_of], [trust_of[author] for author, _ in number_of]
    return _Opinions(np.array(verdicts), np.array(biases), np.array(shares), np.array(sides), np.minimum(trust, 1.0))


def _agreeing(opinions: _Opinions, own: "Matrix") -> "tuple[Matrix, Matrix]":
    """For each bias, how near the nearest other author with the same opinion is, and how many agree. Shape (m,) each.

    `own`, of the same shape, is the kernel of the goal and the author's nearest opinion. Others count by the ratio of
    their `own` to that, at most 1 (squared in the number), times the trust in them.
    """
    import numpy as np

    sides, trust = opinions.sides, opinions.trust
    others = np.minimum(own / own[:, None], 1.0)
    others *= sides[:, None] == sides
    others.ravel()[:: len(others) + 1] = 0.0
    return (others * trust).max(axis=1), (others * others) @ trust


def _nearest_agreement(opinions: _Opinions, kernel: "Matrix") -> "Matrix":
    """Shape (p,): the kernel of each opinion and another author's nearest same one, times the trust in that author.

    `kernel` is that of the verdicts' goals, of shape (n, n).
    """
    verdicts, biases = opinions.verdicts, opinions.biases
    sides, trust = opinions.sides[biases], opinions.trust[biases]
    near = kernel[verdicts[:, None], verdicts] * trust
    near *= (sides[:, None] == sides) & (biases[:, None] != biases)
    nearest: Matrix = near.max(axis=1)
    return nearest
