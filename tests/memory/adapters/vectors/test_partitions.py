"""A shelf answers like a dictionary that is sorted anew for every search."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memory.adapters.vectors.partitions import BLOCK, RowKind, VectorPartition, search
from memory.model import Audience, Verdict
from tests.memory.adapters.store_samples import unit

SHARED = RowKind(Audience.CHANNEL, Verdict.SUCCESS)
names = st.sampled_from("abcdef")
additions = st.dictionaries(names, st.integers(0, 90), max_size=4)


def at_angle(degrees: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return unit(np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))


@given(st.lists(st.one_of(additions, st.lists(names, max_size=3)), max_size=12), st.integers(0, 7))
def test_adding_replacing_and_removing(changes: list[dict[str, int] | list[str]], k: int) -> None:
    shelf, angles = VectorPartition(2), dict[str, int]()
    for change in changes:
        if isinstance(change, dict):
            matrix = np.array([at_angle(angle) for angle in change.values()]).reshape(-1, 2)
            shelf.add(list(change), [SHARED], [0] * len(change), matrix)
            angles |= change
        else:
            shelf.remove(change)
            angles = {name: angle for name, angle in angles.items() if name not in change}
        found = search([shelf], at_angle(0), k, -1.0)
        assert found.searched == len(shelf) == len(angles)
        expected = sorted(sorted(angles, reverse=True), key=lambda name: angles[name])[:k]
        assert [hit.episode_id for hit in found.hits] == expected


@given(st.lists(st.one_of(additions, st.lists(names, max_size=3), st.booleans()), max_size=12), st.integers(0, 7))
def test_in_half_of_the_memory_it_answers_the_same(changes: list[dict[str, int] | list[str] | bool], k: int) -> None:
    shelf, wide = VectorPartition(2), VectorPartition(2)
    for change in changes:
        if isinstance(change, bool):
            shelf.narrow() if change else shelf.widen()
        elif isinstance(change, dict):
            matrix = np.array([at_angle(angle) for angle in change.values()]).reshape(-1, 2).astype(np.float16)
            for each in (shelf, wide):
                each.add(list(change), [SHARED], [0] * len(change), matrix)
        else:
            for each in (shelf, wide):
                each.remove(change)
        found, expected = (search([each], at_angle(10), k, 0.5) for each in (shelf, wide))
        assert found.searched == expected.searched
        assert [hit[:4] for hit in found.hits] == [hit[:4] for hit in expected.hits]
        assert all(
            np.array_equal(*both)
            for both in zip(*([hit.vector for hit in each.hits] for each in (found, expected)), strict=True)
        )


@pytest.mark.parametrize("rows", [1, BLOCK, 2 * BLOCK + 300])
def test_many_rows_are_as_exact_in_half_of_the_memory(rows: int) -> None:
    chance = np.random.default_rng(3)
    matrix = chance.uniform(-0.2, 0.2, (rows, 64)).astype(np.float16)
    shelf = VectorPartition(64)
    for start in range(0, rows, 700):
        some = matrix[start : start + 700]
        shelf.add([f"e{start + number}" for number in range(len(some))], [SHARED], [0] * len(some), some)
    query = chance.uniform(-0.2, 0.2, 64).astype(np.float32)
    before, hits = shelf.nbytes, search([shelf], query, 20, -1.0).hits
    cosines = shelf.cosines(query)
    shelf.narrow()
    assert np.array_equal(shelf.cosines(query), cosines)
    assert shelf.nbytes < before * (0.6 if rows >= BLOCK else 1)
    assert [hit[:4] for hit in search([shelf], query, 20, -1.0).hits] == [hit[:4] for hit in hits]
    shelf.widen()
    assert np.array_equal(shelf.cosines(query), cosines)


def test_a_cosine_is_never_above_one() -> None:
    shelf = VectorPartition(3)
    shelf.add(["a"], [SHARED], [0], np.full((1, 3), 0.6, np.float32))
    assert search([shelf], np.full(3, 0.6, np.float32), 1, 0.0).hits[0].cosine == 1.0


@given(st.lists(additions, min_size=1, max_size=4), st.lists(additions, max_size=3), st.integers(0, 7), st.data())
def test_of_several_partitions_each_episode_counts_once(
    partitions: list[dict[str, int]], beside: list[dict[str, int]], k: int, data: st.DataObject
) -> None:
    """As sorting every row would, and what lies beside comes after all others."""
    angles = data.draw(st.fixed_dictionaries({name: st.integers(0, 90) for name in "abcdef"}))
    shelves: list[VectorPartition] = []
    where: dict[str, Audience] = {}
    for number, names_of_one in enumerate((*partitions, *beside)):
        audience = list(Audience)[number % len(Audience)]
        shelf = VectorPartition(2)
        matrix = np.array([at_angle(angles[name]) for name in names_of_one]).reshape(-1, 2)
        shelf.add(list(names_of_one), [RowKind(audience, Verdict.SUCCESS)], [0] * len(names_of_one), matrix)
        shelves.append(shelf)
        where = dict.fromkeys(names_of_one, audience) | where
    found = search(shelves[: len(partitions)], at_angle(0), k, -1.0, beside=shelves[len(partitions) :])
    assert found.searched == sum(map(len, partitions))
    expected = sorted(sorted(where, reverse=True), key=lambda name: angles[name])[:k]
    assert [(hit.episode_id, hit.audience) for hit in found.hits] == [(name, where[name]) for name in expected]
    assert all(hit.vector is not None and hit.vector @ at_angle(0) == hit.cosine for hit in found.hits)
