"""How often the detector says of an answer what a person says: was the lesson used, ignored, contradicted?

    python -m tests.benchmarks.bench_detector

240 made-up pairs in 17 languages, judged by hand before any detector saw them. One half was looked at while the bot's
detector was built; of the other only the totals were. The baseline is the seed's keyword rule, which knows two of the
four signals. Prints the agreement of both on both halves, and the time per pair.
"""

import statistics
import time
from collections import Counter

from memory.rules.use_detection import Detector, KeywordDetector, OverlapDetector
from tests.memory.rules.use_pairs import agreement, read_pairs


def main() -> None:
    """Print the table."""
    detectors: list[tuple[str, Detector]] = [("keyword rule", KeywordDetector()), ("overlap", OverlapDetector())]
    for held_out in (False, True):
        pairs = read_pairs(held_out=held_out)
        labels = ", ".join(f"{count} {label}" for label, count in Counter(pair.judged.value for pair in pairs).items())
        print(f"{'held out' if held_out else 'looked at'}: {len(pairs)} pairs ({labels})")
        for name, detector in detectors:
            times = []
            for pair in pairs:
                started = time.perf_counter()
                pair.agrees(detector)
                times.append(time.perf_counter() - started)
            share = agreement(detector, pairs)
            print(f"  {name:<14}{share:7.1%} agreement{statistics.median(times) * 1000:9.2f} ms median")


if __name__ == "__main__":
    main()
