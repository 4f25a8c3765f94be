"""A finished run that is to be committed: its nodes, their events and links, and the records of its recalls."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import reduce

from memory.errors import NotFound
from memory.model import (
    AllowedAction,
    Episode,
    Event,
    EventKind,
    Link,
    LinkKind,
    Recollection,
    Retrieval,
    Tap,
    Usage,
)
from memory.model.evidence import EvidenceRecord
from memory.ports import Store, Transaction
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.evidence.weighing import is_followed
from memory.rules.fold import apply, unjudged
from memory.rules.quarantine import flags_of
from memory.services.core import event, note_words_of
from memory.services.recording.earlier_texts import EarlierText, note_people_in
from memory.services.verdicts.quarantine import SYSTEM


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """An answer with all data of its run, to be committed in one transaction."""

    workspace: str
    run_id: str
    event_id: str
    """The event id of the answered message; empty if there is none, as for a run of a library."""
    question: str = ""
    """The text of the message that was answered. If it is empty, edits of the message are not checked."""
    nodes: Sequence[Episode] = ()
    recalls: Sequence[Recollection] = ()
    parts: Sequence[str]
    """The texts to post, in order."""
    channel: str = ""
    """The channel in which they are posted."""
    thread: str = ""
    embedding_model: str = ""
    asked_by: str = ""
    """The author of the question, if another person asked it again (`Incoming.asked_by`)."""
    tap: Tap | None = None
    """The choice it answers (`Incoming.tap`)."""
    understood: str = ""
    """The message's meaning in its conversation, if that is more than its text."""
    words_of: frozenset[str] = frozenset()
    """Other people whose words are in `understood`."""
    earlier_texts: tuple[EarlierText, ...] = ()
    """The conversation before, as far as its model read it and it is not the asker's."""
    usage: Usage = field(default_factory=Usage)
    """The usage of its models, for the caps."""
    prompts: str = ""
    """Identifies the version of the prompts."""
    allowed: tuple[AllowedAction, ...] = ()
    """The tools with effects that ran, with their permissions."""


def as_made(run: FinishedRun) -> tuple[list[Episode], list[Event]]:
    """The nodes as they are stored, those with flagged texts in quarantine, and the events of all nodes."""
    came_by = {name: value for name, value in (("event", run.event_id), ("prompts", run.prompts)) if value}
    nodes: list[Episode] = []
    events: list[Event] = []
    for node in map(unjudged, run.nodes):
        made = [event(node, EventKind.CREATED, node.author, node.created_at, detail=came_by)]
        if flags := flags_of(node):
            detail = {"flags": [flag.value for flag in flags]}
            made.append(event(node, EventKind.QUARANTINED, SYSTEM, node.created_at, detail=detail))
        made += [_allowed_event(node, each) for each in run.allowed if each.node_id == node.id]
        nodes.append(reduce(apply, made, node))
        events += made
    return nodes, events


def _allowed_event(node: Episode, allowed: AllowedAction) -> Event:
    permission = allowed.permission
    detail = {"tool": allowed.tool, "grant": permission.grant.value, "basis": permission.basis}
    return event(node, EventKind.ALLOWED, permission.by, node.created_at, detail=detail)


def attach(tx: Transaction, run: FinishedRun, nodes: Sequence[Episode]) -> None:
    """Store the vectors of the nodes' goals, whose words they have, and links. `NotFound` if such words are erased."""
    vectors = {recall.node_path: recall.vector for recall in run.recalls}
    known = {node.id: vector for node in nodes if (vector := vectors.get(node.node_path)) is not None}
    tx.episodes.add_vectors(run.workspace, run.embedding_model, known)
    others = sorted(run.words_of | ({run.asked_by} if run.asked_by else set()))
    tx.episodes.note_words(run.workspace, {node.id: others for node in nodes})
    if run.earlier_texts:
        note_people_in(tx, nodes, run.earlier_texts)
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


def note_lessons_in(tx: Transaction, node: Episode, lessons: Collection[str]) -> dict[str, Episode]:
    """Note whose words are in a node that repeats these lessons. Returns the lessons by id.

    Raises `NotFound` if one of them is erased.
    """
    known = tx.episodes.get_many(node.workspace, lessons)
    if len(known) < len(set(lessons)):
        raise NotFound(f"what {node.run_id} in {node.workspace} repeats is erased; work it out once more")
    words = tx.episodes.words_of_others(node.workspace, lessons)
    people = {each.author for each in known.values()} | {name for names in words.values() for name in names}
    note_words_of(tx, node, people)
    return known


def retrievals_of(store: Store, run: FinishedRun, now: datetime) -> list[Retrieval]:
    """The records of the run's recalls, with those of their evidence, whose beliefs are computed now.

    If the run carries out an option, actions that were not in the evidence of the question are left out, as they were
    not possible then.
    """
    asked: dict[str, EvidenceRecord] = {}
    if run.tap is not None:
        with store.read() as tx:
            before = tx.retrievals.of_run(run.workspace, run.tap.run_id)
        asked = {each.goal: each.evidence for each, _ in before if each.evidence is not None}
    return [
        Retrieval(
            workspace=run.workspace,
            id=recall.retrieval_id,
            run_id=run.run_id,
            node_path=recall.node_path,
            goal=recall.goal,
            at=now,
            counts=asdict(recall.counts),
            evidence=_evidence(run, recall, asked.get(recall.goal)),
            is_control=recall.is_control,
        )
        for recall in run.recalls
    ]


def _evidence(run: FinishedRun, recall: Recollection, asked: EvidenceRecord | None) -> EvidenceRecord | None:
    evidence = recall.evidence
    if evidence is None:
        return None
    if asked is not None:
        possible = {ANSWER, *(each.action for each in asked.beliefs)}
        evidence = evidence.without({each.action for each in evidence.beliefs} - possible)
    made_by = (node for node in run.nodes if node.node_path == recall.node_path)
    return replace(evidence.record, is_followed=any(is_followed(evidence, node) for node in made_by))
