"""Many people who mention the bot in one channel at once: a channel of Slack's, and a flat one of Discord's.

    python -m tests.benchmarks.bench_channel [--people 200] [--embedder hashing] [--platform slack]

The real client libraries, the offline model, SQLite in a temporary file; the platform and its people run in another
process. Prints how long answers took from the question, how long Slack waited for acknowledgements, and how late the
bot's event loop was, beside an idle process that measures itself.
"""

import argparse
import asyncio
import multiprocessing
from collections.abc import Sequence

from tests.benchmarks.bench_load import HEADER, Phase, watched
from tests.benchmarks.channel_crowd import Asked, discord_crowd, slack_crowd
from tests.benchmarks.stage import Stage, beside

CROWDS = {"slack": slack_crowd, "discord": discord_crowd}


async def _serve(stage: Stage, platform: str) -> tuple[Phase, Asked]:
    async with stage.bot(platform):
        await asyncio.sleep(3.0)
        with watched(f"{platform}: all ask at once", stage.idle) as phase:
            stage.crowd.send("ask")
            asked: Asked = await asyncio.to_thread(stage.crowd.recv)
        stage.crowd.send("leave")
    return phase, asked


def measure(platform: str, people: int, embedder: str) -> None:
    """One bot in this process, from its start to its end; prints what was measured."""
    with beside(CROWDS[platform], people, embedder=embedder) as stage:
        phase, asked = asyncio.run(_serve(stage, platform))
    print(HEADER)
    print(phase.row())
    for name, seconds in (("question to answer", asked.answers), ("event to acknowledgement", asked.acknowledged)):
        if seconds:
            print(f"{name:<34} {_spread(seconds)}   ({len(seconds)} of them)")


def _spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    median, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"median {median:.2f} s, p99 {p99:.2f} s, worst {ordered[-1]:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--embedder", default="hashing", help="packaged, hashing, or any other model")
    parser.add_argument("--platform", choices=sorted(CROWDS), help="one of them; else one after the other")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    for platform in [options.platform] if options.platform else sorted(CROWDS):
        print(f"\n{options.people} people in one channel of {platform}", flush=True)
        bot = spawn.Process(target=measure, args=(platform, options.people, options.embedder))
        bot.start()
        bot.join()


if __name__ == "__main__":
    main()
