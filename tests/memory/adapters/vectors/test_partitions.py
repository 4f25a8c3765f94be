"""A shelf answers like a dictionary that is sorted anew for every search."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from memory.adapters.vectors.action_rows import FROM_ONE, NOTHING_FOUND, RowApproval
from memory.adapters.vectors.hits import RowKind
from memory.adapters.vectors.partitions import BLOCK, VectorPartition, search
from memory.model import Audience, Verdict
from tests.memory.adapters.store_samples import unit

SHARED = RowKind(Audience.CHANNEL, Verdict.SUCCESS)
names = st.sampled_from("abcdef")
additions = st.dictionaries(names, st.integers(0, 90), max_size=4)
EPISODES = 60
CLOCK = RowApproval("clock", "", "ana")
some_episodes = st.tuples(st.integers(0, EPISODES), st.integers(0, EPISODES)).map(lambda ends: range(*sorted(ends)))


def name_of(number: int) -> str:
    return f"e{number * 7 % EPISODES:02d}"


def at_angle(degrees: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
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


@given(
    partitions=st.lists(some_episodes, min_size=1, max_size=4),
    proposals=st.lists(some_episodes, max_size=2),
    narrow=st.lists(st.booleans(), min_size=6, max_size=6),
    step=st.sampled_from([0, 1, 7, 30]),
    query=st.sampled_from([0.0, 45.0, 120.0, np.nan]),
    k=st.sampled_from([-1, 0, 1, 2, 5, 20, EPISODES]),
    least=st.sampled_from([-1.0, -1.0, 0.3, 1.0]),
    include_gave_up=st.booleans(),
)
@settings(max_examples=20 * settings().max_examples)  # each is quick
def test_as_if_every_row_were_sorted(
    partitions: list[range],
    proposals: list[range],
    narrow: list[bool],
    step: int,
    query: float,
    k: int,
    least: float,
    include_gave_up: bool,
) -> None:
    """Each episode counts as its row in the first partition that has it; of equal ones, the later id comes first."""
    matrix = np.array([at_angle(number * step % 91) for number in range(EPISODES)]).astype(np.float16)
    asked = at_angle(query) if np.isfinite(query) else np.array([1, query], np.float32)
    with np.errstate(invalid="ignore"):
        alike = np.vecdot(matrix.astype(np.float32), asked).clip(-1, 1)
    cosines = alike if np.isfinite(query) else np.full(EPISODES, np.nan)
    shelves: list[VectorPartition] = []
    first: dict[int, Audience] = {}
    for place, episodes in enumerate((*partitions, *proposals)):
        kinds = [RowKind(list(Audience)[place % 3], Verdict.SUCCESS, each) for each in (CLOCK, NOTHING_FOUND)]
        shelf = VectorPartition(2)
        shelf.add([name_of(each) for each in episodes], kinds, [each % 5 == 0 for each in episodes], matrix[episodes])
        if narrow[place]:
            shelf.narrow()
        shelves.append(shelf)
        first = dict.fromkeys(episodes, kinds[0].audience) | first
    found = search(
        shelves[: len(partitions)],
        asked,
        k,
        least,
        ["clock"],
        shelves[len(partitions) :],
        include_gave_up=include_gave_up,
    )
    expected = sorted(
        [each for each in first if cosines[each] >= np.float32(least) and (include_gave_up or each % 5)],
        key=lambda each: (cosines[each], name_of(each)),
        reverse=True,
    )[: max(k, 0)]
    assert found.searched == sum(map(len, partitions))
    assert [hit[:4] for hit in found.hits] == [
        (name_of(each), cosines[each], first[each], Verdict.SUCCESS) for each in expected
    ]
    approving = [sum(each % 5 > 0 for each in episodes) for episodes in partitions if np.isfinite(query)]
    assert (found.fits["clock"].lessons if found.fits else 0) == sum(min(FROM_ONE, each) for each in approving)
    for shelf in shelves:  # the vectors that were found stay what they were
        shelf.remove(map(name_of, range(EPISODES - 1)))
        shelf.add(["another"], [SHARED], [0], matrix[:1])
    assert np.array_equal(np.reshape(found.vectors, (-1, 2)), matrix[expected].astype(np.float32))
