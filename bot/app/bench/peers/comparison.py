"""Compares Goodbot with other memory libraries on the same vectors, each in its own process, at several sizes."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.app.bench.peers import worker
from bot.app.bench.peers.dataset import write_dataset
from bot.app.bench.peers.environments import PEERS, Peer, python_of
from bot.errors import BotError

_LONGEST_S = 6 * 3600
_OWN = "bot.app.bench.peers.own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The measurement of one memory library at one size."""

    rows: int
    memory: str
    is_durable: bool = True
    numbers: dict[str, float]
    """The numbers by `worker.measure`; empty if it could not be measured."""
    failure: str = ""

    def row(self, ahead: float) -> list[str]:
        """The cells of a table; `ahead` is how much longer its search takes than Goodbot's."""
        if not self.numbers:
            return [f"{self.rows:,}", self.memory, *["-"] * 9, self.failure]
        measured = self.numbers
        shown = {"search_ms": 3, "search_p95_ms": 3, "search_own_ms": 3, "recall": 3, "add_ms": 2, "load_s": 1}
        cells = [f"{measured[name]:.{digits}f}" for name, digits in shown.items()]
        cells += [f"{measured['rss_mib']:.0f}", f"{measured['disk_mib']:.0f}"]
        cells.insert(2, f"{ahead:.1f} x")
        return [f"{self.rows:,}", self.memory, *cells, "" if self.is_durable else "not durable"]


HEAD = ["rows", "memory", "search ms", "p95", "times", "own ms", "recall@10", "add ms", "load s", "MiB", "disk MiB", ""]


def compare(
    sizes: Sequence[int], questions: int, names: Sequence[str], cache: Path, show: Callable[[str], None]
) -> list[Measured]:
    """Measure one library after another. One that cannot be installed or fails is reported, and the others go on."""
    found = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_dataset(folder, rows, questions)
            for what, title in (("search", "Goodbot, the search alone"), ("recall", "Goodbot, a whole recall")):
                show(f"{title}, {rows:,} rows")
                found.append(_measured(rows, title, [sys.executable, "-m", _OWN, what], folder))
            for peer in PEERS:
                if peer.name in names:
                    show(f"{peer.title}, {rows:,} rows")
                    found.append(_of_peer(peer, rows, cache, folder))
    return found


def table(found: Sequence[Measured]) -> list[list[str]]:
    """A row for each; the time of a search is also given relative to Goodbot's at the same size."""
    own = {each.rows: each.numbers["search_ms"] for each in reversed(found) if each.numbers and _is_search(each)}
    return [each.row(each.numbers.get("search_ms", 0.0) / own.get(each.rows, 1.0)) for each in found]


def _is_search(measured: Measured) -> bool:
    return measured.memory == "Goodbot, the search alone"


def _of_peer(peer: Peer, rows: int, cache: Path, folder: Path) -> Measured:
    try:
        python = python_of(peer, cache)
    except BotError as error:
        return Measured(rows=rows, memory=peer.title, numbers={}, failure=str(error))
    return _measured(rows, peer.title, [str(python), worker.__file__, peer.name], folder, is_durable=peer.is_durable)


def _measured(rows: int, title: str, command: list[str], folder: Path, *, is_durable: bool = True) -> Measured:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name in ("data.json", "vectors.npy"):
            (Path(place) / name).symlink_to(folder / name)
        done = subprocess.run(  # noqa: S603 - our own programs
            [*command, place], capture_output=True, text=True, check=False, timeout=_LONGEST_S, env=_environment(place)
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended"])[-1]
        return Measured(rows=rows, memory=title, numbers={}, failure=last)
    return Measured(
        rows=rows, memory=title, is_durable=is_durable, numbers=json.loads(done.stdout.strip().splitlines()[-1])
    )


def _environment(home: str) -> dict[str, str]:
    """The environment variables: one thread for numerical libraries, as in a busy process, and a home of its own."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}
