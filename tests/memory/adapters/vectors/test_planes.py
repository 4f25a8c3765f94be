"""Sign-bit planes: what they lead to, and what becomes of their files."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from memory.adapters.private_files import locked_file
from memory.adapters.vectors import planes as files
from memory.adapters.vectors.codes import Codes, packed
from memory.adapters.vectors.plane_rows import KINDS, RowBatch, row_batch
from memory.adapters.vectors.planes import Planes, rotated, sign_words
from memory.model import Vector
from tests.benchmarks.bulk import Texts

DIMENSION = 384
Exact = np.ndarray[tuple[int, int], np.dtype[np.float32]]
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


def turned(matrix: Halves) -> Exact:
    return rotated(matrix.view(np.uint16))


def batch(numbers: range, matrix: Halves) -> RowBatch:
    kinds = [number % len(KINDS) for number in numbers]
    return row_batch(numbers, [f"e{number}" for number in numbers], kinds, [matrix[numbers].tobytes()])


def write(path: Path, matrix: Halves) -> None:
    starts = range(0, len(matrix), 96)  # as many are turned alike, to the last digit, whatever comes with them
    batches = (batch(range(n, min(len(matrix), n + 96)), matrix) for n in starts)
    with locked_file(path):
        files.write(path, batches, matrix.shape[1], token=7, epoch=3, seq=10 * len(matrix), most=len(matrix))


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
        places, bounds = planes.nearest(query, 256)
        seqs = places.tolist()
        assert len(set(seqs)) == len(bounds) == 256
        assert np.array_equal(bounds, np.sort(bounds)[::-1])
        cosines = exact[seqs] @ query
        assert np.mean(bounds >= cosines) >= 0.99
        assert np.all(bounds < cosines + 0.08)
        found += len(set(nearest.tolist()) & set(seqs[:20]))
    assert found / 500 >= 0.99


def unit(matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Halves:
    found: Halves = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float16)
    return found


def uneven(count: int, seed: int) -> Halves:
    """Texts of many meanings, whose first dimensions mean more than the last."""
    goals = np.random.default_rng(seed).integers(0, 20_000, count)
    return Texts().of(goals.tolist(), seed).astype(np.float16)


def clustered(count: int, seed: int) -> Halves:
    centres = np.random.default_rng(5).standard_normal((200, DIMENSION))
    chance = np.random.default_rng(seed)
    return unit(centres[chance.integers(0, 200, count)] + 0.7 * chance.standard_normal((count, DIMENSION)))


def looked_up(planes: Planes, exact: Exact, query: Vector, gone: Sequence[int]) -> set[int]:
    """The ten nearest of those that may be nearest, where these are gone."""
    places, bounds = planes.nearest(query, 1024)
    seqs = places.tolist()
    kept = [(float(exact[seq] @ query), seq, bound) for seq, bound in zip(seqs, bounds, strict=True) if seq not in gone]
    tenth = sorted([cosine for cosine, _, _ in kept], reverse=True)[9]
    return {seq for cosine, seq, bound in kept if cosine >= tenth and bound >= tenth}


def anything(count: int, seed: int) -> Halves:
    """Nothing is like anything else."""
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [uneven, clustered, anything])
def test_of_the_nearest_ten_99_in_100_are_found(tmp_path: Path, kind: Callable[[int, int], Halves]) -> None:
    """Also where the two nearest are gone from the database, and those behind them are wanted.

    Found is what no ten others, with what is behind their bounds, keep anybody from looking up.
    """
    matrix, queries = kind(15_000, 1), kind(40, 2).astype(np.float32)
    planes, exact = planes_of(tmp_path, matrix), matrix.astype(np.float32)
    found = beyond = 0
    for query in queries:
        nearest = np.argsort(-np.vecdot(exact, query))[:12].tolist()
        found += len(set(nearest[:10]) & looked_up(planes, exact, query, []))
        beyond += len(set(nearest[2:]) & looked_up(planes, exact, query, nearest[:2]))
    assert min(found, beyond) / (10 * len(queries)) >= 0.99


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows are compared by their codes, from now on."""
    compared: list[int] = []
    cosines = Codes.cosines

    def noted(of: Codes, places: np.ndarray[tuple[int], np.dtype[np.intp]], query: Exact) -> object:
        compared.append(len(places))
        return cosines(of, places, query)

    monkeypatch.setattr(Codes, "cosines", noted)
    return compared


def test_where_others_are_nearer_fewer_rows_are_compared_and_the_near_ones_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, queries, least = uneven(15_000, 1), uneven(40, 2).astype(np.float32), 0.22
    planes, exact = planes_of(tmp_path, matrix), matrix.astype(np.float32)
    compared = counted(monkeypatch)
    without = [set(planes.nearest(query, 1024)[0].tolist()) for query in queries]
    many = sum(compared)
    found = [set(planes.nearest(query, 1024, least)[0].tolist()) for query in queries]
    assert sum(compared) - many < 0.9 * many
    near = [
        set(np.flatnonzero(exact @ query >= least).tolist()) & known
        for query, known in zip(queries, without, strict=True)
    ]
    assert sum(map(len, near)) > 50
    assert all(each <= known for each, known in zip(near, found, strict=True))


def test_where_nothing_is_near_the_search_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_CANDIDATES", 500)
    planes = planes_of(tmp_path, anything(5_000, 1))
    compared = counted(monkeypatch)
    planes.nearest(anything(1, 2)[0].astype(np.float32), 100)
    assert compared == [100, 500]


def test_what_is_not_finite_is_left_out(tmp_path: Path) -> None:
    matrix = rows(3)
    matrix[1, 5] = np.inf
    planes = planes_of(tmp_path, matrix)
    assert planes.seqs.tolist() == [0, 2]
    assert np.array_equal(planes.codes.packed, packed(turned(matrix[[0, 2]]))[0])
    (place,) = planes.nearest(matrix[2].astype(np.float32), 1)[0].tolist()
    assert planes.rows.found(np.array([place])).ids == ["e2"]
    assert np.array_equal(planes.rows.found(np.array([0, 1])).vectors, matrix[[0, 2]].astype(np.float32))


@pytest.mark.parametrize(("count", "most"), [(0, 5), (3, 5), (5, 5), (200, 5), (200, 199)])
def test_there_are_as_many_candidates_as_asked_for(tmp_path: Path, count: int, most: int) -> None:
    planes = planes_of(tmp_path, rows(count) if count else np.empty((0, DIMENSION), np.float16))
    assert len(planes.nearest(np.ones(DIMENSION, np.float32), most)[0]) == min(count, most)


def test_rows_that_are_alike_are_all_as_near(tmp_path: Path) -> None:
    planes = planes_of(tmp_path, np.repeat(rows(1), 70_000, axis=0))
    assert len(planes.nearest(rows(1)[0].astype(np.float32), 10)[0]) == 10


def test_a_dimension_that_fills_no_word(tmp_path: Path) -> None:
    matrix = np.array([[1, -1, 1], [-1, -1, -1], [1, 1, 1]], np.float16)
    assert sign_words(turned(matrix)).shape == (3, 1)
    assert planes_of(tmp_path, matrix).nearest(np.array([1, 1, 1], np.float32), 1)[0].tolist() == [2]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path / "planes", rows(300))
    assert (tmp_path / "planes").stat().st_mode & 0o077 == 0
    assert (tmp_path / "planes").stat().st_size <= files.size_of(300, DIMENSION)
    read = files.read(tmp_path / "planes")
    assert read is not None
    assert (read.token, read.epoch, read.seq, len(read)) == (7, 3, 3000, 300)
    codes, steps = packed(turned(rows(300)))
    assert np.array_equal(read.codes.packed, codes)
    assert np.array_equal(read.codes.steps, steps)
    assert np.array_equal(read.planes, sign_words(turned(rows(300))).T)
    assert read.seqs.tolist() == list(range(300))
    found = read.rows.found(np.array([299, 7]))
    assert (found.ids, found.kinds) == (["e299", "e7"], [299 % len(KINDS), 7])
    assert np.array_equal(found.vectors, rows(300)[[299, 7]].astype(np.float32))
    assert files.token_of(tmp_path / "planes") == 7


@pytest.mark.parametrize("keep", [0, 3, 40, 56, 1000, -1])
def test_a_file_that_is_not_whole_is_none(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "planes"
    write(path, rows(300))
    path.write_bytes(path.read_bytes()[:keep])
    assert files.read(path) is None
    assert files.read(tmp_path / "none") is None


def test_a_file_with_kinds_of_another_version_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "planes", rows(300))
    monkeypatch.setattr(files, "KINDS_DIGEST", 1)
    assert files.read(tmp_path / "planes") is None


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
    assert files.token_of(other) == 0


def test_whoever_asks_for_cosines_while_a_file_is_erased_gets_some(tmp_path: Path) -> None:
    planes = planes_of(tmp_path, rows(300))
    seqs = planes.seqs[::7].copy()
    files.erase(tmp_path / "planes")
    assert planes.cosines(rows(1)[0].astype(np.float32), seqs).tolist() == [0] * len(seqs)
    assert not planes.is_whole


def test_what_cannot_be_overwritten_is_removed_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "planes", rows(3))
    monkeypatch.setattr(os, "fsync", lambda _: int("?"))
    with pytest.raises(ValueError, match="invalid"):
        files.erase(tmp_path / "planes")
    assert not (tmp_path / "planes").exists()
