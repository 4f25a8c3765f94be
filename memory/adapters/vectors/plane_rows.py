"""What a file of planes has of each row beside its codes: whose it is, of what kind, and its vector.

Of a million rows a search needs about a hundred, so their vectors are read one by one and not mapped into memory, where
each would bring its neighbours with it.
"""

import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memory.adapters.private_files import open_private
from memory.adapters.vectors.hits import RowKind
from memory.model import GAVE_UP, Audience, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory.model import Vector

KINDS = tuple(
    (RowKind(audience, verdict), gave_up) for audience in Audience for verdict in Verdict for gave_up in (0, 1)
)
"""What rows have in common, and whether they are of runs that found no answer; a file has their numbers."""
KINDS_DIGEST = zlib.crc32(
    repr([(kind.audience.value, kind.verdict.value, gave_up) for kind, gave_up in KINDS]).encode()
)
"""Says which kinds the numbers of a file are of."""
_GAVE_UP = [number for number, (_, gave_up) in enumerate(KINDS) if gave_up]
_NUMBERS = {(kind.audience.value, kind.verdict.value, gave_up): n for n, (kind, gave_up) in enumerate(KINDS)}


def kind_number(audience: str, verdict: str, action: str) -> int:
    """The number of a kind, in the words of the database. Raises `KeyError` for what is none."""
    return _NUMBERS[audience, verdict, int(action == GAVE_UP)]


class RowBatch(NamedTuple):
    """Some rows, as they come to be written."""

    seqs: "NDArray[np.int64]"
    records: "NDArray[np.void]"
    """Their ids and kinds."""
    vectors: bytes
    """As float16, side by side."""


def row_batch(seqs: Sequence[int], ids: Sequence[str], kinds: Sequence[int], vectors: Sequence[bytes]) -> RowBatch:
    """Of rows as the database has them. Raises what Python does if one is damaged (`Session.readable`)."""
    names = np.array([each.encode() for each in ids], np.bytes_)
    records = np.empty(len(names), record_type(names.itemsize))
    records["id"], records["kind"] = names, kinds
    return RowBatch(np.array(seqs, np.int64), records, b"".join(vectors))


def gave_up(records: "NDArray[np.void]") -> "NDArray[np.intp]":
    """The places of rows of runs that found no answer."""
    return np.flatnonzero(np.isin(records["kind"], _GAVE_UP))


def record_type(id_bytes: int) -> "np.dtype[np.void]":
    """Of rows whose ids have at most so many bytes."""
    return np.dtype([("id", f"S{id_bytes}"), ("kind", "u1")])


class OpenFile:
    """A file that is open for reading until nobody has this any more. Raises `OSError`."""

    def __init__(self, path: Path) -> None:
        self.descriptor = open_private(str(path), os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


@dataclass(frozen=True, slots=True)
class RowFile:
    """The rows of a file that is open."""

    file: OpenFile
    start: int
    """Where in it the vectors are."""
    dimension: int
    records: "NDArray[np.void]"
    """Of each row."""

    def found(self, places: "NDArray[np.intp]") -> "FoundRows":
        """The rows at these places; a vector of a file that was cut off is short. Raises `OSError`."""
        size, descriptor, records = 2 * self.dimension, self.file.descriptor, self.records[places]
        content = b"".join([os.pread(descriptor, size, self.start + size * place) for place in places.tolist()])
        vectors = np.frombuffer(content, "<f2").reshape(len(places), self.dimension).astype(np.float32)
        return FoundRows([each.decode() for each in records["id"].tolist()], records["kind"].tolist(), vectors)


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Rows that were read, as `memory.adapters.vectors.hits.Rows`, by the place among them."""

    ids: Sequence[str]
    kinds: Sequence[int]
    """The numbers of their kinds."""
    vectors: "NDArray[np.float32]"

    def at(self, places: "NDArray[np.intp]") -> "tuple[Iterable[str], Iterable[RowKind], Iterable[Vector]]":
        """As `Rows.at`."""
        some = places.tolist()
        return [self.ids[place] for place in some], [KINDS[self.kinds[place]][0] for place in some], self.vectors[some]
