"""Processes on one PostgreSQL, killed at random while people talk to them: what was lost, what was doubled.

    python -m tests.benchmarks.bench_kills --kills 200 [--mode socket] [--workspaces 3]

Ends with an error at the first answer that is missing, doubled or out of order, and at the first vote that is. For a
table it prints how long questions waited for their answers, those that a killed process had begun to answer included.
"""

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import monotonic

from tests.doubles.crew import Crew, crew, live_and_die, sum_in, sum_of
from tests.doubles.process import Home

_AT_ONCE = 20
"""After so many kills it is looked whether all is well."""


def waits(made: Crew) -> list[float]:
    """Seconds from each question to its answer."""
    asked = {sum_of(each): float(each.ts) for each in made.questions()}
    return sorted(float(answer.ts) - asked[sum_in(answer)] for answer in made.answers())


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workspaces", type=int, default=1, help="more than one have installed the app")
    parser.add_argument("--mode", choices=["http", "socket"], default="http", help="how Slack reaches them")
    given = parser.parse_args()
    began = monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        crew(Home(Path(folder)), given.processes, given.seed, given.mode, given.workspaces) as made,
    ):
        for done in range(0, given.kills, _AT_ONCE):
            live_and_die(made, min(_AT_ONCE, given.kills - done))
            made.assert_nothing_is_lost_or_doubled()
            print(f"{min(done + _AT_ONCE, given.kills)} kills, {len(made.questions())} questions: all is well")
        found = waits(made)
        result = {
            "mode": given.mode,
            "processes": given.processes,
            "workspaces": given.workspaces,
            "kills": given.kills,
            "questions": len(found),
            "threads with several": sum(len(thread) > 1 for thread in made.threads),
            "votes": len(made.liked),
            "messages taken over from the dead": made.taken_over(),
            "lost": 0,
            "doubled": 0,
            "wait, median s": round(median(found), 2),
            "wait, 95 % s": round(quantiles(found, n=20)[-1], 2),
            "wait, longest s": round(found[-1], 2),
            "minutes": round((monotonic() - began) / 60, 1),
        }
    print(*(f"{name:35} {value}" for name, value in result.items()), sep="\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
