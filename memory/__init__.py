"""Episodic memory for agents that people teach by reacting to their answers.

The names below are the public interface. They are imported when first used, so that `import memory` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.episodic import EpisodicMemory, EpisodicMemoryConfig, NoOpEpisodicMemory
    from memory.errors import GraderMissing, MemoryFault
    from memory.export import export_memories
    from memory.grading import Grader, GradingRequest, GradingResult, StepGrade, get_grader, has_grader, set_grader
    from memory.importing import content_hash, load_export
    from memory.ledger import ReactionContext, ReactionLedger, ShortMemoryStore
    from memory.lifecycle import (
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
    from memory.model import EnvironmentState, Episode, EpisodeStatus, Grade, GradeSource, MemoryEntry, Outcome
    from memory.reactions import ReactionHandler
    from memory.retrieval.adapter import DefaultRetriever, RetrieverAdapter, get_retriever, set_retriever
    from memory.retrieval.config import RetrievalConfig
    from memory.service import Memory
    from memory.signals import RetrievalFeedbackSignal
    from memory.working import WorkingMemory
    from memory.world import FieldInput, Ingest, QueryRequest, QueryResponse, World, WorldPolicy

_HOME = {
    "DefaultRetriever": "memory.retrieval.adapter",
    "EnvironmentState": "memory.model",
    "Episode": "memory.model",
    "EpisodeContext": "memory.lifecycle",
    "EpisodeStatus": "memory.model",
    "EpisodicMemory": "memory.episodic",
    "EpisodicMemoryConfig": "memory.episodic",
    "FieldInput": "memory.world",
    "Grade": "memory.model",
    "GradeSource": "memory.model",
    "Grader": "memory.grading",
    "GraderMissing": "memory.errors",
    "GradingReport": "memory.lifecycle",
    "GradingRequest": "memory.grading",
    "GradingResult": "memory.grading",
    "ImportReport": "memory.lifecycle",
    "Ingest": "memory.world",
    "Memory": "memory.service",
    "MemoryEntry": "memory.model",
    "MemoryFault": "memory.errors",
    "NoOpEpisodicMemory": "memory.episodic",
    "Outcome": "memory.model",
    "QueryRequest": "memory.world",
    "QueryResponse": "memory.world",
    "ReactionContext": "memory.ledger",
    "ReactionGrader": "memory.lifecycle",
    "ReactionHandler": "memory.reactions",
    "ReactionLedger": "memory.ledger",
    "RetrievalConfig": "memory.retrieval.config",
    "RetrievalFeedbackSignal": "memory.signals",
    "RetrieverAdapter": "memory.retrieval.adapter",
    "ShortMemoryStore": "memory.ledger",
    "StepGrade": "memory.grading",
    "WorkingMemory": "memory.working",
    "World": "memory.world",
    "WorldPolicy": "memory.world",
    "add_grades_to_memories": "memory.lifecycle",
    "content_hash": "memory.importing",
    "export_memories": "memory.export",
    "get_grader": "memory.grading",
    "get_retriever": "memory.retrieval.adapter",
    "grade_run": "memory.lifecycle",
    "has_grader": "memory.grading",
    "import_memories": "memory.lifecycle",
    "init_episode": "memory.lifecycle",
    "load_all_memories_for_session": "memory.lifecycle",
    "load_export": "memory.importing",
    "persist_memories": "memory.lifecycle",
    "record_step_end": "memory.lifecycle",
    "record_step_start": "memory.lifecycle",
    "retrieve_memories": "memory.lifecycle",
    "set_grader": "memory.grading",
    "set_retriever": "memory.retrieval.adapter",
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
