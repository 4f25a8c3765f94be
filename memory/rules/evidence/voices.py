"""Whose verdicts they are, and how far one person's verdicts err together (a random effect of authors)."""

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
    """One of the people behind a verdict."""

    author: str
    weight: float = 1.0
    """How much they are trusted, above 0; 1 for a member nothing is proven of."""


@dataclass(frozen=True, slots=True)
class NoisyVerdict:
    """One verdict, and what it is worth."""

    approves: bool
    noise: float
    """Variance of the verdict, above 0."""
    voices: tuple[Voice, ...] = ()
    """Whose verdict it is, where their biases matter: nobody's for the asker and teachers."""
    reliability: float = 1.0
    """How far those behind it can be relied on together, above 0: a refusal says so much less."""
    shares: tuple[tuple[str, float, float], ...] = field(init=False, repr=False, compare=False)
    """The author and the weight of each voice, and how much of its bias the verdict has if it is about one candidate.

    A verdict is weighed again and again: what it is made of, and `numbers`, is counted once.
    """
    numbers: bytes = field(init=False, repr=False, compare=False)
    """What `numbers_of` reads."""

    def __post_init__(self) -> None:
        together = sum([weight for _, weight in self.voices])
        shares = tuple([(author, weight, math.sqrt(weight) / together) for author, weight in self.voices])
        refusal = 0.0 if self.approves else self.reliability
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "numbers", struct.pack("3d", self.approves, self.noise, refusal))


def numbers_of(observations: Sequence[NoisyVerdict]) -> "Matrix":
    """Shape (3, n): whether each approves, as 0 or 1, its noise, and its reliability if it refuses, else 0.

    As bytes they are all read at once; to read them one by one takes five times as long.
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
    """How far the verdicts' biases vary together; see `EvidenceConfig` for the numbers.

    Each verdict has the mean of its voices' biases, by their weights. A voice of weight w has the variance (noise +
    author effect) / w, so a verdict of one such voice has just that. It has a bias for each candidate that it approves
    or refuses; of a verdict on several at once, their mean's size.

    - What a voice alone refuses has a second bias, which fades with distance: if it were the same everywhere, what the
      voice refuses elsewhere would tell how large it is here.
    - Where three or more approve the same, the bias of each is smaller: many are seldom wrong together, and two may
      collude. Whoever is trusted less than a member nothing is proven of counts as so much of one.
    - What a voice approves elsewhere has such a second bias, too, unless just one other approves the same: for else it
      tells how large the first is here. Whoever agrees with many elsewhere would be sure alone, and whoever approves
      the same of everything would take away what others say by agreeing with them. Two who collude are known by just
      that.
    """
    import numpy as np

    opinions = _opinions(observations, judged)
    verdicts, biases, approves = opinions.verdicts, opinions.biases, opinions.sides % 2 == 1
    nearness = kernel[0, 1:][verdicts]
    own = np.zeros(len(approves))
    np.maximum.at(own, biases, nearness)
    nearest, people = _company(opinions, own)
    alone = 1 - nearest
    sizes = np.where(approves, np.minimum(2 / (opinions.trust + people), 1.0) ** agreement, 1.0)
    # 1 if nobody agrees as near the goal, or two and more; 0 if one does.
    none_or_many = alone**4 + np.minimum(np.maximum(people - 1, 0.0), 1.0)
    seconds = np.where(approves, sizes * none_or_many, (lone_refusal - 1) * alone)
    farther = np.where(approves[biases], np.maximum(own[biases] / nearness - elsewhere, 0.0), 1.0)
    first, second = np.zeros((2, len(observations), len(own)))
    first[verdicts, biases] = opinions.shares
    second[verdicts, biases] = opinions.shares * np.sqrt(seconds[biases] * farther)
    return SharedBiases(kernel=kernel[1:, 1:], first=first, second=second, sizes=sizes, approves=approves)


class SharedBiases(NamedTuple):
    """How far the biases of `n` verdicts vary together, in author effects, by `m` biases and as many second ones."""

    kernel: "Matrix"
    """Shape (n, n): by which the second biases fade with distance."""
    first: "Matrix"
    """Shape (n, m): how much of each bias each verdict has."""
    second: "Matrix"
    """Shape (n, m): the same of the second ones, times their standard deviation."""
    sizes: "Matrix"
    """Shape (m,): the variance of each bias."""
    approves: "Bools"
    """Shape (m,): whether it is one of approvals."""

    def believed(self) -> "Matrix":
        """Shape (n, n): the covariances for what is believed."""
        covariances: Matrix = (self.first * self.sizes) @ self.first.T
        covariances += self.kernel * (self.second @ self.second.T)
        return covariances

    def suggested(self) -> "Matrix":
        """Shape (n, n): those for what is only suggested. There it does not matter how many agree."""
        refusing = self.second[:, ~self.approves]
        covariances: Matrix = self.first @ self.first.T
        covariances += self.kernel * (refusing @ refusing.T)
        return covariances


class _Opinions(NamedTuple):
    """What each voice of a verdict says of each candidate that it is about: `p` opinions, which have `m` biases.

    A verdict without voices is somebody else's, who has no share in any bias.
    """

    verdicts: "Places"
    """Shape (p,): the place of the verdict that it is part of."""
    biases: "Places"
    """Shape (p,): the number of its bias."""
    shares: "Matrix"
    """Shape (p,): how much the verdict has of the bias."""
    sides: "Places"
    """Shape (m,): what the bias is for: twice the number of a candidate, and one more if it is approved. Each person
    has one for each side."""
    trust: "Matrix"
    """Shape (m,): how far whoever has it is trusted, at most as a member nothing is proven of: 1."""


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


def _company(opinions: _Opinions, own: "Matrix") -> "tuple[Matrix, Matrix]":
    """The nearest of others who say the same as whoever has a bias, and how many these are. Shape (m,) each.

    `own`, of the same shape, is how near the goal whoever has it says it. Others count by how near they are beside
    that, and by the trust in them.
    """
    import numpy as np

    sides, trust = opinions.sides, opinions.trust
    others = np.minimum(own / own[:, None], 1.0)
    others *= sides[:, None] == sides
    others.ravel()[:: len(others) + 1] = 0.0
    return (others * trust).max(axis=1), (others * others) @ trust
