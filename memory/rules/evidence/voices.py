"""Whose verdicts they are, and how far one person's verdicts err together (a random effect of authors)."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]


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


_NOBODY = (Voice("", 0.0),)


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
      collude.
    - What a voice approves elsewhere has more noise, unless just one other approves the same: for else it tells how
      large the bias is here. Whoever agrees with many elsewhere would be sure alone, and whoever approves the same of
      everything would take away what others say by agreeing with them. Two who collude are known by just that.
    """
    import numpy as np

    nearness = kernel[0, 1:]
    approves, same, shares, says = _biases(observations, judged)
    own = (says * nearness[:, None]).max(axis=0)
    others = np.minimum(own / own[:, None], 1.0) * same
    nearest, people = others.max(axis=1), (others * others).sum(axis=1)
    sizes = np.where(approves, np.minimum(2 / (1 + people), 1.0) ** agreement, 1.0)
    # 1 if nobody agrees as near the goal, or two and more; 0 if one does.
    none_or_many = (1 - nearest) ** 4 + np.clip(people - 1, 0.0, 1.0)
    noises = np.where(approves, sizes * none_or_many, 0.0)
    farther = np.maximum(own / nearness[:, None] - elsewhere, 0.0)
    believed, suggested = (shares * sizes) @ shares.T, shares @ shares.T
    believed.ravel()[:: len(believed) + 1] += (shares * shares * noises * farther).sum(axis=1)
    if not approves.all():
        seconds = np.where(approves, 0.0, (lone_refusal - 1) * (1 - nearest))
        fading = kernel[1:, 1:] * ((shares * seconds) @ shares.T)
        believed += fading
        suggested += fading
    return SharedBiases(believed, suggested)


def _biases(
    observations: Sequence[NoisyVerdict], judged: Sequence[Sequence[int]]
) -> tuple["NDArray[np.bool_]", "NDArray[np.bool_]", "Matrix", "Matrix"]:
    """Of the biases: which approve, which are others' of the same, the share of each in each verdict, and who says it.

    Shapes (biases,), (biases, biases), and twice (verdicts, biases). A verdict without voices is somebody else's, who
    has no bias.
    """
    import numpy as np

    column_of: dict[tuple[str, bool, int], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    shares: list[float] = []
    for row, ((approves, _, voices, _), about) in enumerate(zip(observations, judged, strict=True)):
        together = voices[0].weight if len(voices) == 1 else sum([weight for _, weight in voices])
        for author, weight in voices or _NOBODY:
            share = math.sqrt(weight / len(about)) / together if voices else 0.0
            for candidate in about:
                rows.append(row)
                columns.append(column_of.setdefault((author, approves, candidate), len(column_of)))
                shares.append(share)
    made_of, says = np.zeros((2, len(observations), len(column_of)))
    made_of[rows, columns] = shares
    says[rows, columns] = 1.0
    approving = np.array([approves for _, approves, _ in column_of])
    about_what = np.array([2 * candidate + approves for _, approves, candidate in column_of])
    same = about_what[:, None] == about_what
    same.ravel()[:: len(same) + 1] = False
    return approving, same, made_of, says
