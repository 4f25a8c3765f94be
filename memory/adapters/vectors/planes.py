"""Sign-bit planes of a large partition, in a file that processes share: approximate search with 48 bytes a row.

A plane has 64 sign bits of every row, so the Hamming distances to a query are counted plane by plane. The signs are
taken after a fixed random rotation, so that all bits are equally informative: for two rows at the angle a, each bit
differs with the probability a / pi. The rows at the least distances are candidates. They are compared by four-bit codes
of their vectors (`codes`), and so are as many more as the nearest of them show to be needed. The file also has the
vectors, for the few rows that may be nearest (`plane_rows`).
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
"""Magic, token, epoch, seq, most rows, rows, dimension, bytes of an id, digest of the kinds. Then follow codes, with
room for most rows; vectors; seqs, planes, steps and records; and a checksum of the header and these last four."""
_STRIDE = 1 << 16
"""How many distances are counted at once, so that they stay in the CPU cache."""
_FAR = 0xFFFF
"""A distance above all others, for rows that are left out."""
_WORD = 64
_ROWS_AT_ONCE = 32
MOST_CANDIDATES = 1 << 15
"""The most further candidates of a search. It limits the work if no row is near."""
_ERASED = 1 << 20
"""How many bytes `erase` overwrites at once."""
_SURE, _DEVIATIONS, _CERTAIN = 10, 2.2, 3.5
"""The search finds the nearest ten (`_SURE`) even if their distances are `_DEVIATIONS` standard deviations above the
expected ones. A candidate `_CERTAIN` standard deviations above the distance of the least cosine is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """The planes of one partition as of one `seq`."""

    token: int
    """Identifies this version of the planes; the database stores the valid one."""
    epoch: int
    seq: int
    """The `seq` of the newest row."""
    seqs: "NDArray[np.int64]"
    """The `seq` of each row, ascending."""
    planes: "NDArray[np.uint64]"
    """Shape (words, rows)."""
    codes: Codes
    rows: RowFile
    gave_up: "NDArray[np.intp]"
    """The places of the rows of runs that found no answer."""
    content: mmap.mmap
    """The mapped file."""

    @property
    def nbytes(self) -> int:
        """The bytes of the file that searches read often."""
        arrays = (self.seqs, self.planes, self.codes.packed, self.codes.steps, self.rows.records, self.gave_up)
        return sum([each.nbytes for each in arrays])

    @property
    def is_whole(self) -> bool:
        """Whether the file was neither cut off nor erased meanwhile; `erase` overwrites its start first."""
        is_long = os.fstat(self.rows.file.descriptor).st_size == len(self.content)  # reading beyond its end kills
        return is_long and self.content[: len(_MAGIC)] == _MAGIC

    def __len__(self) -> int:
        return len(self.seqs)

    def nearest(
        self, query: "Vector", most: int, least: float = -1.0, without: "Sequence[NDArray[np.intp]]" = ()
    ) -> "tuple[NDArray[np.intp], NDArray[np.float32]]":
        """The places of up to `most` rows that may be nearest, and upper bounds of their cosines, highest first.

        The places `without` are left out, and so are most rows with a cosine below `least`.
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
        if len(places) > most:  # sorting them all is slow
            is_near = cosines >= np.partition(cosines, -most)[-most]
            places, cosines = places[is_near], cosines[is_near]
        best = np.argsort(-cosines, kind="stable")[:most]
        return places[best], cosines[best]

    def cosines(self, query: "Vector", seqs: "NDArray[np.int64]") -> "NDArray[np.float32]":
        """Approximate cosines of the rows with these seqs."""
        found = np.searchsorted(self.seqs, seqs)
        found[found == len(self)] = 0  # if the file is being erased
        return self.codes.cosines(found, _rotated(query))[0]

    def _within_reach(
        self, distances: "NDArray[np.uint16]", known: "NDArray[np.intp]", cosine: float
    ) -> "NDArray[np.intp]":
        """Other rows whose distances allow at least this cosine, at most `MOST_CANDIDATES`."""
        reach = self._reach(cosine, _DEVIATIONS)
        if reach < distances[known].max(initial=0):
            return np.empty(0, np.intp)
        is_near = distances <= int(reach)
        is_near[known] = False
        more = np.flatnonzero(is_near)
        return more if len(more) <= MOST_CANDIDATES else more[_least(distances[more], MOST_CANDIDATES)]

    def _reach(self, cosine: float, deviations: float) -> float:
        """The expected distance of a row with this cosine, plus so many standard deviations."""
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
    """The places of the `most` smallest distances, ascending by place; all if there are fewer."""
    if most >= len(distances):
        return np.arange(len(distances))
    # A sample gives an upper limit for the most-th smallest distance; only places below it are partitioned.
    sample = distances[:: max(1, len(distances) // 16384)]
    share = min(len(sample) - 1, 4 + 2 * most * len(sample) // len(distances))
    near = np.flatnonzero(distances <= np.partition(sample, share)[share])
    if len(near) < most:
        near = np.arange(len(distances))
    return np.sort(near[np.argpartition(distances[near], most - 1)[:most]])


@cache
def _rotation() -> "NDArray[np.float32]":
    """The rotation of 64 dimensions times `SCALE`, of shape (64, 64). Equal in all processes up to rounding."""
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((_WORD, _WORD)))
    return np.asarray(turned * SCALE, np.float32)


def rotated(halves: "NDArray[np.uint16]") -> "NDArray[np.float32]":
    """Rotated vectors, from the bits of float16 vectors. Shape (rows, 64 * words); zeros fill up the dimensions."""
    rows, dimension = halves.shape
    words = -(-dimension // _WORD)
    wide = widened(halves)
    found = np.empty((rows, words * _WORD), np.float32)
    for word in range(words):
        found[:, word * _WORD : (word + 1) * _WORD] = _rotated_part(np.ascontiguousarray(wide[:, word::words]))
    return found


def _rotated(query: "Vector") -> "NDArray[np.float32]":
    return _rotated_half(np.asarray(query, "<f2").tobytes())


@lru_cache(maxsize=2)
def _rotated_half(query: bytes) -> "NDArray[np.float32]":
    """The rotation of a query, given as float16 bytes. Cached, as several partitions search for the same query."""
    return rotated(np.frombuffer(query, np.uint16).reshape(1, -1))


def sign_words(turned: "NDArray[np.float32]") -> "NDArray[np.uint64]":
    """The signs of rotated vectors: shape (rows, words of 64 bits)."""
    return np.packbits(turned < 0, axis=1).view(np.uint64)


def _rotated_part(part: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Rotate up to 64 dimensions of each row, few rows at once so that BLAS starts no threads, which would spin."""
    rotation = _rotation()[: part.shape[1]]
    whole = len(part) // _ROWS_AT_ONCE * _ROWS_AT_ONCE
    many = part[:whole].reshape(-1, _ROWS_AT_ONCE, part.shape[1]) @ rotation
    return np.concatenate([many.reshape(-1, _WORD), part[whole:] @ rotation])


def size_of(rows: int, dimension: int) -> int:
    """The approximate size of a file in bytes."""
    return rows * (_codes_of_row(dimension) * 5 // 4 + 2 * dimension + 64)


def write(
    path: Path, batches: Iterable[RowBatch], dimension: int, *, token: int, epoch: int, seq: int, most: int
) -> None:
    """Write batches with at most `most` rows in all to an existing empty file, and sync it to disk.

    Rows that are not finite are left out. Raises `OSError`.
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
        records = np.concatenate(named)
        width = records.dtype["id"].itemsize
        header = _HEADER.pack(_MAGIC, token, epoch, seq, most, rows, dimension, width, KINDS_DIGEST)
        checksum = zlib.crc32(header)
        for part in (seqs[:rows], *(plane[:rows] for plane in planes), steps[:rows], records):
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
    """Map the planes of a file into memory. None if the file is missing, incomplete or damaged.

    The checksum is not computed if the file has the `known` token, which was read before.
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
    records = np.frombuffer(content, record_type(width), rows, named)
    every_code = np.frombuffer(content, np.uint8, codes * rows, _HEADER.size).reshape(rows, codes)
    return Planes(
        token=token,
        epoch=epoch,
        seq=seq,
        seqs=np.frombuffer(content, np.int64, rows, start),
        planes=np.frombuffer(content, np.uint64, rows * words, planes).reshape(words, rows),
        codes=Codes(every_code, np.frombuffer(content, np.float32, rows, steps)),
        rows=RowFile(file, vectors, dimension, records),
        gave_up=gave_up(records),
        content=content,
    )


def _codes_of_row(dimension: int) -> int:
    """The bytes of a row's codes."""
    return -(-dimension // _WORD) * _WORD // 2


def _checksum(content: mmap.mmap, start: int, end: int) -> int:
    return zlib.crc32(memoryview(content)[start:end], zlib.crc32(memoryview(content)[: _HEADER.size]))


def token_of(path: Path) -> int:
    """The token of the planes in a file; 0 if it cannot be read or is not a planes file."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError:
        return 0
    return int(_HEADER.unpack(head)[1]) if len(head) == _HEADER.size and head.startswith(_MAGIC) else 0


def erase(path: Path) -> None:
    """Overwrite a file with zeros and remove it, even if overwriting fails. A missing file is no error.

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
