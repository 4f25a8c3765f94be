"""Episodic memory for agents that people teach by reacting to their answers.

The names below are the public interface. They are imported when first used, so that `import memory` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.errors import (
        Conflict as Conflict,
        EmbeddingFailed as EmbeddingFailed,
        GraderMissing as GraderMissing,
        InvalidInput as InvalidInput,
        MemoryFault as MemoryFault,
        NotFound as NotFound,
        StoreUnavailable as StoreUnavailable,
    )
    from memory.library.episodic import (
        EpisodicMemory as EpisodicMemory,
        EpisodicMemoryConfig as EpisodicMemoryConfig,
        NoOpEpisodicMemory as NoOpEpisodicMemory,
    )
    from memory.library.export import export_memories as export_memories, export_person as export_person
    from memory.library.grading import (
        ExpectedAction as ExpectedAction,
        Grader as Grader,
        GradingRequest as GradingRequest,
        GradingResult as GradingResult,
        StepGrade as StepGrade,
        StepToGrade as StepToGrade,
        Verifier as Verifier,
        get_grader as get_grader,
        has_grader as has_grader,
        set_grader as set_grader,
    )
    from memory.library.import_ import content_hash as content_hash, load_export as load_export
    from memory.library.ledger import (
        ReactionContext as ReactionContext,
        ReactionLedger as ReactionLedger,
        ShortMemoryStore as ShortMemoryStore,
    )
    from memory.library.lifecycle import (
        EpisodeContext as EpisodeContext,
        GradingReport as GradingReport,
        ImportReport as ImportReport,
        ReactionGrader as ReactionGrader,
        add_grades_to_memories as add_grades_to_memories,
        grade_run as grade_run,
        import_memories as import_memories,
        init_episode as init_episode,
        load_all_memories_for_session as load_all_memories_for_session,
        persist_memories as persist_memories,
        record_step_end as record_step_end,
        record_step_start as record_step_start,
        retrieve_memories as retrieve_memories,
    )
    from memory.library.reactions import ReactionHandler as ReactionHandler
    from memory.library.signals import (
        Findings as Findings,
        RetrievalFeedback as RetrievalFeedback,
        RetrievalFeedbackSignal as RetrievalFeedbackSignal,
    )
    from memory.library.working_memory import WorkingMemory as WorkingMemory
    from memory.model import (
        ActionCall as ActionCall,
        Audience as Audience,
        EnvironmentState as EnvironmentState,
        Episode as Episode,
        EpisodeStatus as EpisodeStatus,
        Exemplar as Exemplar,
        Grade as Grade,
        GradeSource as GradeSource,
        Lesson as Lesson,
        MemoryEntry as MemoryEntry,
        Outcome as Outcome,
        Reaction as Reaction,
        Role as Role,
        Scope as Scope,
        Signal as Signal,
        Step as Step,
        StepKind as StepKind,
        TeachingPolicy as TeachingPolicy,
        Termination as Termination,
        Verdict as Verdict,
        Verdicts as Verdicts,
        Visibility as Visibility,
    )
    from memory.model.teaching import EmojiMap as EmojiMap
    from memory.rules.retrieval.adapter import (
        DefaultRetriever as DefaultRetriever,
        GivenMemories as GivenMemories,
        MemorySource as MemorySource,
        RetrievalInput as RetrievalInput,
        RetrievalOutput as RetrievalOutput,
        RetrieverAdapter as RetrieverAdapter,
        ScoredMemory as ScoredMemory,
        get_retriever as get_retriever,
        set_retriever as set_retriever,
    )
    from memory.rules.retrieval.config import RetrievalConfig as RetrievalConfig
    from memory.rules.use_detection.detector import DetectedSignal as DetectedSignal, Detector as Detector
    from memory.rules.use_detection.keyword import KeywordDetector as KeywordDetector
    from memory.rules.use_detection.overlap import OverlapDetector as OverlapDetector
    from memory.rules.use_detection.similarity import SimilarityDetector as SimilarityDetector
    from memory.services import Memory as Memory
    from memory.services.topics import (
        FieldInput as FieldInput,
        Ingest as Ingest,
        Placement as Placement,
        QueryRequest as QueryRequest,
        QueryResponse as QueryResponse,
        Related as Related,
        Stage as Stage,
        World as World,
        WorldPolicy as WorldPolicy,
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
    "memory.model.teaching": "EmojiMap",
    "memory.model": """
        ActionCall Audience EnvironmentState Episode EpisodeStatus Exemplar Grade GradeSource Lesson MemoryEntry
        Outcome Reaction Role Scope Signal Step StepKind TeachingPolicy Termination Verdict Verdicts Visibility
    """,
    "memory.rules.use_detection.detector": "DetectedSignal Detector",
    "memory.rules.use_detection.keyword": "KeywordDetector",
    "memory.rules.use_detection.overlap": "OverlapDetector",
    "memory.rules.use_detection.similarity": "SimilarityDetector",
    "memory.rules.retrieval.adapter": """
        DefaultRetriever GivenMemories MemorySource RetrievalInput RetrievalOutput RetrieverAdapter ScoredMemory
        get_retriever set_retriever
    """,
    "memory.rules.retrieval.config": "RetrievalConfig",
    "memory.services": "Memory",
    "memory.services.topics": """
        FieldInput Ingest Placement QueryRequest QueryResponse Related Stage World WorldPolicy
    """,
}
_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'memory' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
