"""Adds grades to memories, by a step's id or number; all grades are kept.

A person's grade is that person's vote on the step. Reactions are votes already. A model's grade is no vote: it counts
only if no person has judged, and only the asker sees it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.library.episodic import EpisodicMemory
from memory.library.grading import (
    ExpectedAction,
    Grader,
    GradingRequest,
    GradingResult,
    StepGrade,
    StepToGrade,
    Verifier,
    get_grader,
    grading_result,
    name_of,
    source_of,
)
from memory.library.lifecycle.context import EpisodeContext, known_run
from memory.library.lifecycle.entries import EpisodeEntry, asker_verdict, entries_of
from memory.library.lifecycle.redacting import clean_result
from memory.model import Episode, Grade, GradeSource, MemoryEntry, Outcome, Reaction, Role, StoredGrade, Verdict
from memory.model.validation import require_instance, require_member, require_text
from memory.ports import Transaction
from memory.rules.audience import visibility_about
from memory.services.verdicts.verdicts import ReactionSet, write_votes

Grades = GradingResult | Sequence[StepGrade | Mapping[str, object]] | Mapping[str, object]
"""A grader's result, a list of step grades, or either as mappings in the seed's spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingReport:
    """The result of adding grades."""

    updated: tuple[MemoryEntry, ...] = ()
    """The graded memories in their new state."""
    unknown: tuple[StepGrade, ...] = ()
    """Grades whose step is not stored."""
    pending: tuple[MemoryEntry, ...] = ()
    """Memories of the run that are still pending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """The author of some grades."""

    actor: str
    role: Role
    source: GradeSource
    grader: str
    at: datetime

    def grade(self, is_correct: bool, explanation: str, correction: str, confidence: float) -> Grade:
        """A grade of a step or of the run."""
        return Grade(
            source=self.source,
            is_correct=is_correct,
            explanation=explanation,
            correction=correction,
            confidence=float(confidence),
            at=self.at,
            grader=self.grader,
        )


def add_grades_to_memories(
    context: EpisodeContext,
    grades: Grades,
    *,
    source: GradeSource = GradeSource.PERSON,
    actor: str = "",
    role: Role = Role.MEMBER,
    grader: str = "",
) -> GradingReport:
    """Apply grades to the run's memories, in one transaction.

    A step is found by id, in this run and then in the session's others; without an id by its number in this run.
    Grades of unknown steps are listed in `GradingReport.unknown`; steps without a grade stay pending. Grading again is
    allowed: the last grade counts, all are kept, and equal ones in a row are stored once. An incomplete task is noted
    on all memories of the run. `actor` is the person who grades, by default the memory's own. Raises `InvalidInput` (a
    `ValueError`) for an invalid grade.
    """
    require_instance(EpisodeContext, context, "the context of a run")
    source, role = require_member(GradeSource, source, "source"), require_member(Role, role, "role")
    require_text(actor, "actor")
    require_text(grader, "grader")
    service = context.episodic.memory
    result = clean_result(service.core.redactor, grading_result(grades))
    is_person = source is GradeSource.PERSON
    with service.store.write() as tx:
        judge = _Judge(
            actor=(actor or context.scope.person) if is_person else "",
            role=role,
            source=source,
            grader=grader,
            at=service.clock(),
        )
        graded, unknown = _grade_steps(tx, context, result, judge)
        _grade_run(tx, context, result, judge)
        after = entries_of(tx, context.episodic, context.session_id)
    mine = [entry.memory for entry in after if entry.episode.run_id == context.run.node_run]
    return GradingReport(
        updated=tuple(entry.memory for entry in after if entry.memory.id in graded),
        unknown=tuple(unknown),
        pending=tuple(entry for entry in mine if entry.outcome is Outcome.PENDING),
    )


def _grade_steps(
    tx: Transaction, context: EpisodeContext, result: GradingResult, judge: _Judge
) -> tuple[set[int], list[StepGrade]]:
    """Store the grades of steps. Returns the ids of the graded memories, and the grades of unknown steps."""
    entries = entries_of(tx, context.episodic, context.session_id)
    graded: set[int] = set()
    unknown: list[StepGrade] = []
    for each in result.step_grades:
        entry = _find(entries, context.run.node_run, each)
        if entry is None:
            unknown.append(each)
            continue
        graded.add(entry.memory.id)
        grade = judge.grade(each.is_correct, each.explanation, each.correction, each.confidence)
        _add(tx, context.episodic, entry.episode, grade, judge)
    return graded, unknown


def _find(entries: Sequence[EpisodeEntry], node_run: str, grade: StepGrade) -> EpisodeEntry | None:
    """The graded step: by id in this run, then in the newest other run that has it; by number in this run only."""
    if grade.step_id:
        named = [entry for entry in entries if entry.memory.step_id == grade.step_id]
        here = [entry for entry in named if entry.episode.run_id == node_run]
        return (here or named)[-1] if named else None
    found = (e for e in entries if e.episode.run_id == node_run and e.memory.step_num == grade.step_number)
    return next(found, None)


def _grade_run(tx: Transaction, context: EpisodeContext, result: GradingResult, judge: _Judge) -> None:
    """Store the grade of the whole run with the run's root episode."""
    run = known_run(tx, context.scope, context.session_id, context.run_id)
    root = tx.episodes.get(run.workspace, run.root_id) if run is not None and run.root_id else None
    if root is None or result.task_completed is None:
        return
    grade = judge.grade(result.task_completed, result.overall_explanation, "", result.completion_confidence)
    _add(tx, context.episodic, root, grade, judge)


def _add(tx: Transaction, episodic: EpisodicMemory, episode: Episode, grade: Grade, judge: _Judge) -> None:
    known = [g for g in tx.steps.grades(episode.workspace, [episode.id]).get(episode.id, []) if g.actor == judge.actor]
    same = [g.grade for g in known if g.grade.source is grade.source]
    if not same or replace(same[-1], at=grade.at) != grade:
        tx.steps.add_grade(
            StoredGrade(workspace=episode.workspace, episode_id=episode.id, actor=judge.actor, grade=grade)
        )
    if grade.source is GradeSource.PERSON:
        cast_vote(tx, episodic, episode, grade.is_correct, judge.actor, judge.role, grade.at, grade.explanation)


def cast_vote(
    tx: Transaction,
    episodic: EpisodicMemory,
    episode: Episode,
    is_correct: bool,
    actor: str,
    role: Role,
    at: datetime,
    reason: str,
) -> None:
    """Write one person's vote on one node."""
    vote = vote_of(episodic, episode, is_correct, actor, role, at, reason)
    write_votes(episodic.memory.core, tx, at, *vote.reactions, reason=vote.reason)


def vote_of(
    episodic: EpisodicMemory, episode: Episode, is_correct: bool, actor: str, role: Role, at: datetime, reason: str
) -> ReactionSet:
    """A vote on a node to be written. It has no reason if not all readers of the node may see the reason."""
    if visibility_about(episode, episodic.scope) is not episode.visibility:
        reason = ""
    vote = Reaction.on_run(episode, actor, "grade", 1 if is_correct else -1, at, role=role, node_id=episode.id)
    return ReactionSet(reactions=(vote,), at=at, reason=reason)


def grade_run(
    context: EpisodeContext,
    grader: Grader | None = None,
    *,
    expected_actions: Sequence[ExpectedAction] = (),
    verifiers: Sequence[Verifier] = (),
    host: str = "",
) -> GradingReport:
    """Ask a grader, by default the one that was set, to judge the run's memories, and apply its grades.

    A model is asked only about runs without votes. Raises `GraderMissing` if none is set.
    """
    require_instance(EpisodeContext, context, "the context of a run")
    asked = grader if grader is not None else get_grader()
    source = source_of(asked)
    service = context.episodic.memory
    with service.store.read() as tx:
        entries = entries_of(tx, context.episodic, context.session_id)
        votes = tx.teaching.votes(context.run.workspace, context.run.node_run)
    mine = [entry.memory for entry in entries if entry.episode.run_id == context.run.node_run]
    if not mine or (source is GradeSource.MODEL and votes):
        return GradingReport(pending=tuple(entry for entry in mine if entry.outcome is Outcome.PENDING))
    request = GradingRequest(
        session_id=context.session_id,
        run_id=context.run_id,
        task_description=context.run.task,
        steps=tuple(_to_grade(entry) for entry in mine),
        expected_actions=tuple(expected_actions),
        verifiers=tuple(verifiers),
        host=host,
    )
    result = asked.grade(request)
    return add_grades_to_memories(context, result or GradingResult(), source=source, grader=name_of(asked))


def _to_grade(entry: MemoryEntry) -> StepToGrade:
    call = entry.call
    return StepToGrade(
        step_id=entry.step_id,
        step_num=entry.step_num,
        action=entry.action,
        semantic_action=f"{call.type}: '{entry.action_element_text or call.target}'",
        url=entry.env_pre.url,
        details=dict(entry.env_pre.details),
    )


class ReactionGrader:
    """A grader that reports the verdicts by people's reactions to the answer. It adds no votes."""

    source = GradeSource.REACTION
    name = "reactions"

    def __init__(self, episodic: EpisodicMemory) -> None:
        self._episodic = require_instance(EpisodicMemory, episodic, "the memory of a grader")

    def grade(self, request: GradingRequest) -> GradingResult | None:
        """The steps with a decided verdict, and the task if the run's is decided. None if nothing is decided.

        Without people's words, which would outlive them when they are forgotten.
        """
        require_instance(GradingRequest, request, "what a grader is asked")
        scope = self._episodic.scope
        with self._episodic.memory.store.read() as tx:
            run = known_run(tx, scope, request.session_id, request.run_id)
            entries = entries_of(tx, self._episodic, request.session_id) if run else []
            root = tx.episodes.get(run.workspace, run.root_id) if run and run.root_id else None
        decided = tuple(
            StepGrade(
                step_id=entry.memory.step_id,
                step_number=entry.memory.step_num,
                action=entry.memory.action,
                is_correct=asker_verdict(entry.episode) is Verdict.SUCCESS,
            )
            for entry in entries
            if run and entry.episode.run_id == run.node_run and asker_verdict(entry.episode).is_validated
        )
        whole = asker_verdict(root) if root is not None else Verdict.PENDING
        if not decided and not whole.is_validated:
            return None
        return GradingResult(
            task_completed=whole is Verdict.SUCCESS if whole.is_validated else None, step_grades=decided
        )
