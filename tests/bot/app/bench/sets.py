"""A tiny labelled set, and the shortest way to stream it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from bot.app.bench.labelled import LabelledMessage, read_split
from bot.app.bench.people import Habits
from bot.app.bench.stream import Arm, StreamResult, stream
from bot.config import load_settings
from memory.adapters.embedding import HashingEmbedder
from memory.ports import Embedder

ROWS = [
    ["shed light on the porch", "lamp_on"],
    ["turn the lamp on", "lamp_on"],
    ["is the oven hot", "oven heat"],
    ["how hot is the oven now", "oven heat"],
    ["play some jazz", "music"],
    ["put a record on", "music"],
]


def write(folder: Path, content: object) -> Path:
    path = folder / "set.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def messages(folder: Path, rows: Sequence[Sequence[str]] = ROWS) -> list[LabelledMessage]:
    return read_split(write(folder, {"test": rows}), "test")


def run(
    folder: Path,
    asked: Sequence[LabelledMessage],
    arm: Arm | None = None,
    seed: int = 0,
    embedder: Embedder | None = None,
) -> StreamResult:
    """The messages in this order, by default with the hashing embedder."""
    settings = load_settings({}, config_path=None, cwd=folder, data_dir=folder)
    labels = {message.label.label: message.label for message in messages(folder)}.values()
    return asyncio.run(
        stream(
            asked,
            labels,
            arm or Arm(habits=Habits()),
            seed=seed,
            settings=settings,
            embedder=embedder or HashingEmbedder(),
            on_message=lambda _: None,
        )
    )
