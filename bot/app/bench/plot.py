"""Learning curves as an SVG picture, and as a line of characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bot.app.bench.report import mean_curve

_WIDTH, _HEIGHT = 860, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 190, 56, 56
_COLOURS = ("#1f6feb", "#8a8a8a", "#c2410c", "#15803d", "#7c3aed", "#b8860b", "#0e7490", "#be185d")
_BARS = "▁▂▃▄▅▆▇█"
_BAR_COUNT = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCurves:
    """The curves of one arm, one for each shuffle."""

    name: str
    curves: Sequence[Sequence[tuple[int, float]]]
    """Messages sent, and a share between 0 and 1."""


def sparkline(curve: Sequence[tuple[int, float]]) -> str:
    """The curve in at most 30 characters, from 0 (the lowest bar) to 1."""
    step = max(1, -(-len(curve) // _BAR_COUNT))
    return "".join(_BARS[min(len(_BARS) - 1, int(share * len(_BARS)))] for _, share in curve[step - 1 :: step])


def svg(title: str, arms: Sequence[NamedCurves], along: str = "messages sent") -> str:
    """A picture of the mean of each arm, with the spread over its shuffles as a band; `along` names the line below."""
    end = max(x for arm in arms for curve in arm.curves for x, _ in curve)

    def place(x: float, y: float) -> tuple[float, float]:
        across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return round(_LEFT + across * x / end, 1), round(_TOP + down * (1 - y), 1)

    def at(x: float, y: float) -> str:
        across, down = place(x, y)
        return f"{across},{down}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="13" fill="#333"><title>{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="30" font-size="16">{escape(title)}</text>',
    ]
    for tick in range(6):
        x, y = place(0, tick / 5)
        parts.append(f'<polyline points="{at(0, tick / 5)} {at(end, tick / 5)}" stroke="#ddd" fill="none"/>')
        parts.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick / 5:.1f}</text>')
        x, y = place(end * tick / 5, 0)
        parts.append(f'<text x="{x}" y="{y + 20:.1f}" text-anchor="middle">{round(end * tick / 5):,}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 12}" text-anchor="middle">{escape(along)}</text>'
    )
    labelled: list[float] = []
    for number, arm in enumerate(arms):
        colour, middle = _COLOURS[number % len(_COLOURS)], mean_curve(arm.curves)
        if len(arm.curves) > 1:
            columns = list(zip(*arm.curves, strict=True))
            upper = [at(column[0][0], max(share for _, share in column)) for column in columns]
            lower = [at(column[0][0], min(share for _, share in column)) for column in columns]
            band = " ".join([*upper, *reversed(lower)])
            parts.append(f'<polygon points="{band}" fill="{colour}" fill-opacity="0.18"/>')
        line = " ".join(at(x, share) for x, share in middle)
        parts.append(f'<polyline points="{line}" stroke="{colour}" stroke-width="2" fill="none"/>')
        x, y = place(*middle[-1])
        while any(abs(y - other) < 16 for other in labelled):
            y += 16
        labelled.append(y)
        name = escape(f"{arm.name} {middle[-1][1]:.2f}")
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])
