"""Whose verdicts they are, and how far one person's verdicts err together (a random effect of authors)."""

import math
from collections.abc import Sequence
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


class NoisyVerdict(NamedTuple):
    """One verdict, and what it is worth."""

    approves: bool
    noise: float
    """Variance of the verdict, above 0."""
    voices: tuple[Voice, ...] = ()
    """Whose verdict it is, where their biases matter: nobody's for the asker and teachers."""
    reliability: float = 1.0
    """How far those behind it can be relied on together, above 0: a refusal says so much less."""


_NOBODY = (Voice(""),)


class SharedBiases(NamedTuple):
    """The covariances of the biases of `n` verdicts, of shape (n, n), in author effects."""

    believed: "Matrix"
    """For what is believed."""
    suggested: "Matrix"
    """For what is only suggested: there it does not matter how many agree."""


def shared_biases(
    observations: Sequence[NoisyVerdict],
    judged: Sequence[Sequence[int]],
    kernel: "Matrix",
    *,
    lone_refusal: float,
    agreement: float,
    elsewhere: float,
) -> SharedBiases:
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

    rows, columns, shares, approves, trust, is_same = _biases(observations, judged)
    nearness = kernel[0, 1:][rows]
    own = np.zeros(len(trust))
    np.maximum.at(own, columns, nearness)
    others = np.minimum(own / own[:, None], 1.0) * is_same
    nearest, people = (others * trust).max(axis=1), (others * others) @ trust
    sizes = np.where(approves, np.minimum(2 / (trust + people), 1.0) ** agreement, 1.0)
    # 1 if nobody agrees as near the goal, or two and more; 0 if one does.
    none_or_many = (1 - nearest) ** 4 + np.clip(people - 1, 0.0, 1.0)
    seconds = np.where(approves, sizes * none_or_many, 0.0)
    farther = np.maximum(own[columns] / nearness - elsewhere, 0.0)
    made_of, second_of = np.zeros((2, len(observations), len(trust)))
    made_of[rows, columns] = shares
    second_of[rows, columns] = shares * np.sqrt(seconds[columns] * farther)
    fading = kernel[1:, 1:]
    believed, suggested = (made_of * sizes) @ made_of.T, made_of @ made_of.T
    believed += fading * (second_of @ second_of.T)
    if not approves.all():
        seconds = np.where(approves, 0.0, (lone_refusal - 1) * (1 - nearest))
        of_refusals = fading * ((made_of * seconds) @ made_of.T)
        believed += of_refusals
        suggested += of_refusals
    return SharedBiases(believed, suggested)


class _Biases(NamedTuple):
    """The `m` biases of verdicts, and which verdict has which: of several voices, or on several candidates, several.

    A verdict without voices is somebody else's, who has no share in any bias.
    """

    rows: "Places"
    """Of each pair of a verdict and a bias that it has, the place of the verdict ..."""
    columns: "Places"
    """... the place of the bias ..."""
    shares: "Matrix"
    """... and how much of the bias the verdict has."""
    approves: "Bools"
    """Shape (m,): whether a bias is one of approvals."""
    trust: "Matrix"
    """Shape (m,): how far whoever has it is trusted, at most as a member nothing is proven of: 1."""
    is_same: "Bools"
    """Shape (m, m): which two are of different people who say the same of the same candidate."""


def _biases(observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]]) -> _Biases:
    import numpy as np

    column_of: dict[tuple[str, int], int] = {}
    trust_of: dict[str, float] = {}
    rows: list[int] = []
    columns: list[int] = []
    shares: list[float] = []
    for row, ((approves, _, voices, _), about) in enumerate(zip(observations, judged, strict=True)):
        together = voices[0].weight if len(voices) == 1 else sum([weight for _, weight in voices])
        for author, weight in voices or _NOBODY:
            share = math.sqrt(weight / len(about)) / together if voices else 0.0
            trust_of[author] = max(weight, trust_of.get(author, 0.0))
            for candidate in about:
                rows.append(row)
                columns.append(column_of.setdefault((author, 2 * candidate + approves), len(column_of)))
                shares.append(share)
    authors, things = zip(*column_of, strict=True)
    about_what = np.array(things)
    trust = np.minimum([trust_of[author] for author in authors], 1.0)
    is_same = about_what[:, None] == about_what
    is_same.ravel()[:: len(is_same) + 1] = False
    return _Biases(np.array(rows), np.array(columns), np.array(shares), about_what % 2 == 1, trust, is_same)
