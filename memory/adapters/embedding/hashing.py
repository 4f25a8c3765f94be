"""An embedder without a model: texts that share words, word pairs and letter triples are close."""

import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from cachetools import LRUCache

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


class VectorCache:
    """The vectors of the texts that were used last. Thread-safe.

    They are kept by the hashes of the texts: a text may be forgotten, so it must not stay here.
    """

    def __init__(self, size: int) -> None:
        self._vectors: LRUCache[int, Vector] = LRUCache(size)
        self._lock = Lock()

    def find(self, texts: Iterable[str]) -> "dict[str, Vector]":
        """The vectors that are here, by text."""
        with self._lock:
            found = {text: self._vectors.get(hash(text)) for text in texts}
        return {text: vector for text, vector in found.items() if vector is not None}

    def keep(self, new: "Mapping[str, Vector]") -> None:
        """Keep these vectors of texts, and drop those that were not used for longest."""
        if self._vectors.maxsize:
            with self._lock:
                self._vectors.update({hash(text): vector for text, vector in new.items()})


class HashingEmbedder:
    """Feature hashing (Weinberger et al. 2009): each feature adds its weight, with a sign, to one of the dimensions.

    Vectors have unit length and compare spelling, not meaning. The same text gives the same vector on every machine and
    in every version of Python.
    """

    def __init__(self, dimension: int = 384) -> None:
        if dimension < 1:
            raise ValueError(f"an embedding has at least one dimension, got {dimension}")
        self._dimension = dimension
        self._cache = VectorCache(_CACHED_TEXTS)

    @property
    def name(self) -> str:
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> "list[Vector]":
        vectors = self._cache.find(texts)
        if new := {text: self._vector(text) for text in dict.fromkeys(texts) if text not in vectors}:
            self._cache.keep(new)
            vectors |= new
        return [vectors[text] for text in texts]

    def _vector(self, text: str) -> "Vector":
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
