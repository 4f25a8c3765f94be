"""How long a person waits before anything happens: help, a list, the chat's prompt and its first answer.

    python -m tests.benchmarks.bench_startup [--episodes 10000] [--rounds 5]

Whole processes, timed from outside; the chat runs in a pseudo-terminal and is timed until its prompt is on the screen.
Baselines in the same run: an empty Python, a Python that imports torch, and a first answer without a folder to keep the
embedder in, so that torch runs it. Prints medians and worst cases.
"""

import argparse
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memory.adapters.sql import SqlStore
from tests.benchmarks.bench_message import TableEmbedder, fill
from tests.doubles.memory_world import World

PROMPT = "you ›".encode()


def environment(folder: Path) -> dict[str, str]:
    """A home of its own, with the filled database."""
    return {
        **os.environ,
        "HOME": str(folder),
        "TERM": "xterm",
        "DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
        "GOODBOT_LOG_FILE": str(folder / "goodbot.log"),
    }


def run(folder: Path, *command: str) -> float:
    """Seconds until a command has ended."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *command], env=environment(folder), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def first_answer(folder: Path, cache: Path) -> float:
    """Seconds until a chat through a pipe has answered one question and ended. The database is a new one."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        place = {
            **environment(folder),
            "DATABASE_URL": f"sqlite:///{home}/chat.db",
            "GOODBOT_EMBEDDER_CACHE": str(cache),
        }
        started = time.perf_counter()
        command = [sys.executable, "-m", "bot", "chat"]
        asked = b"where is the spare key?\n"
        subprocess.run(command, input=asked, env=place, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - started


def until_prompt(folder: Path) -> float:
    """Seconds until the chat's prompt is drawn; then the chat is told to leave."""
    started = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-m", "bot", "chat"], environment(folder))
    seen = b""
    while PROMPT not in seen:
        seen += os.read(terminal, 4096)
    waited = time.perf_counter() - started
    os.write(terminal, b"/quit\r")
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the other end of a pseudo-terminal ends like this
        pass
    os.waitpid(child, 0)
    return waited


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = SqlStore.open(f"sqlite:///{folder / 'bench.db'}")
        fill(World(store, None, TableEmbedder()), options.episodes)
        store.close()
        rows: dict[str, Callable[[], float]] = {
            "baseline: python -c pass": lambda: run(folder, "-c", "pass"),
            "baseline: python -c 'import torch'": lambda: run(folder, "-c", "import torch"),
            "goodbot --help": lambda: run(folder, "-m", "bot", "--help"),
            f"goodbot episodes list, {options.episodes} episodes": lambda: run(folder, "-m", "bot", "episodes", "list"),
            "goodbot chat, until the prompt": lambda: until_prompt(folder),
            "goodbot chat, one answer": lambda: first_answer(folder, folder / "cache"),
            "baseline: the same, embedder run by torch": lambda: first_answer(folder, folder / "bench.db"),
        }
        for what, measure in rows.items():
            measure()
            times = [measure() for _ in range(options.rounds)]
            print(f"{what:<46} median {statistics.median(times):6.2f} s   worst {max(times):6.2f} s")


if __name__ == "__main__":
    main()
