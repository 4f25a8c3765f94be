"""The ids, kinds and vectors of the rows in a planes file.

A search needs the vectors of about a hundred rows of a million, so they are read one by one. Mapped into memory, each
would load a whole page.
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
"""All kinds of rows, each with whether it is of a run that found no answer. Files store indexes into this."""
KINDS_DIGEST = zlib.crc32(
    repr([(kind.audience.value, kind.verdict.value, gave_up) for kind, gave_up in KINDS]).encode()
)
"""A digest of `KINDS`, stored in each file, so that one with other kinds is not read."""
_GAVE_UP = [number for number, (_, gave_up) in enumerate(KINDS) if gave_up]
_NUMBERS = {(kind.audience.value, kind.verdict.value, gave_up): n for n, (kind, gave_up) in enumerate(KINDS)}


def kind_number(audience: str, verdict: str, action: str) -> int:
    """The index in `KINDS` for these values of database columns. Raises `KeyError` for unknown values."""
    return _NUMBERS[audience, verdict, int(action == GAVE_UP)]


class RowBatch(NamedTuple):
    """A batch of rows to be written."""

    seqs: "NDArray[np.int64]"
    records: "NDArray[np.void]"
    """Ids and kinds, of `record_type`."""
    vectors: bytes
    """The concatenated float16 vectors."""


def row_batch(seqs: Sequence[int], ids: Sequence[str], kinds: Sequence[int], vectors: Sequence[bytes]) -> RowBatch:
    """A batch of rows from the database. For damaged rows it raises errors that `Session.readable` handles."""
    names = np.array([each.encode() for each in ids], np.bytes_)
    records = np.empty(len(names), record_type(names.itemsize))
    records["id"], records["kind"] = names, kinds
    return RowBatch(np.array(seqs, np.int64), records, b"".join(vectors))


def gave_up(records: "NDArray[np.void]") -> "NDArray[np.intp]":
    """The places of rows of runs that found no answer."""
    return np.flatnonzero(np.isin(records["kind"], _GAVE_UP))


def record_type(id_bytes: int) -> "np.dtype[np.void]":
    """The dtype of records whose ids have at most so many bytes."""
    return np.dtype([("id", f"S{id_bytes}"), ("kind", "u1")])


class OpenFile:
    """A file that stays open for reading as long as this object exists. Raises `OSError`."""

    def __init__(self, path: Path) -> None:
        self.descriptor = open_private(str(path), os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


@dataclass(frozen=True, slots=True)
class RowFile:
    """The rows of an open file."""

    file: OpenFile
    start: int
    """The offset of the vectors in the file."""
    dimension: int
    records: "NDArray[np.void]"
    """The id and kind of each row."""

    def found(self, places: "NDArray[np.intp]") -> "FoundRows":
        """Read the rows at these places. Raises `OSError`, and `ValueError` if the file was cut off."""
        size, descriptor, records = 2 * self.dimension, self.file.descriptor, self.records[places]
        content = b"".join([os.pread(descriptor, size, self.start + size * place) for place in places.tolist()])
        vectors = np.frombuffer(content, "<f2").reshape(len(places), self.dimension).astype(np.float32)
        return FoundRows([each.decode() for each in records["id"].tolist()], records["kind"].tolist(), vectors)


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Rows that were read from a file (a `memory.adapters.vectors.hits.Rows`)."""

    ids: Sequence[str]
    kinds: Sequence[int]
    """Indexes into `KINDS`."""
    vectors: "NDArray[np.float32]"

    def at(self, places: "NDArray[np.intp]") -> "tuple[Iterable[str], Iterable[RowKind], Iterable[Vector]]":
        some = places.tolist()
        return [self.ids[place] for place in some], [KINDS[self.kinds[place]][0] for place in some], self.vectors[some]
