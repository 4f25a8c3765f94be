"""The embedder that comes with the installation, loaded once for all tests of a process."""

from functools import cache

from platformdirs import user_cache_path

from memory.adapters.embedding import SentenceTransformerEmbedder


@cache
def packaged_embedder() -> SentenceTransformerEmbedder:
    """Loaded when the first text comes; safe to share."""
    return SentenceTransformerEmbedder(cache=user_cache_path("goodbot", appauthor=False))
