"""Sign-bit planes: 48 bytes for each row of a large partition, searched at once; a file that processes share.

A plane has 64 bits of every row, so that how many signs differ from a query's is counted column by column. They are
the signs after a fixed rotation, so that each bit says as much as any other, whatever a model's dimensions mean: of two
rows with the angle a, each differs with the probability a / pi. Rows whose signs differ least are candidates, which
are compared by what the same file has of their vectors, four bits a dimension (`codes`); and as many more as the
nearest of those show to be needed. The vectors are in the file too, for the few that may be nearest (`plane_rows`).
"""

import mmap
import os
import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from math import acos, pi, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory.adapters.vectors.codes import Codes, packed
from memory.adapters.vectors.halves import SCALE, room, widened
from memory.adapters.vectors.plane_rows import KINDS_DIGEST, OpenFile, RowBatch, RowFile, gave_up, record_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memory.model import Vector

_MAGIC = b"GBPLANE5"
_HEADER = struct.Struct("<8sQQQQQQQQ")
"""Magic, token, epoch, seq, most rows, rows, dimension, bytes of an id, digest of the kinds. Then codes, with room for
most rows; vectors; seqs, planes, steps and records; and a checksum of these four and the header."""
_STRIDE = 1 << 16
"""How many rows are counted at once: what is added up stays in the processor's cache."""
_FAR = 0xFFFF
"""What none of the signs' differences is."""
_WORD = 64
_TURNED = 32
MOST_CANDIDATES = 1 << 15
"""How many rows are compared exactly at most: where nothing is near, no more of what is far are told apart."""
_ERASED = 1 << 20
"""How many bytes are overwritten at once."""
_SURE, _DEVIATIONS, _CERTAIN = 10, 2.2, 3.5
"""The nearest ten are found although their signs differ by so many standard deviations more than expected; a candidate
whose signs differ by so many more is surely not as near as it would have to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """The signs of one partition as it was at one `seq`."""

    token: int
    """Names this version of them; the database says which is valid."""
    epoch: int
    seq: int
    """Of the newest change that they have."""
    seqs: "NDArray[np.int64]"
    """Of each row, ascending."""
    planes: "NDArray[np.uint64]"
    """Shape (words, rows)."""
    codes: Codes
    """Of each row."""
    rows: RowFile
    """Whose each row is, and its vector."""
    gave_up: "NDArray[np.intp]"
    """The places of the rows of runs that found no answer."""
    content: mmap.mmap
    """The file they are in."""

    @property
    def nbytes(self) -> int:
        """How much of the file is looked at again and again."""
        arrays = (self.seqs, self.planes, self.codes.packed, self.codes.steps, self.rows.records, self.gave_up)
        return sum([each.nbytes for each in arrays])

    @property
    def is_whole(self) -> bool:
        """Whether the file was neither cut off meanwhile nor erased, which begins with its beginning."""
        is_long = os.fstat(self.rows.file.descriptor).st_size == len(self.content)  # a look beyond its end would kill
        return is_long and self.content[: len(_MAGIC)] == _MAGIC

    def __len__(self) -> int:
        return len(self.seqs)

    def nearest(
        self, query: "Vector", most: int, least: float = -1.0, without: "Sequence[NDArray[np.intp]]" = ()
    ) -> "tuple[NDArray[np.intp], NDArray[np.float32]]":
        """The places of the `most` rows that may be nearest, and what none of their cosines is above, highest first.

        None of the places that are left out, and few with a cosine below the least.
        """
        turned = _rotated(query)
        distances = self._distances(turned)
        for each in without:
            distances[each] = _FAR
        places = _least(distances, most)
        places = places[distances[places] <= self._reach(least, _CERTAIN)]
        cosines, slack = self.codes.cosines(places, turned)
        if len(places) == min(most, len(distances)) < len(distances):
            tenth = float(np.partition(cosines, -_SURE)[-_SURE]) if len(places) >= _SURE else -1.0
            more = self._within_reach(distances, places, max(tenth, least))
            places = np.concatenate([places, more])
            of_more = self.codes.cosines(more, turned)
            cosines, slack = np.concatenate([cosines, of_more[0]]), np.concatenate([slack, of_more[1]])
        cosines += slack
        if len(places) > most:  # to sort them all takes long
            is_near = cosines >= np.partition(cosines, -most)[-most]
            places, cosines = places[is_near], cosines[is_near]
        best = np.argsort(-cosines, kind="stable")[:most]
        return places[best], cosines[best]

    def cosines(self, query: "Vector", seqs: "NDArray[np.int64]") -> "NDArray[np.float32]":
        """About those of some of the rows, whichever of these they are."""
        found = np.searchsorted(self.seqs, seqs)
        found[found == len(self)] = 0  # of a file that is being erased
        return self.codes.cosines(found, _rotated(query))[0]

    def _within_reach(
        self, distances: "NDArray[np.uint16]", known: "NDArray[np.intp]", cosine: float
    ) -> "NDArray[np.intp]":
        """The other rows that may well have this cosine at least, by how many of their signs differ."""
        reach = self._reach(cosine, _DEVIATIONS)
        if reach < distances[known].max(initial=0):
            return np.empty(0, np.intp)
        is_near = distances <= int(reach)
        is_near[known] = False
        more = np.flatnonzero(is_near)
        return more if len(more) <= MOST_CANDIDATES else more[_least(distances[more], MOST_CANDIDATES)]

    def _reach(self, cosine: float, deviations: float) -> float:
        """How many of the signs differ from those of a row with this cosine, or so many standard deviations more."""
        bits, share = _WORD * len(self.planes), acos(max(-1.0, min(1.0, cosine))) / pi
        return bits * share + deviations * sqrt(bits * share * (1 - share))

    def _distances(self, turned: "NDArray[np.float32]") -> "NDArray[np.uint16]":
        counts, signs = np.zeros(len(self.seqs), np.uint16), sign_words(turned)[0]
        for start in range(0, len(counts), _STRIDE):
            part = counts[start : start + _STRIDE]
            for word, plane in zip(signs, self.planes, strict=True):
                part += np.bitwise_count(plane[start : start + _STRIDE] ^ word)
        return counts


def _least(distances: "NDArray[np.uint16]", most: int) -> "NDArray[np.intp]":
    """The places of the `most` smallest, if there are as many, in their order."""
    if most >= len(distances):
        return np.arange(len(distances))
    # The most-th smallest distance, guessed by a sample and then found among those below the guess.
    sample = distances[:: max(1, len(distances) // 16384)]
    share = min(len(sample) - 1, 4 + 2 * most * len(sample) // len(distances))
    near = np.flatnonzero(distances <= np.partition(sample, share)[share])
    if len(near) < most:
        near = np.arange(len(distances))
    return np.sort(near[np.argpartition(distances[near], most - 1)[:most]])


@cache
def _rotation() -> "NDArray[np.float32]":
    """The same in every process, but for its last digits."""
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((_WORD, _WORD)))
    return np.asarray(turned * SCALE, np.float32)


def rotated(halves: "NDArray[np.uint16]") -> "NDArray[np.float32]":
    """The vectors of which these are the bits as float16, turned: shape (rows, 64 times the words)."""
    rows, dimension = halves.shape
    words = -(-dimension // _WORD)
    wide = widened(halves)
    found = np.empty((rows, words * _WORD), np.float32)
    for word in range(words):
        found[:, word * _WORD : (word + 1) * _WORD] = _turned(np.ascontiguousarray(wide[:, word::words]))
    return found


def _rotated(query: "Vector") -> "NDArray[np.float32]":
    return _rotated_half(np.asarray(query, "<f2").tobytes())


@lru_cache(maxsize=2)
def _rotated_half(query: bytes) -> "NDArray[np.float32]":
    """Of a query as float16: several partitions are asked the same."""
    return rotated(np.frombuffer(query, np.uint16).reshape(1, -1))


def sign_words(turned: "NDArray[np.float32]") -> "NDArray[np.uint64]":
    """The signs of rotated vectors: shape (rows, words of 64 bits)."""
    return np.packbits(turned < 0, axis=1).view(np.uint64)


def _turned(part: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Up to 64 dimensions of each row, rotated: so few rows at once that BLAS begins no threads, which would spin."""
    rotation = _rotation()[: part.shape[1]]
    whole = len(part) // _TURNED * _TURNED
    many = part[:whole].reshape(-1, _TURNED, part.shape[1]) @ rotation
    return np.concatenate([many.reshape(-1, _WORD), part[whole:] @ rotation])


def size_of(rows: int, dimension: int) -> int:
    """About how many bytes a file takes."""
    return rows * (_codes_of_row(dimension) * 5 // 4 + 2 * dimension + 64)


def write(
    path: Path, batches: Iterable[RowBatch], dimension: int, *, token: int, epoch: int, seq: int, most: int
) -> None:
    """Write rows that come in batches, no more than `most` of them, to a file that is there and empty.

    What is not finite is like nothing, so it is left out. The file survives a power failure. Raises `OSError`.
    """
    codes_of_row = _codes_of_row(dimension)
    seqs, steps = np.empty(most, np.int64), np.empty(most, np.float32)
    planes, named = room((-(-dimension // _WORD), most), np.uint64), [np.empty(0, record_type(1))]
    rows = 0
    with path.open("r+b") as file, path.open("r+b") as coded:
        coded.seek(_HEADER.size)
        file.seek(_HEADER.size + most * codes_of_row)
        for batch in batches:
            halves = np.frombuffer(batch.vectors, "<u2").reshape(-1, dimension)
            is_finite = ((halves & 0x7C00) != 0x7C00).all(axis=1)
            file.write(halves[is_finite].tobytes())
            turned = rotated(halves[is_finite])
            codes, of_rows = packed(turned)
            coded.write(codes.tobytes())
            some = slice(rows, rows + len(codes))
            seqs[some], steps[some], planes[:, some] = batch.seqs[is_finite], of_rows, sign_words(turned).T
            named.append(batch.records[is_finite])
            rows += len(codes)
        file.write(bytes(-file.tell() % 8))
        whose = np.concatenate(named)
        width = whose.dtype["id"].itemsize
        header = _HEADER.pack(_MAGIC, token, epoch, seq, most, rows, dimension, width, KINDS_DIGEST)
        checksum = zlib.crc32(header)
        for part in (seqs[:rows], *(plane[:rows] for plane in planes), steps[:rows], whose):
            content = part.view(np.uint8)
            checksum = zlib.crc32(content, checksum)
            file.write(content)
        file.write(struct.pack("<I", checksum))
        coded.flush()
        file.seek(0)
        file.write(header)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path, known: int = 0) -> Planes | None:
    """The planes of a file, mapped into memory; None where there is none, or it is no whole one.

    Those with the `known` token were read before, so their checksum is not counted again.
    """
    try:
        file = OpenFile(path)
        content = mmap.mmap(file.descriptor, 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    if len(content) < _HEADER.size + 4:
        return None
    magic, token, epoch, seq, most, rows, dimension, width, kinds = _HEADER.unpack_from(content)
    words, codes = -(-dimension // _WORD), _codes_of_row(dimension)
    vectors = _HEADER.size + most * codes
    start = vectors + 2 * rows * dimension
    start += -start % 8
    planes = start + 8 * rows
    steps = planes + 8 * rows * words
    named = steps + 4 * rows
    end = named + (width + 1) * rows
    if (magic, kinds) != (_MAGIC, KINDS_DIGEST) or len(content) != end + 4:
        return None
    if token != known and _checksum(content, start, end) != struct.unpack_from("<I", content, end)[0]:
        return None
    whose = np.frombuffer(content, record_type(width), rows, named)
    every_code = np.frombuffer(content, np.uint8, codes * rows, _HEADER.size).reshape(rows, codes)
    return Planes(
        token=token,
        epoch=epoch,
        seq=seq,
        seqs=np.frombuffer(content, np.int64, rows, start),
        planes=np.frombuffer(content, np.uint64, rows * words, planes).reshape(words, rows),
        codes=Codes(every_code, np.frombuffer(content, np.float32, rows, steps)),
        rows=RowFile(file, vectors, dimension, whose),
        gave_up=gave_up(whose),
        content=content,
    )


def _codes_of_row(dimension: int) -> int:
    """How many bytes."""
    return -(-dimension // _WORD) * _WORD // 2


def _checksum(content: mmap.mmap, start: int, end: int) -> int:
    return zlib.crc32(memoryview(content)[start:end], zlib.crc32(memoryview(content)[: _HEADER.size]))


def token_of(path: Path) -> int:
    """The token of the planes in a file; 0 for one that does not say so."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError:
        return 0
    return int(_HEADER.unpack(head)[1]) if len(head) == _HEADER.size and head.startswith(_MAGIC) else 0


def erase(path: Path) -> None:
    """Overwrite a file with nothing, and remove it, also where that cannot be done. One that is not there is erased.

    Raises `OSError`.
    """
    with suppress(FileNotFoundError):
        try:
            _overwrite(path)
        finally:
            path.unlink()


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        for left in range(path.stat().st_size, 0, -_ERASED):
            file.write(bytes(min(_ERASED, left)))
        file.flush()
        os.fsync(file.fileno())
