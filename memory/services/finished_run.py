"""An answer with everything that led to it, ready to be committed at once, and its nodes as they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce

from memory.model import Allowed, Episode, Event, EventKind, Link, LinkKind, Recollection, Retrieval, Tap, Usage
from memory.model.evidence import EvidenceRecord
from memory.ports import Transaction
from memory.rules.evidence.judgements import is_followed
from memory.rules.fold import apply, facts
from memory.rules.quarantine import flags_of
from memory.services.core import event
from memory.services.quarantine_actions import SYSTEM


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """An answer with everything that led to it, ready to be committed at once."""

    workspace: str
    run_id: str
    event_id: str
    """Of the message it answers; empty when there was none (a library's own run)."""
    question: str = ""
    """That message's text as it was answered; empty: whatever it is by now."""
    nodes: Sequence[Episode] = ()
    recalls: Sequence[Recollection] = ()
    parts: Sequence[str]
    """The texts to post, in order."""
    channel: str = ""
    thread: str = ""
    """Where they are posted."""
    embedding_model: str = ""
    asked_by: str = ""
    """Whose words the question is, where somebody tried another person's again (`Incoming.asked_by`)."""
    tap: Tap | None = None
    """The choice it answers (`Incoming.tap`)."""
    understood: str = ""
    """What the message was taken to mean in its conversation, where that is more than it says."""
    words_of: frozenset[str] = frozenset()
    """Others whose words that holds."""
    usage: Usage = field(default_factory=Usage)
    """What its models used, for the caps."""
    prompts: str = ""
    """What tells the prompts it was made with from others."""
    allowed: tuple[Allowed, ...] = ()
    """The tools with effects that ran, and who let them."""


def as_made(run: FinishedRun) -> tuple[list[Episode], list[Event]]:
    """The nodes as the run leaves them, in quarantine where their text is flagged; and the events that say so."""
    came_by = {name: value for name, value in (("event", run.event_id), ("prompts", run.prompts)) if value}
    nodes: list[Episode] = []
    events: list[Event] = []
    for node in map(facts, run.nodes):
        made = [event(node, EventKind.CREATED, node.author, node.created_at, detail=came_by)]
        if flags := flags_of(node):
            detail = {"flags": [flag.value for flag in flags]}
            made.append(event(node, EventKind.QUARANTINED, SYSTEM, node.created_at, detail=detail))
        made += [_let_run(node, each) for each in run.allowed if each.node_id == node.id]
        nodes.append(reduce(apply, made, node))
        events += made
    return nodes, events


def _let_run(node: Episode, allowed: Allowed) -> Event:
    permission = allowed.permission
    detail = {"tool": allowed.tool, "grant": permission.grant.value, "basis": permission.basis}
    return event(node, EventKind.ALLOWED, permission.by, node.created_at, detail=detail)


def attach(tx: Transaction, run: FinishedRun, nodes: Sequence[Episode]) -> None:
    """What hangs on the stored nodes: the goals' vectors, whose words they are, the links to the parents."""
    vectors = {recall.node_path: recall.vector for recall in run.recalls}
    known = {node.id: vector for node in nodes if (vector := vectors.get(node.node_path)) is not None}
    tx.episodes.add_vectors(run.workspace, run.embedding_model, known)
    others = sorted(run.words_of | ({run.asked_by} if run.asked_by else set()))
    for node in nodes:
        for person in others:
            tx.episodes.note_words(node.workspace, node.id, person)
    tx.episodes.add_link(
        *(
            Link(
                workspace=node.workspace,
                from_id=node.id,
                to_id=node.parent_id,
                kind=LinkKind.SUBGOAL_OF,
                at=node.created_at,
            )
            for node in nodes
            if node.parent_id
        )
    )


def retrieval_of(run: FinishedRun, recall: Recollection, now: datetime) -> Retrieval:
    """The record of one of its recalls."""
    return Retrieval(
        workspace=run.workspace,
        id=recall.retrieval_id,
        run_id=run.run_id,
        node_path=recall.node_path,
        goal=recall.goal,
        at=now,
        counts=recall.counts.as_dict(),
        evidence=_evidence(run, recall),
        is_control=recall.is_control,
    )


def _evidence(run: FinishedRun, recall: Recollection) -> EvidenceRecord | None:
    if recall.evidence is None:
        return None
    made_by = (node for node in run.nodes if node.node_path == recall.node_path)
    return replace(recall.evidence.record, is_followed=any(is_followed(recall.evidence, node) for node in made_by))
