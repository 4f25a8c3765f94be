"""Embedders: sentence-transformers models, and a lexical one. Importing them loads no model library."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from memory.adapters.embedding.hashing import HashingEmbedder as HashingEmbedder
from memory.adapters.embedding.sentences import (
    LoadState as LoadState,
    SentenceTransformerEmbedder as SentenceTransformerEmbedder,
)

if TYPE_CHECKING:
    from memory.ports import Embedder


_HASHING = re.compile(r"hashing-([1-9][0-9]{0,3})")


def embedder_named(name: str, cache: Path | None) -> "Embedder | None":
    """The embedder of this name, not loaded yet, if it is on this machine: lexical, packaged, or exported to `cache`.

    None for any other: a name in a database must not start a download.
    """
    if hashing := _HASHING.fullmatch(name):
        return HashingEmbedder(int(hashing[1]))
    packaged = SentenceTransformerEmbedder(cache=cache)
    if name == packaged.name:
        return packaged
    chosen = SentenceTransformerEmbedder(name, cache=cache)
    return chosen if chosen.is_exported else None
