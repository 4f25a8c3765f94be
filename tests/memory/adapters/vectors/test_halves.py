"""Numbers of 16 bits become the same numbers of 32."""

import numpy as np
import pytest

from memory.adapters.vectors.halves import SCALE, finite_rows, floats, halves, room, widened

EVERY = np.arange(1 << 16, dtype=np.uint16)


def test_numbers_are_widened_exactly() -> None:
    finite = EVERY[np.isfinite(EVERY.view(np.float16))]
    assert np.array_equal(widened(finite) * SCALE, finite.view(np.float16).astype(np.float32))


def test_numbers_come_back_as_they_were() -> None:
    finite = EVERY[np.isfinite(EVERY.view(np.float16))].view(np.float16).reshape(-1, 8)
    assert np.array_equal(halves(floats(finite)).view(np.uint16), finite.view(np.uint16))


@pytest.mark.parametrize("rows", [0, 3, 5000, 20_000])
def test_there_is_room_for_as_many_numbers_as_are_wanted(rows: int) -> None:
    one, other = room((rows, 64), np.float32), room((rows, 64), np.float32)
    one[:], other[:] = 1, 2
    assert one.shape == (rows, 64)
    assert (one == 1).all()
    assert (other == 2).all()


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
