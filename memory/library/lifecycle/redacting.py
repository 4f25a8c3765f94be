"""Redacts secrets in episodes, steps and grades, and drops flagged texts of graders, before they are stored."""

from collections.abc import Mapping
from dataclasses import replace

from memory.library.grading import GradingResult
from memory.model import EnvironmentState, Episode, Grade, MemoryEntry
from memory.rules.quarantine import flags
from memory.rules.redaction import Redactor


def clean_environment(redactor: Redactor, seen: EnvironmentState) -> EnvironmentState:
    """An environment without secrets."""
    details = redactor.value(seen.details)
    return replace(
        seen,
        elements=tuple(map(redactor.text, seen.elements)),
        url=redactor.text(seen.url),
        details=details if isinstance(details, Mapping) else {},
    )


def clean_episode(redactor: Redactor, episode: Episode) -> Episode:
    """An imported episode without secrets, and without a flagged reason or correction."""
    kept = redactor.episode(episode)
    reason, correction = _unflagged(kept.outcome_reason), _unflagged(kept.correction)
    if (reason, correction) == (kept.outcome_reason, kept.correction):
        return kept  # most often; `replace` is slow
    return replace(kept, outcome_reason=reason, correction=correction)


def clean_entry(redactor: Redactor, entry: MemoryEntry) -> MemoryEntry:
    """An entry without secrets."""
    return replace(
        entry,
        env_pre=clean_environment(redactor, entry.env_pre),
        env_post=clean_environment(redactor, entry.env_post),
        internal_state=redactor.text(entry.internal_state),
        think=redactor.text(entry.think),
        action=redactor.text(entry.action),
        action_element_text=redactor.text(entry.action_element_text),
        outcome_reason=_clean(redactor, entry.outcome_reason),
        correction=_clean(redactor, entry.correction),
        task_incomplete=_clean(redactor, entry.task_incomplete),
        grades=tuple(_clean_grade(redactor, grade) for grade in entry.grades),
        run_grades=tuple(_clean_grade(redactor, grade) for grade in entry.run_grades),
    )


def _clean_grade(redactor: Redactor, grade: Grade) -> Grade:
    return replace(
        grade, explanation=_clean(redactor, grade.explanation), correction=_clean(redactor, grade.correction)
    )


def clean_result(redactor: Redactor, result: GradingResult) -> GradingResult:
    """A grader's result without secrets and flagged texts."""
    return replace(
        result,
        overall_explanation=_clean(redactor, result.overall_explanation),
        step_grades=tuple(
            replace(each, explanation=_clean(redactor, each.explanation), correction=_clean(redactor, each.correction))
            for each in result.step_grades
        ),
    )


def _clean(redactor: Redactor, text: str) -> str:
    """A grader's text without secrets; empty if it is flagged."""
    return _unflagged(redactor.text(text))


def _unflagged(text: str) -> str:
    """A grader's text; empty if it is flagged, as it enters prompts without review."""
    return "" if flags(text) else text
