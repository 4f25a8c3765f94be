"""The Python environments of other memory libraries, created at the first measurement and kept in a folder."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bot.errors import BotError

_LOADS_EXTENSIONS = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
_STAMP = "installed.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another memory library."""

    name: str
    title: str
    packages: tuple[str, ...]
    is_durable: bool = True
    """Whether an added row is on disk at once, without rewriting everything."""
    needs: str = "pass"
    """Code that an interpreter must be able to run."""


PEERS = (
    Peer(
        name="langgraph",
        title="LangGraph SqliteStore",
        packages=("langgraph-checkpoint-sqlite>=3,<4", "numpy>=2,<3"),
        needs=_LOADS_EXTENSIONS,
    ),
    Peer(name="chroma", title="Chroma", packages=("chromadb>=1.5,<2", "numpy>=2,<3")),
    Peer(
        name="llamaindex",
        title="LlamaIndex SimpleVectorStore",
        packages=("llama-index-core>=0.14,<0.15", "numpy>=2,<3"),
        is_durable=False,
    ),
    Peer(name="mem0", title="mem0 (infer=False)", packages=("mem0ai>=2,<3", "qdrant-client>=1,<2", "numpy>=2,<3")),
)


def python_of(peer: Peer, cache: Path) -> Path:
    """The interpreter of the peer's environment, which is created if needed. Raises `BotError`."""
    folder = cache / peer.name
    python = folder / "bin" / "python"
    wanted = "\n".join(peer.packages)
    stamp = folder / _STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    _run([_base(peer), "-m", "venv", str(folder)], peer)
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.packages], peer)
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _base(peer: Peer) -> str:
    """The first interpreter of this machine that can do what the peer needs."""
    found = [sys.executable, *(shutil.which(name, path=_PATH) for name in ("python3", "python3.11", "python3.12"))]
    for python in dict.fromkeys(each for each in found if each):
        if subprocess.run([python, "-c", peer.needs], capture_output=True, check=False).returncode == 0:  # noqa: S603 - interpreters of this machine
            return python
    raise BotError(f"no Python here can run {peer.title}: it needs a sqlite3 that loads extensions")


_PATH = os.pathsep.join((os.defpath, "/usr/local/bin"))


def _run(command: list[str], peer: Peer) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - names packages written above
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        raise BotError(f"the environment of {peer.title} cannot be made: {lines[-1]}")
