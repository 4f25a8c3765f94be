"""How the time that every reader of people's text takes grows with the text.

    python -m tests.benchmarks.bench_linear [--target WORD] [--shape WORD] [--length 100000]

Runs every target of `tests/linear_time/*_targets.py` on every shape of text there, at an eighth and a quarter of the
length; then, on the shapes that grew most or took longest, at half of the length and the whole one. A child process
measures its own processor time; one that does not come back is killed and reported. Prints for each target its worst
shape, the milliseconds at half and whole length, and their ratio. Ends with 1 if a ratio is above 2.5 after several
tries, the best of each counting; times below 3 ms at 100,000 characters are too short to judge. Takes an hour or two
for everything: `--target` and `--shape` name those to run by a part of their names.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.linear_time.runner import Worker, all_shapes, target_modules, targets_of, worker

LONGEST_RATIO = 2.5
SHORTEST_SECONDS = 0.003
"""At 100,000 characters."""
_HANGS_SECONDS = 60
_TRIES = 5
_LOOKED_AT_LONGER = 8
"""Shapes of the highest ratio, and as many of the longest time, that are measured at full length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """One target on one shape. Seconds are None for a call that was killed."""

    shape: str
    length: int
    half: float | None
    whole: float | None

    @property
    def ratio(self) -> float:
        """How many times as long the whole text takes; infinite when it was killed, 1 when it is too short to tell."""
        if self.half is None or self.whole is None:
            return float("inf")
        is_short = self.whole < SHORTEST_SECONDS * self.length / 100_000
        return 1.0 if is_short or not self.half else self.whole / self.half

    def __str__(self) -> str:
        half, whole = ("killed" if time is None else f"{time * 1000:.1f} ms" for time in (self.half, self.whole))
        return f"{half:>10} {whole:>10} {self.ratio:6.2f}  {self.shape} ({self.length:,})"


def grow(child: Worker, target: str, shape: str, length: int) -> Growth:
    """Measure at half and whole length; where that looks bad, several times."""
    best = Growth(shape=shape, length=length, half=float("inf"), whole=float("inf"))
    for _ in range(_TRIES):
        half = child.seconds(target, shape, length // 2, at_most=_HANGS_SECONDS)
        whole = child.seconds(target, shape, length, at_most=_HANGS_SECONDS) if half is not None else None
        if half is None or whole is None:
            return Growth(shape=shape, length=length, half=half, whole=whole)
        assert best.half is not None
        assert best.whole is not None
        best = Growth(shape=shape, length=length, half=min(best.half, half), whole=min(best.whole, whole))
        if best.ratio <= LONGEST_RATIO:
            break
    return best


def growths(child: Worker, target: str, shapes: Iterable[str], length: int) -> Iterator[Growth]:
    """Every shape at a quarter of the length, the worst of them at all of it. Ends where a call was killed."""
    first: list[Growth] = []
    for shape in shapes:
        first.append(grow(child, target, shape, length // 4))
        if first[-1].whole is None:
            yield first[-1]
            return
    by_ratio = sorted(first, key=lambda growth: growth.ratio)[-_LOOKED_AT_LONGER:]
    by_time = sorted(first, key=lambda growth: growth.whole or 0.0)[-_LOOKED_AT_LONGER:]
    for shape in dict.fromkeys(growth.shape for growth in (*by_ratio, *by_time)):
        yield grow(child, target, shape, length)


def main() -> None:
    """Print a line for each target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="", help="part of the names of the targets to run")
    parser.add_argument("--shape", default="", help="part of the names of the shapes to run them on")
    parser.add_argument("--length", type=int, default=100_000, help="characters of the longest text")
    options = parser.parse_args()
    shapes = [name for name in all_shapes() if options.shape in name]
    is_bad = False
    for module in target_modules():
        with worker(module) as child:
            for target in targets_of(module):
                if options.target in target:
                    worst = max(growths(child, target, shapes, options.length), key=lambda growth: growth.ratio)
                    is_bad |= worst.ratio > LONGEST_RATIO
                    print(f"{target:<36} {worst}", flush=True)
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
