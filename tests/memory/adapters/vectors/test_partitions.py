"""A shelf answers like a dictionary that is sorted anew for every search."""

import numpy as np
from hypothesis import given, strategies as st

from memory.adapters.vectors.partitions import RowKind, VectorPartition, search
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
