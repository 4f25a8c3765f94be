"""Prints the effect of lessons in `goodbot stats`: runs with lessons compared with those of the control arm."""

from collections.abc import Callable

from memory.rules.intervals import Interval
from memory.services.settings.control_arm import LEAST, ArmComparison, Compared

_Number = Callable[[float], str]


def arm_lines(arms: ArmComparison | None) -> list[str]:
    """The lines of the comparison; empty if no run went without lessons."""
    if arms is None:
        return []
    one, other = arms.with_lessons.answers, arms.without.answers
    return [
        f"control arm: {one} answers with lessons, {other} without, since the first of these (95% intervals)",
        _line("approved, of judged", arms.approved, _percent, "points", "more often"),
        _line("corrected", arms.corrected, _percent, "points", "more often"),
        _line("US$ for each answer", arms.cost, "{:.4f}".format, "US$", "more"),
    ]


def _line(what: str, measure: Compared, number: _Number, unit: str, more: str) -> str:
    both = f"with {_shown(measure.with_lessons, number)}, without {_shown(measure.without, number)}"
    return f"  {what:<20} {both}: {_judged(measure, number, unit, more)}"


def _judged(measure: Compared, number: _Number, unit: str, more: str) -> str:
    difference = measure.difference
    if difference is None or not measure.is_enough:
        return f"too little to tell ({measure.least} in the smaller arm; {LEAST} are needed)"
    between = f"{_signed(difference.value, number)} {unit}, {_signed(difference.low, number)} to "
    between += _signed(difference.high, number)
    if difference.holds_zero:
        return f"may be chance ({between})"
    word = more if difference.value > 0 else more.replace("more", "less")
    return f"{word} with lessons ({between})"


def _shown(interval: Interval | None, number: _Number) -> str:
    if interval is None:
        return "nothing"
    return f"{number(interval.value)} ({number(interval.low)} to {number(interval.high)})"


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def _signed(value: float, number: _Number) -> str:
    return ("+" if value > 0 else "") + number(value).removesuffix("%")
