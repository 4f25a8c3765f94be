"""An embedder without a model: texts that share words, word pairs and letter triples are close."""

import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from memory.model.normal_form import normalised

if TYPE_CHECKING:
    from memory.model import Vector

_WORD = re.compile(r"\w+")
_SYMBOL = re.compile(r"\S")
_LONGEST = 20_000
"""Characters of a text that are read; goals are far shorter."""

_CACHED_TEXTS = 2_048
"""How many texts' vectors are cached: 1.5 KB each in 384 dimensions."""

_WORD_WEIGHT, _PAIR_WEIGHT, _TRIPLE_WEIGHT = 1.0, 0.5, 0.5


class _Key:
    """A text as a key of the cache, by its hash: the cache must not keep the text itself, which may be forgotten."""

    __slots__ = ("_hash", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        """Empty once the vector is made."""
        self._hash = hash(text)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._hash == other._hash


class HashingEmbedder:
    """Feature hashing (Weinberger et al. 2009): each feature adds its weight, with a sign, to one of the dimensions.

    Vectors have unit length and compare spelling, not meaning. The same text gives the same vector on every machine and
    in every version of Python.
    """

    def __init__(self, dimension: int = 384) -> None:
        if dimension < 1:
            raise ValueError(f"an embedding has at least one dimension, got {dimension}")
        self._dimension = dimension
        self._cached = lru_cache(maxsize=_CACHED_TEXTS)(self._vector)

    @property
    def name(self) -> str:
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> "list[Vector]":
        return [self._cached(_Key(text)) for text in texts]

    def _vector(self, key: "_Key") -> "Vector":
        text, key.text = key.text, ""
        sums = array("f", bytes(4 * self._dimension))  # faster than a numpy array for single numbers
        for (name, unit), count in Counter(_features(text)).items():
            code = zlib.crc32(name.encode("utf-8", "surrogatepass"))
            weight = _weight(unit, count)
            sums[code % self._dimension] += weight if code >> 31 else -weight
        vector = np.frombuffer(sums, np.float32)
        length = np.linalg.norm(vector)
        if length > 0:
            vector /= length
        vector.flags.writeable = False  # it is cached
        return vector


@lru_cache(maxsize=1024)
def _weight(unit: float, count: int) -> float:
    """The weight of a feature that occurs `count` times: its unit weight times the square root, as a float32."""
    return float(np.float32(unit * count**0.5))


def _features(text: str) -> Iterator[tuple[str, float]]:
    folded = normalised("NFKC", text[:_LONGEST]).casefold()
    words = _WORD.findall(folded) or _SYMBOL.findall(folded)
    for word in words:
        yield f"w {word}", _WORD_WEIGHT
        padded = f"^{word}$"
        for start in range(len(padded) - 2):
            yield f"t {padded[start : start + 3]}", _TRIPLE_WEIGHT
    for first, second in pairwise(words):
        yield f"p {first} {second}", _PAIR_WEIGHT
