"""Sign-bit planes: what they lead to, and what becomes of their files."""

from pathlib import Path

import numpy as np
import pytest

from memory.adapters import planes as files
from memory.adapters.planes import Planes, sign_words

DIMENSION = 384
Halves = np.ndarray[tuple[int, int], np.dtype[np.float16]]


def rows(count: int, dimension: int = DIMENSION) -> Halves:
    """Texts of many topics, each made of two: as near to each other as texts are."""
    chance = np.random.default_rng(count)
    texts = chance.standard_normal((2000, dimension))
    first, second = chance.integers(0, 2000, (2, count))
    made = texts[first] + chance.uniform(0.15, 0.55, (count, 1)) * texts[second]
    made += 0.15 * chance.standard_normal((count, dimension))
    found: Halves = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)
    return found


def write(path: Path, matrix: Halves) -> None:
    starts = range(0, len(matrix), 100)
    batches = ((list(range(n, min(len(matrix), n + 100))), matrix[n : n + 100].tobytes()) for n in starts)
    files.write(path, batches, matrix.shape[1], token=7, epoch=3, seq=len(matrix))


def planes_of(path: Path, matrix: Halves) -> Planes:
    write(path / "planes", matrix)
    planes = files.read(path / "planes")
    assert planes is not None
    return planes


def test_they_lead_to_the_nearest_rows(tmp_path: Path) -> None:
    matrix = rows(20_000)
    planes, exact = planes_of(tmp_path, matrix), matrix.astype(np.float32)
    found = 0
    for number in range(50):
        query = exact[number] + 0.03 * np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)
        nearest = np.argsort(-(exact @ query))[:10]
        seqs, cosines, vectors = planes.nearest(query, 256)
        assert len(set(seqs)) == len(cosines) == len(vectors) == 256
        assert np.allclose(cosines, np.minimum(exact[seqs] @ query, 1), atol=1e-5)
        found += len(set(nearest.tolist()) & set(seqs[:10]))
    assert found / 500 >= 0.99


@pytest.mark.parametrize(("count", "most"), [(0, 5), (3, 5), (5, 5), (200, 5), (200, 199)])
def test_there_are_as_many_candidates_as_asked_for(tmp_path: Path, count: int, most: int) -> None:
    planes = planes_of(tmp_path, rows(count) if count else np.empty((0, DIMENSION), np.float16))
    assert len(planes.candidates(np.ones(DIMENSION, np.float32), most)) == min(count, most)


def test_rows_that_are_alike_are_all_as_near(tmp_path: Path) -> None:
    planes = planes_of(tmp_path, np.repeat(rows(1), 70_000, axis=0))
    assert len(planes.candidates(rows(1)[0].astype(np.float32), 10)) == 10


def test_a_dimension_that_fills_no_word(tmp_path: Path) -> None:
    matrix = np.array([[1, -1, 1], [-1, -1, -1], [1, 1, 1]], np.float16)
    assert sign_words(matrix.view(np.uint16)).shape == (3, 1)
    assert planes_of(tmp_path, matrix).nearest(np.array([1, 1, 1], np.float32), 1)[0] == [2]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path / "planes", rows(300))
    assert (tmp_path / "planes").stat().st_mode & 0o077 == 0
    read = files.read(tmp_path / "planes")
    assert read is not None
    assert (read.token, read.epoch, read.seq, len(read)) == (7, 3, 300, 300)
    assert np.array_equal(read.vectors, rows(300))
    assert np.array_equal(read.planes, sign_words(rows(300).view(np.uint16)).T)
    assert read.seqs.tolist() == list(range(300))
    assert files.epoch_of(tmp_path / "planes") == 3


@pytest.mark.parametrize("keep", [0, 3, 40, 56, 1000, -1])
def test_a_file_that_is_not_whole_is_none(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "planes"
    write(path, rows(300))
    path.write_bytes(path.read_bytes()[:keep])
    assert files.read(path) is None
    assert files.read(tmp_path / "none") is None


def test_a_file_that_was_changed_is_none(tmp_path: Path) -> None:
    path = tmp_path / "planes"
    write(path, rows(300))
    content = bytearray(path.read_bytes())
    content[-5000] ^= 1
    path.write_bytes(content)
    assert files.read(path) is None


def test_what_is_erased_is_overwritten_first(tmp_path: Path) -> None:
    path, other = tmp_path / "planes", tmp_path / "the same file"
    write(path, rows(300))
    other.hardlink_to(path)
    files.erase(path)
    files.erase(path)
    assert not path.exists()
    assert set(other.read_bytes()) == {0}
    assert files.epoch_of(other) == -1
