"""Episodic memory for agents that people teach by reacting to their answers.

The names below are the public interface. They are imported when first used, so that `import memory` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.errors import GraderMissing, MemoryFault
    from memory.library.episodic import EpisodicMemory, EpisodicMemoryConfig, NoOpEpisodicMemory
    from memory.library.export import export_memories
    from memory.library.grading import (
        Grader,
        GradingRequest,
        GradingResult,
        StepGrade,
        get_grader,
        has_grader,
        set_grader,
    )
    from memory.library.import_ import content_hash, load_export
    from memory.library.ledger import ReactionContext, ReactionLedger, ShortMemoryStore
    from memory.library.lifecycle import (
        EpisodeContext,
        GradingReport,
        ImportReport,
        ReactionGrader,
        add_grades_to_memories,
        grade_run,
        import_memories,
        init_episode,
        load_all_memories_for_session,
        persist_memories,
        record_step_end,
        record_step_start,
        retrieve_memories,
    )
    from memory.library.reactions import ReactionHandler
    from memory.library.signals import RetrievalFeedbackSignal
    from memory.library.working_memory import WorkingMemory
    from memory.model import EnvironmentState, Episode, EpisodeStatus, Grade, GradeSource, MemoryEntry, Outcome
    from memory.rules.retrieval.adapter import DefaultRetriever, RetrieverAdapter, get_retriever, set_retriever
    from memory.rules.retrieval.config import RetrievalConfig
    from memory.services import Memory
    from memory.services.topics import FieldInput, Ingest, QueryRequest, QueryResponse, World, WorldPolicy

_HOME = {
    "DefaultRetriever": "memory.rules.retrieval.adapter",
    "EnvironmentState": "memory.model",
    "Episode": "memory.model",
    "EpisodeContext": "memory.library.lifecycle",
    "EpisodeStatus": "memory.model",
    "EpisodicMemory": "memory.library.episodic",
    "EpisodicMemoryConfig": "memory.library.episodic",
    "FieldInput": "memory.services.topics",
    "Grade": "memory.model",
    "GradeSource": "memory.model",
    "Grader": "memory.library.grading",
    "GraderMissing": "memory.errors",
    "GradingReport": "memory.library.lifecycle",
    "GradingRequest": "memory.library.grading",
    "GradingResult": "memory.library.grading",
    "ImportReport": "memory.library.lifecycle",
    "Ingest": "memory.services.topics",
    "Memory": "memory.services",
    "MemoryEntry": "memory.model",
    "MemoryFault": "memory.errors",
    "NoOpEpisodicMemory": "memory.library.episodic",
    "Outcome": "memory.model",
    "QueryRequest": "memory.services.topics",
    "QueryResponse": "memory.services.topics",
    "ReactionContext": "memory.library.ledger",
    "ReactionGrader": "memory.library.lifecycle",
    "ReactionHandler": "memory.library.reactions",
    "ReactionLedger": "memory.library.ledger",
    "RetrievalConfig": "memory.rules.retrieval.config",
    "RetrievalFeedbackSignal": "memory.library.signals",
    "RetrieverAdapter": "memory.rules.retrieval.adapter",
    "ShortMemoryStore": "memory.library.ledger",
    "StepGrade": "memory.library.grading",
    "WorkingMemory": "memory.library.working_memory",
    "World": "memory.services.topics",
    "WorldPolicy": "memory.services.topics",
    "add_grades_to_memories": "memory.library.lifecycle",
    "content_hash": "memory.library.import_",
    "export_memories": "memory.library.export",
    "get_grader": "memory.library.grading",
    "get_retriever": "memory.rules.retrieval.adapter",
    "grade_run": "memory.library.lifecycle",
    "has_grader": "memory.library.grading",
    "import_memories": "memory.library.lifecycle",
    "init_episode": "memory.library.lifecycle",
    "load_all_memories_for_session": "memory.library.lifecycle",
    "load_export": "memory.library.import_",
    "persist_memories": "memory.library.lifecycle",
    "record_step_end": "memory.library.lifecycle",
    "record_step_start": "memory.library.lifecycle",
    "retrieve_memories": "memory.library.lifecycle",
    "set_grader": "memory.library.grading",
    "set_retriever": "memory.rules.retrieval.adapter",
}

__all__ = [
    "DefaultRetriever",
    "EnvironmentState",
    "Episode",
    "EpisodeContext",
    "EpisodeStatus",
    "EpisodicMemory",
    "EpisodicMemoryConfig",
    "FieldInput",
    "Grade",
    "GradeSource",
    "Grader",
    "GraderMissing",
    "GradingReport",
    "GradingRequest",
    "GradingResult",
    "ImportReport",
    "Ingest",
    "Memory",
    "MemoryEntry",
    "MemoryFault",
    "NoOpEpisodicMemory",
    "Outcome",
    "QueryRequest",
    "QueryResponse",
    "ReactionContext",
    "ReactionGrader",
    "ReactionHandler",
    "ReactionLedger",
    "RetrievalConfig",
    "RetrievalFeedbackSignal",
    "RetrieverAdapter",
    "ShortMemoryStore",
    "StepGrade",
    "WorkingMemory",
    "World",
    "WorldPolicy",
    "add_grades_to_memories",
    "content_hash",
    "export_memories",
    "get_grader",
    "get_retriever",
    "grade_run",
    "has_grader",
    "import_memories",
    "init_episode",
    "load_all_memories_for_session",
    "load_export",
    "persist_memories",
    "record_step_end",
    "record_step_start",
    "retrieve_memories",
    "set_grader",
    "set_retriever",
]


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'memory' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
