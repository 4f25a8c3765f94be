"""How like a goal those rows are that approve an action, whatever rows came and went before."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memory.adapters.vectors.action_rows import FROM_ONE, RowApproval
from memory.adapters.vectors.hits import RowKind
from memory.adapters.vectors.partitions import BLOCK, VectorPartition, search
from memory.model import Audience, Verdict
from memory.ports import ActionFit
from tests.memory.adapters.store_samples import unit

ACTIONS = ("clock", "pay_bill")
names = st.sampled_from([f"e{number}" for number in range(8)])
approvals = st.one_of(
    st.none(),
    st.builds(
        RowApproval,
        action=st.sampled_from(["clock", "pay_bill", "answer"]),
        words=st.sampled_from(["", "use the clock", "At the desk."]),
        author=st.sampled_from("ab"),
    ),
)
additions = st.dictionaries(names, st.tuples(st.integers(0, 90), approvals), max_size=5)


def at_angle(degrees: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return unit(np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))


def approved_action(approval: RowApproval | None) -> str:
    if approval is None:
        return ""
    return {"": approval.action, "use the clock": "clock", "At the desk.": ""}[approval.words]


@given(st.lists(st.one_of(additions, st.lists(names, max_size=3)), max_size=10))
def test_as_if_every_row_were_looked_at(
    changes: list[dict[str, tuple[int, RowApproval | None]] | list[str]],
) -> None:
    shelf, rows = VectorPartition(2), dict[str, tuple[int, RowApproval | None]]()
    for change in changes:
        if isinstance(change, dict):
            kinds = [RowKind(Audience.CHANNEL, Verdict.SUCCESS, approval) for _, approval in change.values()]
            matrix = np.array([at_angle(angle) for angle, _ in change.values()]).reshape(-1, 2)
            shelf.add(list(change), kinds, range(len(kinds)), matrix)
            rows |= change
        else:
            shelf.remove(change)
            rows = {name: row for name, row in rows.items() if name not in change}
        found = search([shelf], at_angle(0), 1, -1.0, ACTIONS).fits
        for action in ACTIONS:
            angles = [angle for angle, approval in rows.values() if approved_action(approval) == action]
            assert (action in found) is bool(angles)
            if angles:
                assert found[action].lessons == len(angles)
                assert abs(found[action].cosine - np.mean(np.cos(np.radians(angles)))) < 1e-5


def test_however_many_one_person_has_they_count_as_ten() -> None:
    shelf = VectorPartition(2)
    for author, angle, count in (("ana", 0, 30), ("bo", 60, 10)):
        kind = RowKind(Audience.CHANNEL, Verdict.SUCCESS, RowApproval("clock", "", author))
        matrix = np.array([at_angle(angle)] * count)
        shelf.add([f"{author}{number}" for number in range(count)], [kind], [0] * count, matrix)
    found = search([shelf], at_angle(0), 1, -1.0, ACTIONS).fits["clock"]
    assert found.lessons == 2 * FROM_ONE
    assert abs(found.cosine - 0.75) < 1e-5


def test_what_no_row_approves_any_more_is_kept_no_longer() -> None:
    shelf = VectorPartition(2)
    lasting = [
        RowKind(Audience.CHANNEL, Verdict.SUCCESS, RowApproval(name, "", "bo")) for name in ("clock", "pay_bill")
    ]
    for number in range(BLOCK + 9):
        kind = RowKind(Audience.CHANNEL, Verdict.SUCCESS, RowApproval("clock", "", f"author {number}"))
        shelf.add(["e"], [kind], [0], np.array([at_angle(90)]))
        if number == 5:
            shelf.add(["f", "g"], lasting, [1, 0], np.array([at_angle(30), at_angle(60)]))
    assert len(shelf._kinds) < 20
    found = search([shelf], at_angle(0), 3, -1.0, ACTIONS)
    assert [hit.episode_id for hit in found.hits] == ["f", "g", "e"]
    assert {name: fit.lessons for name, fit in found.fits.items()} == {"clock": 2, "pay_bill": 1}
    assert found.fits["pay_bill"].cosine == pytest.approx(np.cos(np.radians(30)))


def test_partitions_are_taken_together() -> None:
    shelves = [VectorPartition(2), VectorPartition(2), VectorPartition(2)]
    for number, shelf in enumerate(shelves[:2]):
        kind = RowKind(Audience.CHANNEL, Verdict.SUCCESS, RowApproval("clock", "", "ana"))
        shelf.add([f"e{number}"], [kind], [0], np.array([at_angle(60 * number)]))
    found = search(shelves, at_angle(0), 1, -1.0, ACTIONS).fits
    assert found.keys() == {"clock"}
    assert found["clock"].lessons == 2
    assert abs(found["clock"].cosine - 0.75) < 1e-5
    assert search(shelves, np.full(2, np.nan, np.float32), 1, -1.0, ACTIONS).fits == dict[str, ActionFit]()
