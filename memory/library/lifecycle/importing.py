"""Imports an export into a memory; memories that are stored already, by content hash, are skipped.

The outcomes of imported memories become the importer's own judgement (see `memory.library.import_`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.library.episodic import EpisodicMemory
from memory.library.import_ import UnreadableRecord, content_hash, read_export
from memory.library.lifecycle.context import PendingStep, known_run, memory_or_default, new_run
from memory.library.lifecycle.entries import entries_of
from memory.library.lifecycle.grades import cast_vote
from memory.library.lifecycle.importing_episodes import AT_ONCE, EpisodeImport, is_past
from memory.library.lifecycle.persisting import embedded_texts, store_steps
from memory.library.lifecycle.redacting import clean_entry, clean_episode
from memory.model import (
    Episode,
    EventKind,
    Grade,
    GradeSource,
    MemoryEntry,
    Outcome,
    Role,
    Scope,
    SessionRun,
    StoredGrade,
    Vector,
)
from memory.model.validation import require_text as text_of
from memory.ports import Transaction
from memory.services.core import event, record, require_episode


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import."""

    imported: int = 0
    skipped: int = 0
    """Memories that were stored already."""
    errors: tuple[UnreadableRecord, ...] = field(default=())
    """Invalid records; the others are imported."""


def import_memories(text: str, *, episodic: EpisodicMemory | None = None, session_id: str = "") -> ImportReport:
    """Import a `json` export of episodes or memory entries, in one transaction. Idempotent.

    Entries are added to `session_id` if given, else to their own session. Raises `InvalidInput` for another format.
    """
    memory = memory_or_default(episodic)
    text_of(session_id, "session_id")
    records, errors = read_export(text)
    redactor = memory.memory.core.redactor.for_run()
    memories = [
        clean_episode(redactor, each) if isinstance(each, Episode) else clean_entry(redactor, each) for each in records
    ]
    unplaced: list[UnreadableRecord] = []
    imported = skipped = 0
    goals = [each.goal if isinstance(each, Episode) else each.internal_state for each in memories]
    vectors = embedded_texts(memory, goals)
    with memory.memory.store.write() as tx:
        importing = EpisodeImport(tx, memory, vectors)
        refused = {each.position for each in errors}
        positions = [each for each in range(1, 1 + len(records) + len(errors)) if each not in refused]
        for some in _in_groups([*zip(positions, memories, strict=True)]):
            if isinstance(some, list):
                new = importing.add(some)
            elif session_id or some[1].session_id:
                entry = replace(some[1], session_id=session_id or some[1].session_id)
                new = [_add_entry(tx, memory, entry, vectors)]
            else:
                unplaced.append(UnreadableRecord(position=some[0], reason="no session is named; give session_id"))
                continue
            imported, skipped = imported + sum(new), skipped + new.count(False)
    return ImportReport(imported=imported, skipped=skipped, errors=(*errors, *unplaced))


def _in_groups(
    placed: Sequence[tuple[int, Episode | MemoryEntry]],
) -> Iterator[list[Episode] | tuple[int, MemoryEntry]]:
    """Lists of up to `AT_ONCE` consecutive episodes, and single entries with their position."""
    row: list[Episode] = []
    for position, each in placed:
        if isinstance(each, Episode):
            row.append(each)
        if row and (len(row) == AT_ONCE or not isinstance(each, Episode)):
            yield row
            row = []
        if not isinstance(each, Episode):
            yield position, each
    if row:
        yield row


def _add_entry(tx: Transaction, episodic: EpisodicMemory, entry: MemoryEntry, vectors: dict[str, Vector]) -> bool:
    known = [each.memory for each in entries_of(tx, episodic, entry.session_id)]
    entry = replace(entry, run_id=entry.run_id or f"imported-{entry.rep}")
    now = episodic.memory.clock()
    if not is_past(entry.created_at, now):  # it is stored with the present time, so it is compared without any
        known = [replace(each, created_at=entry.created_at) for each in known]
    hashes = {content_hash(each) for each in known}
    at = entry.created_at if is_past(entry.created_at, now) else now
    run = _run(tx, episodic, entry, at)
    while content_hash(entry) not in hashes and not _is_unjudged_by_others(tx, episodic.scope, run.node_run):
        entry = replace(entry, run_id=f"{run.run_id}/imported")
        run = _run(tx, episodic, entry, at)
    if content_hash(entry) in hashes:
        return False
    entry = replace(entry, created_at=at)
    scope = episodic.scope
    numbers = {each.number for each in tx.steps.of_session(scope.workspace, scope.person, entry.session_id)}
    number = entry.id if entry.id > 0 and entry.id not in numbers else 1 + max(numbers, default=0)
    step = PendingStep(
        step_id=entry.step_id,
        step_num=entry.step_num,
        action=entry.action,
        action_element_text=entry.action_element_text,
        internal_state=entry.internal_state,
        think=entry.think,
        embedding=entry.internal_state_embedding,
        env_pre=entry.env_pre,
        env_post=entry.env_post,
        created_at=entry.created_at,
    )
    episode = store_steps(tx, episodic, run, {number: step}, vectors, rep=entry.rep)[number]
    _grade_entry(tx, episodic, episode, entry)
    _grade_whole(tx, episodic, episode, entry)
    return True


def _run(tx: Transaction, episodic: EpisodicMemory, entry: MemoryEntry, at: datetime) -> SessionRun:
    known = known_run(tx, episodic.scope, entry.session_id, entry.run_id)
    run = known or new_run(episodic, entry.session_id, entry.run_id, entry.rep, at)
    tx.steps.put_run(run)
    return run


def _is_unjudged_by_others(tx: Transaction, scope: Scope, run_id: str) -> bool:
    """Whether only this person voted on a run. Entries are not added to other runs, as votes apply to all nodes."""
    return all(vote.actor == scope.person for vote in tx.teaching.votes(scope.workspace, run_id))


def _grade_entry(tx: Transaction, episodic: EpisodicMemory, episode: Episode, entry: MemoryEntry) -> None:
    """Store the step's grades and outcome. An outcome without grades, as in foreign exports, becomes a grade."""
    at = entry.graded_at or entry.created_at
    is_right = entry.outcome is Outcome.SUCCESS
    is_graded = entry.outcome is not Outcome.PENDING
    grades = entry.grades
    if is_graded and not grades and entry.graded_by is not GradeSource.REACTION:
        source = entry.graded_by or GradeSource.PERSON
        grade = Grade(
            source=source, is_correct=is_right, explanation=entry.outcome_reason, correction=entry.correction, at=at
        )
        grades = (grade,)
    _add_grades(tx, episodic, episode, grades)
    if not is_graded or entry.graded_by is GradeSource.MODEL:
        return
    if entry.graded_by is GradeSource.REACTION and entry.correction:
        detail = {"text": entry.correction}
        change = event(episode, EventKind.CORRECTED, episodic.scope.person, at, detail=detail)
        record(tx, require_episode(tx, episode.workspace, episode.id), change)
    cast_vote(tx, episodic, episode, is_right, episodic.scope.person, Role.MEMBER, at, entry.outcome_reason)


def _grade_whole(tx: Transaction, episodic: EpisodicMemory, episode: Episode, entry: MemoryEntry) -> None:
    """Store the run's grades, once for all of its entries."""
    root = require_episode(tx, episode.workspace, episode.parent_id)
    known = {each.grade for each in tx.steps.grades(root.workspace, [root.id]).get(root.id, [])}
    grades = entry.run_grades
    if entry.task_incomplete and not grades:
        at = entry.graded_at or entry.created_at
        source = entry.graded_by or GradeSource.PERSON
        grades = (Grade(source=source, is_correct=False, explanation=entry.task_incomplete, at=at),)
    new = [grade for grade in grades if grade not in known]
    _add_grades(tx, episodic, root, new)
    by_people = [grade for grade in new if grade.source is not GradeSource.MODEL]
    if by_people:
        last = max(by_people, key=lambda grade: grade.at)
        cast_vote(tx, episodic, root, last.is_correct, episodic.scope.person, Role.MEMBER, last.at, last.explanation)


def _add_grades(tx: Transaction, episodic: EpisodicMemory, episode: Episode, grades: Sequence[Grade]) -> None:
    for grade in grades:
        actor = episodic.scope.person if grade.source is GradeSource.PERSON else ""
        tx.steps.add_grade(StoredGrade(workspace=episode.workspace, episode_id=episode.id, actor=actor, grade=grade))
