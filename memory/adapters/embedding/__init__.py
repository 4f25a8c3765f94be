"""Embedders: a real one and a lexical one. Importing them loads no model library."""

from memory.adapters.embedding.by_name import embedder_named
from memory.adapters.embedding.hashing import HashingEmbedder
from memory.adapters.embedding.sentences import LoadState, SentenceTransformerEmbedder

__all__ = ["HashingEmbedder", "LoadState", "SentenceTransformerEmbedder", "embedder_named"]
