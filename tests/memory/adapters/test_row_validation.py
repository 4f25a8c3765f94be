"""What is passed at a glance is what is passed part by part."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from memory.adapters import row_validation
from memory.adapters.row_validation import require_all_storable, require_storable
from memory.errors import InvalidInput
from memory.model import Episode, Step, StepKind, Verdict

_FAR = timezone(timedelta(hours=14))
_EARLY = datetime.min.replace(tzinfo=_FAR)
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["\0", "a\ud83d", "\ud83d\ude00", "ä", Verdict.SUCCESS])
    | st.sampled_from([datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1), _EARLY])  # noqa: DTZ001 - is refused
    | st.sampled_from([b"", {1}, 1j])
)
values = st.recursive(
    plain,
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.lists(parts, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.sampled_from(["\0", 1]), parts, max_size=3)
        | st.builds(Step, kind=st.just(StepKind.ACT), text=st.text(max_size=2), arguments=parts)
    ),
    max_leaves=6,
)


@given(values)
def test_what_is_passed_at_a_glance_is_passed_part_by_part(value: object) -> None:
    try:
        row_validation._check(value, "it")
    except (InvalidInput, TypeError, ValueError) as wrong:
        with pytest.raises(type(wrong)):
            require_storable(value)
    else:
        assert require_storable(value) is value


def test_an_error_names_the_part() -> None:
    step = Step(kind=StepKind.ACT, arguments={"where": ["a\0"]})
    with pytest.raises(InvalidInput, match=r"Episode\.trajectory\.arguments\.where contains a NUL"):
        require_storable(replace(Episode(goal="x"), trajectory=(step,)))


@given(st.lists(values, min_size=row_validation._MANY, max_size=2 * row_validation._MANY))
def test_many_are_passed_together_if_each_is_passed(several: list[object]) -> None:
    try:
        for each in several:
            require_storable(each)
    except (InvalidInput, TypeError, ValueError) as wrong:
        with pytest.raises(type(wrong)):
            require_all_storable(several)
    else:
        assert require_all_storable(several) is several


def test_an_error_names_the_part_of_one_of_many() -> None:
    many = [replace(Episode(goal="x"), id=str(number)) for number in range(row_validation._MANY)]
    with pytest.raises(InvalidInput, match=r"Episode\.goal contains a NUL"):
        require_all_storable([*many, Episode(goal="\0")])
