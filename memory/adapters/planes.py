"""Sign-bit planes: 48 bytes for each row of a large partition, searched at once; a file that processes share.

A plane has one bit of each 64 dimensions of every row, so that how many signs differ from a query's is counted column
by column. Rows whose signs differ least are candidates, of which the vectors, in the same file, are compared exactly.
Each row is known by its `seq` alone: what the database has under it, or has no more, counts.
"""

import mmap
import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory.adapters.private_files import open_private

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory.model import Vector

_MAGIC = b"GBPLANE1"
_HEADER = struct.Struct("<8sQQQQQ")
"""Magic, token, epoch, seq, rows, dimension; then the vectors, the seqs, the planes, and a checksum without vectors."""
_STRIDE = 1 << 16
"""How many rows are counted at once: what is added up stays in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """The signs of one partition as it was at one `seq`."""

    token: int
    """Names this version of them; the database says which is valid."""
    epoch: int
    seq: int
    """Of the newest change that they have."""
    seqs: "NDArray[np.int64]"
    """Of each row."""
    planes: "NDArray[np.uint64]"
    """Shape (words, rows)."""
    vectors: "NDArray[np.float16]"
    """Shape (rows, dimension)."""
    content: mmap.mmap
    """The file they are in."""

    @property
    def is_whole(self) -> bool:
        """Whether the file was not erased meanwhile, which begins with its beginning."""
        return self.content[: len(_MAGIC)] == _MAGIC

    def __len__(self) -> int:
        return len(self.seqs)

    def nearest(self, query: "Vector", most: int) -> "tuple[list[int], NDArray[np.float32], NDArray[np.float32]]":
        """The seqs, cosines and vectors of the `most` candidates, the nearest first."""
        places = np.sort(self.candidates(query, most))
        vectors = self.vectors[places].astype(np.float32)
        cosines = np.clip(np.vecdot(vectors, query), -1.0, 1.0)
        order = np.argsort(-cosines, kind="stable")
        order = order[np.isfinite(cosines[order])]
        return self.seqs[places[order]].tolist(), cosines[order], vectors[order]

    def candidates(self, query: "Vector", most: int) -> "NDArray[np.intp]":
        """The places of `most` rows, if there are as many, whose signs differ least from the query's."""
        if most >= len(self.seqs):
            return np.arange(len(self.seqs))
        distances = self._distances(query)
        # The most-th smallest distance, guessed by a sample and then found among those below the guess.
        sample = distances[:: max(1, len(distances) // 16384)]
        share = min(len(sample) - 1, 4 + 2 * most * len(sample) // len(distances))
        near = np.flatnonzero(distances <= np.partition(sample, share)[share])
        if len(near) < most:
            near = np.arange(len(distances))
        order = np.argpartition(distances[near], most - 1)[:most]
        return np.asarray(near[order])

    def _distances(self, query: "Vector") -> "NDArray[np.uint16]":
        signs = sign_words(np.asarray(query, "<f2").reshape(1, -1).view(np.uint16))[0]
        counts = np.zeros(len(self.seqs), np.uint16)
        for start in range(0, len(counts), _STRIDE):
            part = counts[start : start + _STRIDE]
            for word, plane in zip(signs, self.planes, strict=True):
                part += np.bitwise_count(plane[start : start + _STRIDE] ^ word)
        return counts


def sign_words(halves: "NDArray[np.uint16]") -> "NDArray[np.uint64]":
    """The signs of float16 vectors, of which these are the bits: shape (rows, words of 64 dimensions)."""
    rows, dimension = halves.shape
    words = -(-dimension // 64)
    packed = np.zeros((rows, 8 * words), np.uint8)
    packed[:, : -(-dimension // 8)] = np.packbits(halves >> 15, axis=1)
    return packed.view(np.uint64)


def write(
    path: Path, batches: Iterable[tuple[list[int], bytes]], dimension: int, *, token: int, epoch: int, seq: int
) -> None:
    """Write rows that come in batches, their seqs and their vectors as float16 side by side, to a file.

    It is for this user alone, and survives a power failure. Raises `OSError`.
    """
    seqs, words = [np.empty(0, np.int64)], [np.empty((0, -(-dimension // 64)), np.uint64)]
    with open(path, "wb", opener=open_private) as file:
        file.write(bytes(_HEADER.size))
        for numbers, vectors in batches:
            file.write(vectors)
            seqs.append(np.array(numbers, np.int64))
            words.append(sign_words(np.frombuffer(vectors, "<u2").reshape(-1, dimension)))
        every = np.concatenate(seqs)
        file.write(bytes(-file.tell() % 8))
        header = _HEADER.pack(_MAGIC, token, epoch, seq, len(every), dimension)
        checksum = zlib.crc32(header)
        for part in (every.tobytes(), np.ascontiguousarray(np.concatenate(words).T).tobytes()):
            checksum = zlib.crc32(part, checksum)
            file.write(part)
        file.write(struct.pack("<I", checksum))
        file.seek(0)
        file.write(header)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> Planes | None:
    """The planes of a file, mapped into memory; None where there is none, or it is no whole one."""
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    if len(content) < _HEADER.size + 4:
        return None
    magic, token, epoch, seq, rows, dimension = _HEADER.unpack_from(content)
    words, size = -(-dimension // 64), _HEADER.size + 2 * rows * dimension
    start = size + -size % 8
    end = start + 8 * rows * (1 + words)
    if magic != _MAGIC or len(content) != end + 4:
        return None
    checksum = zlib.crc32(memoryview(content)[start:end], zlib.crc32(memoryview(content)[: _HEADER.size]))
    if checksum != struct.unpack_from("<I", content, end)[0]:
        return None
    return Planes(
        token=token,
        epoch=epoch,
        seq=seq,
        seqs=np.frombuffer(content, np.int64, rows, start),
        planes=np.frombuffer(content, np.uint64, rows * words, start + 8 * rows).reshape(words, rows),
        vectors=np.frombuffer(content, "<f2", rows * dimension, _HEADER.size).reshape(rows, dimension),
        content=content,
    )


def epoch_of(path: Path) -> int:
    """The epoch a file was made in; -1 for one that does not say so."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError:
        return -1
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        return -1
    return int(_HEADER.unpack(head)[2])


def erase(path: Path) -> None:
    """Overwrite a file with nothing, and remove it. One that is not there is erased."""
    try:
        size = path.stat().st_size
        with path.open("r+b") as file:
            for _ in range(0, size, 1 << 20):
                file.write(bytes(min(1 << 20, size)))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
    except FileNotFoundError:
        return
