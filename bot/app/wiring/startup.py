"""Starts a process: reads the settings and loads the embedder before the rest is imported."""

import os
import signal
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from bot.config import Settings, load_settings
from bot.errors import ConfigError

if TYPE_CHECKING:
    import asyncio

    from memory.ports import Embedder


def read_settings(config_path: Path | None = None) -> Settings:
    """The settings of this process. Raises `ConfigError`."""
    from platformdirs import user_data_path

    try:
        cwd, data_dir = Path.cwd(), user_data_path("goodbot", appauthor=False)
    except FileNotFoundError as exc:
        raise ConfigError("the folder that goodbot was started in is gone; change to another one") from exc
    except RuntimeError as exc:
        raise ConfigError("there is no home folder to keep memory in; set HOME to a folder you may write") from exc
    return load_settings(os.environ, config_path=config_path, cwd=cwd, data_dir=data_dir)


def make_embedder(settings: Settings) -> "Embedder":
    """The configured embedder. Its model is not loaded yet."""
    from memory.adapters.embedding import HashingEmbedder, SentenceTransformerEmbedder

    chosen = settings.embedder
    if chosen.name == "hashing":
        return HashingEmbedder()
    return SentenceTransformerEmbedder(chosen.name, cache=model_cache(settings))


def model_cache(settings: Settings) -> Path:
    """The folder of exported models."""
    from platformdirs import user_cache_path

    return Path(settings.embedder.cache) if settings.embedder.cache else user_cache_path("goodbot", appauthor=False)


def load_early(embedder: "Embedder") -> None:
    """Begin to load the embedder in the background, or to export it at the first start."""
    from memory.adapters.embedding import SentenceTransformerEmbedder

    if isinstance(embedder, SentenceTransformerEmbedder):
        Thread(target=embedder.load_early, name="embedder").start()


def stop_event() -> "asyncio.Event":
    """An event that is set when the process is told to end."""
    import asyncio

    stop = asyncio.Event()
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
