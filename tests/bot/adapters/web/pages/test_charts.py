"""Charts as shapes: their axes."""

from hypothesis import given, strategies as st

from bot.adapters.web.pages.charts import HEIGHT, Series, bars, lines


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12))
def test_counts_have_whole_ticks_and_fill_half_of_the_height(counts: list[int]) -> None:
    chart = bars("questions", [str(place) for place in range(len(counts))], [_series(counts)], "{:g}".format)
    zero, middle, top = (float(label) for _, label in chart.ticks)
    assert (zero, middle) == (0, top / 2)
    assert middle.is_integer() or not any(counts)
    assert max(counts) <= top
    assert top <= max(2, 2 * max(counts))
    assert all(0 <= each.y <= each.y + each.height <= HEIGHT for each in chart.bars)


@given(st.floats(1e-6, 1e6))
def test_a_line_fills_half_of_the_height(cost: float) -> None:
    chart = lines("cost", ["today"], [_series([cost])], repr)
    top = float(chart.ticks[-1][1])
    assert 0.999 * cost <= top <= 2.001 * cost


def _series(values: list[int] | list[float]) -> Series:
    return Series("all", "good", tuple(values))
