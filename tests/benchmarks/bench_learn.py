"""How long it takes to learn many questions from a file, to approve them all, and to take them back.

`python -m tests.benchmarks.bench_learn` (`--questions 10000`, `--embedder packaged`): an FAQ of made-up questions with
answers of real length, on a file, with the embedder's share apart.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bot.adapters.sources import faq_table
from bot.adapters.sources.faq import FaqEntry
from bot.app.learning import Target, learn, read_file
from memory.adapters.embedding import HashingEmbedder, SentenceTransformerEmbedder
from memory.adapters.secrets import FormatFinder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.model import Role, Vector
from memory.model.teaching import EmojiMap
from memory.ports import Embedder
from memory.services import Memory, Reviewer

WORDS = (
    *("router", "printer", "badge", "invoice", "holiday", "server", "deploy", "database", "password", "laptop"),
    *("meeting", "contract", "visa", "parking", "coffee", "garden", "bicycle", "office", "key", "budget"),
    *("review", "ticket", "release", "branch", "cluster", "backup", "alarm", "window", "heating", "lamp"),
)


class Timed:
    """An embedder, and how many seconds it took."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        started = time.perf_counter()
        try:
            return self._embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - started


def faq(number: int) -> str:
    """A table of so many questions."""
    chance = random.Random(1)
    return faq_table.write(
        FaqEntry(
            question=f"How do I get the {chance.choice(WORDS)} {chance.choice(WORDS)} number {each} ready?",
            answer=" ".join(chance.choices(WORDS, k=60)),
        )
        for each in range(number)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--embedder", choices=["hashing", "packaged"], default="hashing")
    given = parser.parse_args()
    embedder = Timed(HashingEmbedder() if given.embedder == "hashing" else SentenceTransformerEmbedder())
    embedder.embed(["warm"])
    embedder.seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "faq.csv")
        path.write_text(faq(given.questions), encoding="utf-8", newline="")
        store = SqlStore.open(f"sqlite:///{folder}/goodbot.db")
        memory = Memory(store, embedder, clock=utc_now, new_id=TimeOrderedIds(), secrets=FormatFinder())
        target = Target(workspace="terminal:bench", actor="cli:bench")
        times: list[tuple[str, float]] = []

        def run(what: str) -> str:
            started = time.perf_counter()
            contents = read_file(path, EmojiMap(("👍",), ()), lambda *_: None)
            report = learn(memory, path, contents, target, lambda *_: None, is_dry_run=what == "dry run")
            times.append((what, time.perf_counter() - started))
            return report.batch

        run("dry run")
        batch = run("learn")
        run("the same again")
        started = time.perf_counter()
        memory.batch_review.approve("terminal:bench", batch, Reviewer(actor="cli:bench", role=Role.ADMIN))
        times.append(("approve all", time.perf_counter() - started))
        started = time.perf_counter()
        memory.batch_undo.purge("terminal:bench", batch, actor="cli:bench")
        times.append(("purge", time.perf_counter() - started))
        store.close()
    print(f"{given.questions:,} questions, {given.embedder} embedder")
    for what, seconds in times:
        print(f"  {what:<15} {seconds:8.1f} s")
    print(f"  of which embedding {embedder.seconds:5.1f} s")


if __name__ == "__main__":
    main()
