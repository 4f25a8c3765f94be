"""What Goodbot itself costs per message and per reaction, with a store that already holds many episodes.

    python -m tests.benchmarks.bench_message [--episodes 10000] [--rounds 200]

Embedding and the model are taken out: the embedder is a table of random unit vectors, no agent runs. What remains is
scope, recall, prompt, ledger and episodes, on SQLite with synchronous=FULL in a temporary file. The baseline in the
same run is the same recall done the plain way: read every lesson of the asker and of the channel from the file and
compare one by one. Prints medians, 95th percentiles, the thread's own time and the ratio.
"""

import argparse
import random
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bot.app.processes.gc_tuning import collect_rarely
from memory.adapters.sql import SqlStore
from memory.model import Episode, Vector
from memory.model.evidence import ActionText
from memory.ports import EpisodeFilter
from memory.rules.audience import partitions_for, partitions_of
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.prompt import render_lessons
from tests.benchmarks.bulk import ANSWER
from tests.doubles.memory_world import World, scope

DIMENSION = 384
SENDERS, CHANNELS = 40, 10


class TableEmbedder:
    """Random unit vectors, the same for the same text; texts of one topic lie close together."""

    name = "table"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._topics = np.random.default_rng(7).standard_normal((500, DIMENSION))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        topic = int(text.split()[1]) % len(self._topics)
        noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION)
        vector = self._topics[topic] + 0.4 * noise
        unit: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


class Quiet(World):
    """People who look at nothing that was stored: what is measured ends when a message is answered."""

    def episode(self, episode: Episode) -> Episode:
        return episode


def fill(world: World, count: int) -> None:
    """Answers of real length to many people in several channels, three in four of them approved by their askers."""
    chance = random.Random(7)
    for number in range(count):
        world.clock.tick(minutes=2)
        who = scope(f"p{chance.randrange(SENDERS)}", channel=f"c{chance.randrange(CHANNELS)}")
        goal = chance.randrange(500)
        episode = world.ask(f"goal {goal} wording {number}", ANSWER.format(goal), of=who)
        if number % 4:
            world.react(episode, "👍", by=who.person)


def median_ms(action: Callable[[int], object], rounds: int) -> tuple[float, float, float]:
    """Median and 95th percentile of one call, and the median of the thread's own time, in milliseconds.

    A first call does not count.
    """
    action(-1)
    times, own = [], []
    for number in range(rounds):
        started, own_started = time.perf_counter(), time.thread_time()
        action(number)
        own.append((time.thread_time() - own_started) * 1000)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1], statistics.median(own)


ACTIONS = tuple(ActionText(name=f"goal_{number}", description=f"goal {number} by a tool") for number in range(6))


def plain_recall(world: World, goal: str) -> list[str]:
    """The baseline: every lesson the asker may see, read and compared one by one."""
    asker = scope("p1")
    named = set(partitions_for(asker))
    wanted = world.memory.embedder.embed([goal])[0]
    with world.memory.store.read() as tx:
        lessons = [
            episode
            for episode in tx.episodes.search(asker.workspace, EpisodeFilter(limit=None))
            if any(entry.partition in named for entry in partitions_of(episode))
        ]
        vectors = tx.episodes.vectors(asker.workspace, [lesson.id for lesson in lessons])
    scored = [(float(vectors[lesson.id][1] @ wanted), lesson.id) for lesson in lessons]
    return [episode_id for score, episode_id in sorted(scored, reverse=True)[:4] if score >= 0.6]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore.open(f"sqlite:///{Path(folder) / 'bench.db'}")
        config = RetrievalConfig(
            env_threshold=0.5, top_k=None, final_k=4, min_intent=0.6, soft_gate=True, max_per_author=1
        )
        world = Quiet(store, config, TableEmbedder())
        started = time.perf_counter()
        fill(world, options.episodes)
        print(f"{options.episodes} episodes stored in {time.perf_counter() - started:.0f} s")
        measure(world, options.rounds)
        store.close()


def measure(world: World, rounds: int) -> None:
    """Time each part and print a row for it."""
    asker = scope("p1")
    collect_rarely()  # as the bot does

    def embed(number: int) -> None:
        world.memory.embedder.embed([f"goal {number % 500} asked again {number}"])

    def recall(number: int, actions: Sequence[ActionText] | None = None) -> None:
        goal = f"goal {number % 500} asked again {number}"
        recollection = world.memory.recalling.recall(asker, goal, actions=actions)
        render_lessons(recollection.exemplars, budget_tokens=1500)

    def whole(number: int) -> None:
        world.actions = ACTIONS  # as the chat recalls
        world.ask(f"goal {number % 500} and again {number}", "an answer", of=asker)

    for number in range(20):
        lesson = world.ask(f"goal {number} at length", ANSWER.format(number), of=asker)
        world.react(lesson, by="p1")

    def at_length(number: int, actions: Sequence[ActionText] | None = None) -> None:
        world.actions = actions
        world.ask(f"goal {number % 20} at length, once more {number}", ANSWER.format(number % 20), of=asker)

    answers = [world.ask(f"goal {number % 500} to vote on {number}", of=asker) for number in range(rounds + 1)]

    def react(number: int, minutes: float, emoji: str) -> None:
        world.clock.tick(minutes=minutes)
        world.react(answers[number], emoji, by="p1")

    rows = {
        "embedding stand-in, part of the rows below": median_ms(embed, rounds),
        "recall and prompt": median_ms(recall, rounds),
        "the same with evidence for six actions": median_ms(lambda n: recall(n, ACTIONS), rounds),
        "whole message: accept, recall, commit, ledger": median_ms(whole, rounds),
        "the same with answers of real length": median_ms(lambda n: at_length(n, ACTIONS), rounds),
        "the same without evidence": median_ms(at_length, rounds),
        "reaction to committed verdict, minutes apart": median_ms(lambda n: react(n, 7, "👍"), rounds),
        "the same, one a second": median_ms(lambda n: react(n, 1 / 60, "👎"), rounds),
        "baseline: recall by reading every lesson": median_ms(
            lambda n: plain_recall(world, f"goal {n % 500} asked again {n}"), max(5, rounds // 20)
        ),
    }
    for name, (median, high, own) in rows.items():
        print(f"{name:<48} median {median:8.2f} ms   p95 {high:8.2f} ms   own {own:8.2f} ms")
    ratio = rows["baseline: recall by reading every lesson"][0] / rows["recall and prompt"][0]
    print(f"recall is {ratio:.0f} times as fast as the baseline")


if __name__ == "__main__":
    main()
