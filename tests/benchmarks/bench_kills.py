"""Processes on one PostgreSQL, killed at random while people talk to them: what was lost, what was doubled.

    python -m tests.benchmarks.bench_kills --kills 200 [--mode socket] [--workspaces 3]
    python -m tests.benchmarks.bench_kills --kills 200 --discord [--shards 4]

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
from tests.doubles.discord_crew import discord_crew, sum_in as discord_sum_in
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
    parser.add_argument("--discord", action="store_true", help="on Discord instead of Slack")
    parser.add_argument("--shards", type=int, default=4, help="of Discord")
    given = parser.parse_args()
    result = on_discord(given) if given.discord else on_slack(given)
    print(*(f"{name:35} {value}" for name, value in result.items()), sep="\n")
    print(json.dumps(result))


def on_slack(given: argparse.Namespace) -> dict[str, object]:
    """What came of it where the processes are on Slack."""
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
        return {
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
            **spread(found, "wait"),
            "minutes": round((monotonic() - began) / 60, 1),
        }


def on_discord(given: argparse.Namespace) -> dict[str, object]:
    """What came of it where the processes share the shards of Discord."""
    began = monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        discord_crew(Home(Path(folder)), given.processes, given.seed, given.shards) as made,
    ):
        for done in range(0, given.kills, _AT_ONCE):
            live_and_die(made, min(_AT_ONCE, given.kills - done))
            made.assert_nothing_is_lost_or_doubled()
            print(f"{min(done + _AT_ONCE, given.kills)} kills, {len(made.asked)} questions: all is well")
        asked = {each.sum: each.message.at for each in made.asked}
        waits = [(each.at - asked[discord_sum_in(each)]).total_seconds() for each in made.answers()]
        return {
            "mode": "discord",
            "processes": given.processes,
            "shards": given.shards,
            "kills": given.kills,
            "questions": len(waits),
            "thumbs while a process heard": len(made.liked_aloud),
            "of them votes": made.votes(made.liked_aloud),
            "thumbs while none did": len(made.liked) - len(made.liked_aloud),
            "messages taken over from the dead": made.taken_over(),
            "lost": 0,
            "doubled": 0,
            **spread(waits, "wait"),
            "times a shard was unheard": len(made.unheard_s),
            **spread(made.unheard_s, "unheard"),
            "minutes": round((monotonic() - began) / 60, 1),
        }


def spread(seconds: list[float], name: str) -> dict[str, object]:
    """Their median, the time that one in twenty is above, and the longest."""
    return {
        f"{name}, median s": round(median(seconds), 2),
        f"{name}, 95 % s": round(quantiles(seconds, n=20)[-1], 2),
        f"{name}, longest s": round(max(seconds), 2),
    }


if __name__ == "__main__":
    main()
