"""An export into a memory: each memory once, however often it is imported, by its content hash.

The outcome of what is imported is the importer's own judgement from then on (see `memory.library.import_`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory.library.episodic import EpisodicMemory, keep_new
from memory.library.import_ import Unreadable, content_hash, read_export
from memory.library.lifecycle.context import PendingStep, known_run, memory_or_default, new_run
from memory.library.lifecycle.entries import entries_of
from memory.library.lifecycle.grades import cast
from memory.library.lifecycle.persisting import embedded, store_steps
from memory.library.lifecycle.redacting import clean_entry
from memory.model import (
    Episode,
    EventKind,
    Grade,
    GradeSource,
    MemoryEntry,
    Origin,
    Outcome,
    Role,
    Scope,
    SessionRun,
    StoredGrade,
    Vector,
    Verdict,
)
from memory.model.validation import text as text_of
from memory.ports import Transaction
from memory.rules.fold import facts
from memory.services.core import event, existing, file_in_index, record

_ID_DIGITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of an export's records."""

    imported: int = 0
    skipped: int = 0
    """Memories that were there already."""
    errors: tuple[Unreadable, ...] = field(default=())
    """Records that are no memories. They never keep the others out."""


def import_memories(text: str, *, episodic: EpisodicMemory | None = None, session_id: str = "") -> ImportReport:
    """Import a `json` export of episodes or of memory entries, in one transaction. Importing it again adds nothing.

    Entries go to the session they name, or to `session_id` if it is given. Raises `InvalidInput` for another format.
    """
    memory = memory_or_default(episodic)
    text_of(session_id, "session_id")
    records, errors = read_export(text)
    redactor = memory.memory.core.redactor
    memories = [
        redactor.episode(each) if isinstance(each, Episode) else clean_entry(redactor, each) for each in records
    ]
    unplaced: list[Unreadable] = []
    imported = skipped = 0
    goals = [each.goal if isinstance(each, Episode) else each.internal_state for each in memories]
    vectors = embedded(memory, goals)
    with memory.memory.store.write() as tx:
        renamed: dict[str, str] = {}
        for position, each in enumerate(memories, start=1):
            if isinstance(each, Episode):
                is_new = _add_episode(tx, memory, each, vectors, renamed)
            elif session_id or each.session_id:
                is_new = _add_entry(tx, memory, replace(each, session_id=session_id or each.session_id), vectors)
            else:
                unplaced.append(Unreadable(position=position, reason="no session is named; give session_id"))
                continue
            imported, skipped = imported + is_new, skipped + (not is_new)
    return ImportReport(imported=imported, skipped=skipped, errors=(*errors, *unplaced))


# Memory entries -------------------------------------------------------------------------------------------------


def _add_entry(tx: Transaction, episodic: EpisodicMemory, entry: MemoryEntry, vectors: dict[str, Vector]) -> bool:
    known = [each.memory for each in entries_of(tx, episodic, entry.session_id)]
    entry = replace(entry, run_id=entry.run_id or f"imported-{entry.rep}")
    hashes = {content_hash(each) for each in known}
    run = _run(tx, episodic, entry)
    while content_hash(entry) not in hashes and not _is_unjudged_by_others(tx, episodic.scope, run.node_run):
        entry = replace(entry, run_id=f"{run.run_id}/imported")
        run = _run(tx, episodic, entry)
    if content_hash(entry) in hashes:
        return False
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


def _run(tx: Transaction, episodic: EpisodicMemory, entry: MemoryEntry) -> SessionRun:
    known = known_run(tx, episodic.scope, entry.session_id, entry.run_id)
    run = known or new_run(episodic, entry.session_id, entry.run_id, entry.rep, entry.created_at)
    tx.steps.put_run(run)
    return run


def _is_unjudged_by_others(tx: Transaction, scope: Scope, run_id: str) -> bool:
    """What others said of a whole run speaks for all of its nodes, so nothing is imported into one they judged."""
    return all(vote.actor == scope.person for vote in tx.teaching.votes(scope.workspace, run_id))


def _grade_entry(tx: Transaction, episodic: EpisodicMemory, episode: Episode, entry: MemoryEntry) -> None:
    """Give the step its grades and its outcome. The outcome of a foreign export, which has no grades, becomes one."""
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
        record(tx, existing(tx, episode.workspace, episode.id), change)
    cast(tx, episodic, episode, is_right, episodic.scope.person, Role.MEMBER, at, entry.outcome_reason)


def _grade_whole(tx: Transaction, episodic: EpisodicMemory, episode: Episode, entry: MemoryEntry) -> None:
    """The grades of the run, once for all of its entries."""
    root = existing(tx, episode.workspace, episode.parent_id)
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
        cast(tx, episodic, root, last.is_correct, episodic.scope.person, Role.MEMBER, last.at, last.explanation)


def _add_grades(tx: Transaction, episodic: EpisodicMemory, episode: Episode, grades: Sequence[Grade]) -> None:
    for grade in grades:
        actor = episodic.scope.person if grade.source is GradeSource.PERSON else ""
        tx.steps.add_grade(StoredGrade(workspace=episode.workspace, episode_id=episode.id, actor=actor, grade=grade))


# Episodes -------------------------------------------------------------------------------------------------------


def _add_episode(
    tx: Transaction,
    episodic: EpisodicMemory,
    given: Episode,
    vectors: dict[str, Vector],
    renamed: dict[str, str],
) -> bool:
    """Store one episode of an export as this person's. False if it is there already."""
    scope = episodic.scope
    digest = content_hash(given)
    copy_id = _own_id(episodic, digest)
    holder = tx.episodes.get(scope.workspace, given.id) if given.id else None
    is_mine = holder is not None and holder.scope.session_key == scope.session_key
    is_same = is_mine and holder is not None and content_hash(holder) == digest
    copied = tx.episodes.get(scope.workspace, copy_id) is not None
    episode_id = given.id if given.id and (holder is None or is_same) and not copied else copy_id
    # Read before this one gets its name: no episode is its own parent, and one without a parent is a root.
    parent_id = renamed.get(given.parent_id, "") if given.parent_id else ""
    renamed[given.id] = episode_id
    if is_same or copied:
        return False
    at = given.graded_at or given.created_at
    episode = facts(
        replace(
            given,
            id=episode_id,
            run_id=_run_id(tx, episodic, given.run_id or episode_id, episode_id),
            parent_id=parent_id,
            workspace=scope.workspace,
            channel=scope.channel,
            thread=scope.thread,
            person=scope.person,
            author=scope.person,
            visibility=scope.visibility,
            origin=Origin.IMPORT,
            exemplar_ids=(),
        )
    )
    tx.episodes.put(episode)
    episode = keep_new(tx, episodic.memory, episode, vectors.get(given.goal))
    if given.correction:
        change = event(episode, EventKind.CORRECTED, scope.person, at, detail={"text": given.correction})
        record(tx, episode, change)
    if given.verdict.is_validated:
        is_right = given.verdict is Verdict.SUCCESS
        cast(tx, episodic, episode, is_right, scope.person, Role.MEMBER, at, given.outcome_reason)
    if given.archived_at is not None:
        stored = existing(tx, episode.workspace, episode.id)
        archived = record(tx, stored, event(stored, EventKind.ARCHIVED, scope.person, given.archived_at))
        file_in_index(tx, archived)
    return True


def _run_id(tx: Transaction, episodic: EpisodicMemory, run_id: str, episode_id: str) -> str:
    """The run's id; one of this person's own where that is a real answer's, somebody else's, or judged by others."""
    free = (each for each in (run_id, _own_id(episodic, run_id)) if _is_open(tx, episodic.scope, each))
    return next(free, _own_id(episodic, f"{run_id}/{episode_id}"))


def _is_open(tx: Transaction, scope: Scope, run_id: str) -> bool:
    nodes = tx.episodes.of_run(scope.workspace, run_id)
    is_own = all(node.scope.session_key == scope.session_key and node.origin is Origin.IMPORT for node in nodes)
    return is_own and _is_unjudged_by_others(tx, scope, run_id)


def _own_id(episodic: EpisodicMemory, of: str) -> str:
    """An id that is this person's alone, and the same every time."""
    return f"im{hashlib.sha256(f'{episodic.scope.sender_key}/{of}'.encode()).hexdigest()[:_ID_DIGITS]}"
