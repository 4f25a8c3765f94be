"""Vectors in four bits a dimension: how near their cosines are."""

import numpy as np
import pytest

from memory.adapters.vectors.codes import Codes, packed

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def unit(rows: int, dimension: int, seed: int) -> Matrix:
    made = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    found: Matrix = made / np.linalg.norm(made, axis=1, keepdims=True)
    return found


@pytest.mark.parametrize("dimension", [64, 384])
def test_hardly_any_cosine_is_above_its_bound_and_none_far_below(dimension: int) -> None:
    vectors, query = unit(3000, dimension, 1), unit(1, dimension, 2)
    codes = Codes(*packed(vectors))
    assert codes.packed.nbytes == 3000 * dimension // 2
    places = np.arange(0, 3000, 2)
    exact = vectors[places] @ query[0]
    cosines, slack = codes.cosines(places, query)
    assert np.abs(cosines - exact).std() < slack.mean() / 3
    assert abs(float((cosines - exact).mean())) < slack.mean() / 20
    assert np.mean(exact > cosines + slack) < 0.003
    assert np.all(exact > cosines - 2 * slack)


def test_nothing_is_like_nothing_and_none_are_looked_at() -> None:
    codes = Codes(*packed(np.zeros((3, 64), np.float32)))
    cosines, slack = codes.cosines(np.arange(3), unit(1, 64, 1))
    assert cosines.tolist() == slack.tolist() == [0, 0, 0]
    assert [len(each) for each in codes.cosines(np.arange(0), unit(1, 64, 1))] == [0, 0]
