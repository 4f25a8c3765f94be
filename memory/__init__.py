"""Episodic memory for agents that people teach by reacting to their answers.

The names below are the public interface. They are imported when first used, so that `import memory` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.errors import (
        Conflict,
        EmbeddingFailed,
        GraderMissing,
        InvalidInput,
        MemoryFault,
        NotFound,
        StoreUnavailable,
    )
    from memory.library.episodic import EpisodicMemory, EpisodicMemoryConfig, NoOpEpisodicMemory
    from memory.library.export import export_memories, export_person
    from memory.library.grading import (
        ExpectedAction,
        Grader,
        GradingRequest,
        GradingResult,
        StepGrade,
        StepToGrade,
        Verifier,
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
    from memory.library.signals import Findings, RetrievalFeedback, RetrievalFeedbackSignal
    from memory.library.working_memory import WorkingMemory
    from memory.model import (
        ActionCall,
        Audience,
        EnvironmentState,
        Episode,
        EpisodeStatus,
        Exemplar,
        Grade,
        GradeSource,
        Lesson,
        MemoryEntry,
        Outcome,
        Reaction,
        Role,
        Scope,
        Signal,
        Step,
        StepKind,
        TeachingPolicy,
        Termination,
        Verdict,
        Verdicts,
        Visibility,
    )
    from memory.rules.emoji import EmojiMap
    from memory.rules.feedback.evidence import Detector, Evidence
    from memory.rules.feedback.keyword import KeywordDetector
    from memory.rules.feedback.overlap import OverlapDetector
    from memory.rules.feedback.similarity import SimilarityDetector
    from memory.rules.retrieval.adapter import (
        DefaultRetriever,
        MemorySource,
        RetrievalInput,
        RetrievalOutput,
        RetrieverAdapter,
        ScoredMemory,
        get_retriever,
        set_retriever,
    )
    from memory.rules.retrieval.config import RetrievalConfig
    from memory.rules.retrieval.given import GivenMemories
    from memory.services import Memory
    from memory.services.topics import (
        FieldInput,
        Ingest,
        Placement,
        QueryRequest,
        QueryResponse,
        Related,
        Stage,
        World,
        WorldPolicy,
    )

_NAMES = {
    "memory.errors": "Conflict EmbeddingFailed GraderMissing InvalidInput MemoryFault NotFound StoreUnavailable",
    "memory.library.episodic": "EpisodicMemory EpisodicMemoryConfig NoOpEpisodicMemory",
    "memory.library.export": "export_memories export_person",
    "memory.library.grading": """
        ExpectedAction Grader GradingRequest GradingResult StepGrade StepToGrade Verifier get_grader has_grader
        set_grader
    """,
    "memory.library.import_": "content_hash load_export",
    "memory.library.ledger": "ReactionContext ReactionLedger ShortMemoryStore",
    "memory.library.lifecycle": """
        EpisodeContext GradingReport ImportReport ReactionGrader add_grades_to_memories grade_run import_memories
        init_episode load_all_memories_for_session persist_memories record_step_end record_step_start
        retrieve_memories
    """,
    "memory.library.reactions": "ReactionHandler",
    "memory.library.signals": "Findings RetrievalFeedback RetrievalFeedbackSignal",
    "memory.library.working_memory": "WorkingMemory",
    "memory.model": """
        ActionCall Audience EnvironmentState Episode EpisodeStatus Exemplar Grade GradeSource Lesson MemoryEntry
        Outcome Reaction Role Scope Signal Step StepKind TeachingPolicy Termination Verdict Verdicts Visibility
    """,
    "memory.rules.emoji": "EmojiMap",
    "memory.rules.feedback.evidence": "Detector Evidence",
    "memory.rules.feedback.keyword": "KeywordDetector",
    "memory.rules.feedback.overlap": "OverlapDetector",
    "memory.rules.feedback.similarity": "SimilarityDetector",
    "memory.rules.retrieval.adapter": """
        DefaultRetriever MemorySource RetrievalInput RetrievalOutput RetrieverAdapter ScoredMemory get_retriever
        set_retriever
    """,
    "memory.rules.retrieval.config": "RetrievalConfig",
    "memory.rules.retrieval.given": "GivenMemories",
    "memory.services": "Memory",
    "memory.services.topics": """
        FieldInput Ingest Placement QueryRequest QueryResponse Related Stage World WorldPolicy
    """,
}
_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ActionCall",
    "Audience",
    "Conflict",
    "DefaultRetriever",
    "Detector",
    "EmbeddingFailed",
    "EmojiMap",
    "EnvironmentState",
    "Episode",
    "EpisodeContext",
    "EpisodeStatus",
    "EpisodicMemory",
    "EpisodicMemoryConfig",
    "Evidence",
    "Exemplar",
    "ExpectedAction",
    "FieldInput",
    "Findings",
    "GivenMemories",
    "Grade",
    "GradeSource",
    "Grader",
    "GraderMissing",
    "GradingReport",
    "GradingRequest",
    "GradingResult",
    "ImportReport",
    "Ingest",
    "InvalidInput",
    "KeywordDetector",
    "Lesson",
    "Memory",
    "MemoryEntry",
    "MemoryFault",
    "MemorySource",
    "NoOpEpisodicMemory",
    "NotFound",
    "Outcome",
    "OverlapDetector",
    "Placement",
    "QueryRequest",
    "QueryResponse",
    "Reaction",
    "ReactionContext",
    "ReactionGrader",
    "ReactionHandler",
    "ReactionLedger",
    "Related",
    "RetrievalConfig",
    "RetrievalFeedback",
    "RetrievalFeedbackSignal",
    "RetrievalInput",
    "RetrievalOutput",
    "RetrieverAdapter",
    "Role",
    "Scope",
    "ScoredMemory",
    "ShortMemoryStore",
    "Signal",
    "SimilarityDetector",
    "Stage",
    "Step",
    "StepGrade",
    "StepKind",
    "StepToGrade",
    "StoreUnavailable",
    "TeachingPolicy",
    "Termination",
    "Verdict",
    "Verdicts",
    "Verifier",
    "Visibility",
    "WorkingMemory",
    "World",
    "WorldPolicy",
    "add_grades_to_memories",
    "content_hash",
    "export_memories",
    "export_person",
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
