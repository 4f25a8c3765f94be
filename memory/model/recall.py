"""The result of a recall: exemplars, the counts of each stage, and the record of how the exemplars were used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from memory.model.episode import Episode, Verdict
from memory.model.evidence import Evidence, EvidenceRecord
from memory.model.scope import Audience

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
else:
    Vector = object  # lists and commands that compute nothing must not wait for numpy
"""One text's embedding: shape (dimension,), unit length."""


class Lesson(StrEnum):
    """The kind of lesson that an exemplar is."""

    REPEAT = "REPEAT"
    AVOID = "AVOID"
    DISPUTED = "DISPUTED"
    """People approved something else for the same question: shown, but not to be followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A validated episode chosen for one goal, with the numbers that chose it."""

    episode: Episode
    verdict: Verdict
    """The verdict in the audience through which it was found."""
    audience: Audience
    context_score: float
    """Overlap of context elements, 0..1."""
    intent_score: float
    """Cosine of goal embeddings, -1..1."""
    relevance: float
    """The combined score, 0..1."""
    n_success: int = 0
    n_failure: int = 0
    """How many episodes with the same action were folded into this one, by verdict."""
    is_disputed: bool = False
    """Whether others of equal standing approved a different action for the same question."""
    belief: float | None = None
    """The belief in its action by all lessons near the goal (`Evidence`); None where that was not weighed."""
    named_action: str = ""
    """The action that a person named in words ("use the clock"), which the exemplar is then about."""
    is_guess: bool = False
    """Whether only a model judged it. It is then the asker's own, ranks below people's verdicts, and is labelled."""

    is_proposed: bool = False
    """Whether it follows people of the channel who did not decide, because the evidence for it is sure."""

    @property
    def lesson(self) -> Lesson:
        """REPEAT for what people approved, AVOID for what they rejected, DISPUTED where they disagree."""
        if self.is_disputed:
            return Lesson.DISPUTED
        return Lesson.REPEAT if self.verdict is Verdict.SUCCESS else Lesson.AVOID


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCounts:
    """How many candidates each stage of the pipeline let through (the seed's `debug`)."""

    total_loaded: int = 0
    env_matched: int = 0
    env_top_k: int = 0
    state_ranked: int = 0
    gated: int = 0
    deduped: int = 0
    above_threshold: int = 0
    selected: int = 0
    linked: int = 0
    env_fallback: bool = False
    """Whether the context gate left nothing, so that only intent decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLine:
    """A rule that many lessons agree on, made only of lessons that the asker may see."""

    rule_id: str
    line: str
    lesson_ids: tuple[str, ...]
    """The lessons that it is made of, in order of creation."""
    goals: tuple[str, ...]
    """The goal of each of these when the rule was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The result of one recall for one goal: the exemplars, best first, the counts, and what a node was shown."""

    retrieval_id: str
    goal: str
    exemplars: tuple[Exemplar, ...]
    counts: StageCounts
    rules: tuple[RuleLine, ...] = ()
    """The rules made of any of the exemplars, those of the best ones first; later, those that were shown."""
    evidence: Evidence | None = None
    """The combined evidence of all lessons in reach, where it was requested."""
    corrections: frozenset[tuple[str, str]] = frozenset()
    """Corrections of the exemplars that the asker may see, as (correction, mistake)."""
    known_answers: bool | None = None
    """The channel's setting whether to give a known answer without the model; None if not set, or if there is none."""
    is_control: bool = False
    """Whether its run is in the control arm, and so gets no lessons and no evidence."""
    vector: Vector | None = field(default=None, repr=False, compare=False)
    """The goal's embedding; None where the embedder failed."""
    node_path: str = "0"
    """The node for which it was made."""
    shown_ids: tuple[str, ...] = ()
    """The exemplars that fitted into the node's prompt."""


class Signal(StrEnum):
    """How an exemplar in the prompt was used."""

    USED = "used"
    IGNORED = "ignored"
    UNKNOWN = "unknown"
    """It cannot be determined."""
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The record of one recall."""

    workspace: str
    id: str
    run_id: str
    node_path: str
    goal: str
    at: datetime
    counts: Mapping[str, int | bool] = field(default_factory=dict[str, int | bool])
    evidence: EvidenceRecord | None = None
    """The combined evidence of all lessons in reach, where it was requested."""
    is_control: bool = False
    """Whether its run was in the control arm, and so got no lessons and no evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalItem:
    """One exemplar of one recall."""

    workspace: str
    retrieval_id: str
    rank: int
    """From 1, best first."""
    episode_id: str
    lesson: Lesson
    context_score: float
    intent_score: float
    relevance: float
    signal: Signal | None = None
    ratio: float = 0.0
    """The score of the overlap detector, 0..1."""


class LinkKind(StrEnum):
    """The relation between two episodes; read as `from KIND to`."""

    SUBGOAL_OF = "subgoal_of"
    CORRECTS = "corrects"
    SAME_GOAL = "same_goal"
    SUPERSEDES = "supersedes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A directed, typed edge between two episodes. No self-loops."""

    workspace: str
    from_id: str
    to_id: str
    kind: LinkKind
    at: datetime
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.from_id == self.to_id:
            raise ValueError(f"an episode cannot be linked to itself ({self.from_id})")
