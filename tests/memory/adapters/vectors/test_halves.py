"""Numbers of 16 bits become the same numbers of 32."""

import numpy as np
import pytest

from memory.adapters.vectors.halves import SCALE, finite_rows, widened

EVERY = np.arange(1 << 16, dtype=np.uint16)


def test_numbers_are_widened_exactly() -> None:
    finite = EVERY[np.isfinite(EVERY.view(np.float16))]
    assert np.array_equal(widened(finite) * SCALE, finite.view(np.float16).astype(np.float32))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_row_is_finite_if_all_of_it_is(kind: type[np.floating]) -> None:
    matrix = EVERY.view(np.float16).reshape(-1, 16).astype(kind)
    with np.errstate(over="ignore"):
        wide, is_finite = finite_rows(matrix)
    expected = np.isfinite(matrix).all(axis=1)
    assert is_finite.tolist() == expected.tolist()
    assert np.array_equal(wide[is_finite], matrix[expected].astype(np.float32))
    assert not np.shares_memory(wide, matrix)


def test_no_rows_are_no_rows() -> None:
    wide, is_finite = finite_rows(np.empty((0, 4), np.float16))
    assert wide.shape == (0, 4)
    assert is_finite.tolist() == []
