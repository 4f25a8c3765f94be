"""Episodic memory for agents that people teach by reacting to their answers.

The names below are the public interface. They are imported when first used, so that `import memory` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.episodic import EpisodicMemory, EpisodicMemoryConfig, NoOpEpisodicMemory
    from memory.errors import MemoryFault
    from memory.export import export_memories
    from memory.ledger import ReactionContext, ReactionLedger
    from memory.model import Episode, EpisodeStatus
    from memory.reactions import ReactionHandler
    from memory.retrieval.adapter import DefaultRetriever, RetrieverAdapter, get_retriever, set_retriever
    from memory.retrieval.config import RetrievalConfig
    from memory.service import Memory
    from memory.signals import RetrievalFeedbackSignal
    from memory.working import WorkingMemory

_HOME = {
    "DefaultRetriever": "memory.retrieval.adapter",
    "Episode": "memory.model",
    "EpisodeStatus": "memory.model",
    "EpisodicMemory": "memory.episodic",
    "EpisodicMemoryConfig": "memory.episodic",
    "Memory": "memory.service",
    "MemoryFault": "memory.errors",
    "NoOpEpisodicMemory": "memory.episodic",
    "ReactionContext": "memory.ledger",
    "ReactionHandler": "memory.reactions",
    "ReactionLedger": "memory.ledger",
    "RetrievalConfig": "memory.retrieval.config",
    "RetrievalFeedbackSignal": "memory.signals",
    "RetrieverAdapter": "memory.retrieval.adapter",
    "WorkingMemory": "memory.working",
    "export_memories": "memory.export",
    "get_retriever": "memory.retrieval.adapter",
    "set_retriever": "memory.retrieval.adapter",
}

__all__ = [
    "DefaultRetriever",
    "Episode",
    "EpisodeStatus",
    "EpisodicMemory",
    "EpisodicMemoryConfig",
    "Memory",
    "MemoryFault",
    "NoOpEpisodicMemory",
    "ReactionContext",
    "ReactionHandler",
    "ReactionLedger",
    "RetrievalConfig",
    "RetrievalFeedbackSignal",
    "RetrieverAdapter",
    "WorkingMemory",
    "export_memories",
    "get_retriever",
    "set_retriever",
]


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'memory' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
