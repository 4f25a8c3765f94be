"""Computes charts as shapes, which the templates draw as SVG, without scripts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 8, 12, 28
_STEPS = (2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """A row of numbers; None is a missing number. `kind` is the name of its colour in the style sheet."""

    name: str
    kind: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    what: str
    """The tooltip."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a line."""

    x: float
    y: float
    kind: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The shapes of a chart on a plane of `WIDTH` by `HEIGHT`, and its numbers for a table."""

    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    show: Callable[[float], str]
    ticks: tuple[tuple[float, str], ...]
    marks: tuple[tuple[float, str], ...]
    """Labels of the horizontal axis with their x."""
    bars: tuple[Bar, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    """The kind and SVG path of each line."""
    dots: tuple[Dot, ...] = ()
    limit: tuple[float, str] | None = None
    """The y and label of a horizontal limit."""

    @property
    def is_empty(self) -> bool:
        """Whether all numbers are 0 or missing."""
        return not any(value for row in self.series for value in row.values)

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """The rows of the table: a label and its numbers."""
        return [
            (label, ["—" if (value := row.values[place]) is None else self.show(value) for row in self.series])
            for place, label in enumerate(self.labels)
        ]


def bars(title: str, labels: Sequence[str], series: Sequence[Series], show: Callable[[float], str]) -> Chart:
    """A chart of stacked bars."""
    top = _round_up(max((sum(row.values[place] or 0 for row in series) for place in range(len(labels))), default=0))
    slot = _slot(labels)
    drawn = []
    for place, label in enumerate(labels):
        below = 0.0
        for row in series:
            value = row.values[place] or 0
            if value:
                y, foot = _height(below + value, top), _height(below, top)
                what = f"{label}: {show(value)} {row.name}"
                drawn.append(Bar(_at(place, slot) - slot * 0.34, y, slot * 0.68, max(foot - y, 1), row.kind, what))
            below += value
    return replace(_axes(title, labels, series, show, top), bars=tuple(drawn))


def lines(
    title: str,
    labels: Sequence[str],
    series: Sequence[Series],
    show: Callable[[float], str],
    *,
    top: float = 0,
    limit: tuple[float, str] | None = None,
) -> Chart:
    """A chart of lines, interrupted at missing numbers."""
    most = max((value or 0 for row in series for value in row.values), default=0)
    top = top or _round_up(max(most, limit[0] if limit else 0))
    slot = _slot(labels)
    paths, dots = [], []
    for row in series:
        parts, is_open = [], False
        for place, value in enumerate(row.values):
            if value is None:
                is_open = False
                continue
            x, y = _at(place, slot), _height(value, top)
            parts.append(f"{'L' if is_open else 'M'}{x:.1f} {y:.1f}")
            dots.append(Dot(x, y, row.kind, f"{labels[place]}: {show(value)} {row.name}"))
            is_open = True
        paths.append((row.kind, " ".join(parts)))
    return replace(
        _axes(title, labels, series, show, top),
        lines=tuple(paths),
        dots=tuple(dots),
        limit=(_height(limit[0], top), limit[1]) if limit else None,
    )


def _axes(
    title: str, labels: Sequence[str], series: Sequence[Series], show: Callable[[float], str], top: float
) -> Chart:
    """A chart that nothing is drawn in yet."""
    slot, every = _slot(labels), max(1, len(labels) // 6)
    return Chart(
        title=title,
        labels=tuple(labels),
        series=tuple(series),
        show=show,
        ticks=tuple((_height(top * share, top), show(top * share)) for share in (0, 0.5, 1)),
        marks=tuple((_at(place, slot), label) for place, label in enumerate(labels) if place % every == 0),
    )


def _slot(labels: Sequence[str]) -> float:
    """The width of one label's place."""
    return (WIDTH - _LEFT - _RIGHT) / max(1, len(labels))


def _at(place: int, slot: float) -> float:
    return round(_LEFT + (place + 0.5) * slot, 1)


def _height(value: float, top: float) -> float:
    return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / (top or 1), 1)


def _round_up(most: float) -> float:
    """The next round number. Up to 10 it is even, so that the middle tick of counts is a whole number."""
    if most <= 0:
        return 1.0
    size = 1.0
    while size * 10 < most:
        size *= 10
    while size > most:
        size /= 10
    steps = _STEPS if size != 1 else [step for step in _STEPS if step % 2 == 0]
    return next(step * size for step in steps if step * size >= most)
