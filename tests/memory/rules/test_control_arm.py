"""Which runs get no lessons."""

from hypothesis import given, strategies as st

from memory.adapters.system import TimeOrderedIds
from memory.rules.control_arm import hash_fraction, is_control


@given(st.text(), st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_run_stays_where_it_is_and_a_larger_share_only_adds_runs(run_id: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= hash_fraction(run_id) < 1
    assert hash_fraction(run_id) == hash_fraction(run_id)
    assert is_control(run_id, high) or not is_control(run_id, low)
    assert not is_control(run_id, 0)


def test_the_share_is_what_it_says() -> None:
    new_id = TimeOrderedIds()
    ids = [new_id() for _ in range(4000)]
    assert 0.17 < sum(is_control(each, 0.2) for each in ids) / len(ids) < 0.23


def test_chance_is_a_parameter() -> None:
    assert is_control("run", 0.2, chance=lambda run_id: 0.19)
    assert not is_control("run", 0.2, chance=lambda run_id: 0.2)
