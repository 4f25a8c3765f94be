"""The in-process store: the reference for what every store does, and the double that tests and demos use."""

from memory.adapters.inmemory.store import InMemoryStore

__all__ = ["InMemoryStore"]
