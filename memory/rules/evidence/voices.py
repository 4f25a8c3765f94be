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
    approves, trust = opinions.sides % 2 == 1, opinions.trust[opinions.people]
    nearness = kernel[0, 1:][opinions.verdicts]
    own, nearest, people = _company(opinions, nearness)
    alone = 1 - nearest
    sizes = np.where(approves, np.minimum(2 / (trust + people), 1.0) ** agreement, 1.0)
    # 1 if nobody agrees as near the goal, or two and more; 0 if one does.
    none_or_many = alone**4 + np.minimum(np.maximum(people - 1, 0.0), 1.0)
    farther = np.maximum(own / nearness - elsewhere, 0.0)
    deviations = np.sqrt(np.where(approves, sizes * none_or_many * farther, (lone_refusal - 1) * alone))
    one, other = opinions.pairs()
    rows, columns = opinions.verdicts[one], opinions.verdicts[other]
    return SharedBiases(
        length=len(observations),
        verdicts=(rows, columns),
        shares=opinions.shares[one] * opinions.shares[other],
        approves=approves[one],
        first=sizes[one],
        second=deviations[one] * deviations[other] * kernel[1:, 1:][rows, columns],
    )


class SharedBiases(NamedTuple):
    """How far the biases of `n` verdicts vary together, in author effects, by `s` pairs of opinions with the same bias.

    Most opinions have a bias that no other one has: they are a pair with themselves.
    """

    length: int
    """n."""
    verdicts: "tuple[Places, Places]"
    """Shape (s,) each: the places of the verdicts that the two opinions are part of."""
    shares: "Matrix"
    """Shape (s,): how much their verdicts have of the bias, multiplied."""
    approves: "Bools"
    """Shape (s,): whether they are approvals."""
    first: "Matrix"
    """Shape (s,): the variance of the bias."""
    second: "Matrix"
    """Shape (s,): the covariance of their second biases, which fades with distance."""

    def believed(self) -> "Matrix":
        """Shape (n, n): the covariances for what is believed."""
        return self._summed(self.first + self.second)

    def suggested(self) -> "Matrix":
        """Shape (n, n): those for what is only suggested. There it does not matter how many agree."""
        import numpy as np

        return self._summed(np.where(self.approves, 1.0, 1.0 + self.second))

    def _summed(self, covariances: "Matrix") -> "Matrix":
        import numpy as np

        found: Matrix = np.zeros((self.length, self.length))
        np.add.at(found, self.verdicts, covariances * self.shares)
        return found


class _Opinions(NamedTuple):
    """What each voice of a verdict says of each candidate that it is about: `p` opinions.

    A verdict without voices is somebody else's, who has no share in any bias.
    """

    verdicts: "Places"
    """Shape (p,): the place of the verdict that it is part of."""
    people: "Places"
    """Shape (p,): the number of whoever has it."""
    sides: "Places"
    """Shape (p,): twice the number of the candidate that it is about, and one more if it approves."""
    shares: "Matrix"
    """Shape (p,): how much the verdict has of the bias that whoever has it has for this side."""
    trust: "Matrix"
    """Shape (people,): how far each is trusted, at most as a member nothing is proven of: 1."""

    def pairs(self) -> "tuple[Places, Places]":
        """The places of all two opinions that have the same bias, each with itself as well."""
        import numpy as np

        biases = self.sides * len(self.trust) + self.people
        return np.divmod((biases[:, None] == biases).ravel().nonzero()[0], len(biases))


def _opinions(observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]]) -> _Opinions:
    import numpy as np

    number_of: dict[str, int] = {}
    trust: list[float] = []
    opinions: list[tuple[int, int, int, float]] = []
    for row, (verdict, about) in enumerate(zip(observations, judged, strict=True)):
        for author, weight, share in verdict.shares or _NOBODY:
            person = number_of.setdefault(author, len(trust))
            if person == len(trust):
                trust.append(weight)
            elif weight > trust[person]:
                trust[person] = weight
            if len(about) > 1:
                share /= math.sqrt(len(about))
            for candidate in about:
                side = 2 * candidate + verdict.approves
                opinions.append((row, person, side, share))
    verdicts, people, sides, shares = zip(*opinions, strict=True)
    return _Opinions(np.array(verdicts), np.array(people), np.array(sides), np.array(shares), np.minimum(trust, 1.0))


def _company(opinions: _Opinions, nearness: "Matrix") -> "tuple[Matrix, Matrix, Matrix]":
    """How near the goal whoever has an opinion says the same; the nearest of others who do, and how many these are.

    Each of shape (p,). Others count by how near they are beside whoever has the opinion, and by the trust in them.
    """
    import numpy as np

    people, sides, trust = opinions.people, opinions.sides, opinions.trust
    nearest = np.zeros((1 + sides.max(), len(trust)))
    np.maximum.at(nearest, (sides, people), nearness)
    own, others = nearest[sides, people], nearest[sides]
    others /= own[:, None]
    np.minimum(others, 1.0, out=others)
    others[np.arange(len(people)), people] = 0.0
    return own, (others * trust).max(axis=1), (others * others) @ trust
