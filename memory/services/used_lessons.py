"""The lessons an answer rests on, as they are named under it."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.model import Episode, LinkKind, Origin, Signal
from memory.ports import Transaction
from memory.services.model_grading import guess_of
from memory.services.shown import ShownLesson


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLesson:
    """A remembered lesson that an answer rests on."""

    episode: Episode
    relevance: float
    is_guess: bool = False
    """Whether only a model judged it."""


def used_of(tx: Transaction, workspace: str, shown: Sequence[ShownLesson]) -> tuple[UsedLesson, ...]:
    """Those of a run that is being committed, most relevant first."""
    used = [
        UsedLesson(
            episode=each.exemplar.episode,
            relevance=each.exemplar.relevance,
            is_guess=each.exemplar.is_guess,
        )
        for each in shown
        if each.evidence.signal is Signal.USED
    ]
    return _once(tx, workspace, used)


def used_in(tx: Transaction, workspace: str, run_id: str) -> tuple[UsedLesson, ...]:
    """The same of a run that was committed, as its lessons are now."""
    items = [item for _, items in tx.retrievals.of_run(workspace, run_id) for item in items]
    used = [item for item in items if item.signal is Signal.USED]
    episodes = tx.episodes.get_many(workspace, {item.episode_id for item in used})
    grades = tx.steps.grades(workspace, [each.id for each in episodes.values() if not each.verdict.is_validated])
    lessons = [
        UsedLesson(
            episode=episodes[item.episode_id],
            relevance=item.relevance,
            is_guess=guess_of(grades.get(item.episode_id, ())) is not None,
        )
        for item in used
        if item.episode_id in episodes
    ]
    return _once(tx, workspace, lessons)


def _once(tx: Transaction, workspace: str, used: Sequence[UsedLesson]) -> tuple[UsedLesson, ...]:
    """Each once, most relevant first.

    A mistake whose correction was used as well is not named beside it: to a person they are one lesson.
    """
    best: dict[str, UsedLesson] = {}
    for lesson in used:
        known = best.get(lesson.episode.id)
        if known is None or lesson.relevance > known.relevance:
            best[lesson.episode.id] = lesson
    corrected: set[str] = set()
    if len(best) > 1 and any(lesson.episode.origin is Origin.CORRECTION for lesson in best.values()):
        links = tx.episodes.links(workspace, best, LinkKind.CORRECTS)
        corrected = {link.to_id for link in links if link.from_id in best}
    named = (lesson for lesson in best.values() if lesson.episode.id not in corrected)
    return tuple(sorted(named, key=lambda lesson: (-lesson.relevance, lesson.episode.id)))
