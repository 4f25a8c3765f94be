"""How many episodes a second go through what handles the whole memory: move, backup, import, learn, embedding anew.

    python -m tests.benchmarks.bench_bulk [--episodes 2000]

The memory is filled message by message, three in four answers approved, so an episode comes with some thirteen rows of
other tables. Embeddings are of the hashing embedder. Prints episodes a second by the clock, and by this process's own
time, which other work on the machine changes less. All is done with a few first: what a process does once (importing
modules, putting statements together) is no part of what is measured.
"""

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bot.app.learning import Target, learn, read_file
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies.backup import back_up
from memory.adapters.sql.copies.move import move
from memory.library.episodic import EpisodicMemory
from memory.library.export import export_memories
from memory.library.lifecycle import import_memories
from memory.ports import EpisodeFilter
from memory.services import Memory
from tests.benchmarks.bench_message import TableEmbedder, fill
from tests.benchmarks.bulk import ANSWER
from tests.doubles.compiled_once import compile_once
from tests.doubles.emoji import DEFAULT_EMOJI
from tests.doubles.memory_world import World, scope

Timed = Callable[[str, int, Callable[[], object]], None]
FEW = 20


def untimed(what: str, episodes: int, action: Callable[[], object]) -> None:
    """Do it once, and say nothing."""
    action()


def timed(what: str, episodes: int, action: Callable[[], object]) -> None:
    """Do it once, and print a row."""
    clock, own = time.perf_counter(), time.process_time()
    action()
    clock, own = time.perf_counter() - clock, time.process_time() - own
    print(f"{what:<44} {episodes / clock:8.0f} a second   {episodes / own:8.0f} by its own time")


def taught(count: int) -> list[dict[str, str]]:
    """Questions with answers of real length."""
    return [{"question": f"goal {n} wording {n}", "answer": ANSWER.format(n)} for n in range(count)]


def learn_from(file: Path, memory: Memory) -> None:
    """What `goodbot learn` does."""
    contents = read_file(file, DEFAULT_EMOJI, lambda what, done, total: None)
    target = Target(workspace="terminal:w", actor="tea")
    learn(memory, file, contents, target, lambda what, done, total: None, is_dry_run=False)


def measure(count: int, timed: Timed) -> None:
    """Everything, with so many episodes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source.db"
        for file in (
            source,
            folder / "target.db",
            folder / "import.db",
            folder / "learn.db",
        ):  # the schema is no part of what is measured
            SqlStore.open(f"sqlite:///{file}").close()
        store = SqlStore.open(f"sqlite:///{source}")
        fill(World(store, None, TableEmbedder()), count)
        with store.read() as tx:
            listed = tx.episodes.search("terminal:w", EpisodeFilter(limit=None))
            exported = export_memories(list(tx.episodes.get_many("terminal:w", [each.id for each in listed]).values()))
        store.close()
        urls = f"sqlite:///{source}", f"sqlite:///{folder / 'target.db'}"
        timed("move, compared", count, lambda: move(*urls, lambda done, total, table: None))
        timed("backup", count, lambda: back_up(source, folder / "backup.db", lambda done, total: None))
        store = SqlStore.open(f"sqlite:///{source}")
        again = World(store, None, HashingEmbedder())
        timed("embedded anew by the hashing embedder", count, again.memory.reembedding.run)
        store.close()
        store = SqlStore.open(f"sqlite:///{folder / 'import.db'}")
        mine = EpisodicMemory(World(store).memory, scope("zoe"))
        timed("import of an export", len(listed), lambda: import_memories(exported, episodic=mine))
        timed(
            "the same export once more, which adds nothing",
            len(listed),
            lambda: import_memories(exported, episodic=mine),
        )
        store.close()
        store = SqlStore.open(f"sqlite:///{folder / 'learn.db'}")
        questions = folder / "questions.jsonl"
        questions.write_text("".join(f"{line}\n" for line in map(json.dumps, taught(count))))
        memory = World(store).memory
        timed("learned from a file", count, lambda: learn_from(questions, memory))
        store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=2_000)
    count = parser.parse_args().episodes
    gc.set_threshold(20_000, 20, 50)  # as the command line does
    compile_once()
    measure(FEW, untimed)
    measure(count, timed)


if __name__ == "__main__":
    main()
