"""What a workspace knows, by meaning: its lessons, and the questions that nobody could answer, on a plane."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.model import Episode, Termination, Vector, Verdict
from memory.ports import EpisodeFilter
from memory.rules.evidence.coverage import SETTLED_FROM, greedy_cover
from memory.rules.evidence.weighing import rows
from memory.rules.plane import Plane, lay_out
from memory.services.core import Core
from memory.services.reports.gaps import Gap, has_no_answer, is_open, vectors_of

LESSONS = 400
"""So many lessons are on it, the newest."""
QUESTIONS = 150
"""So many of the newest questions without an answer are looked at."""
LOOKED_AT = 50_000
"""They are looked for among so many of the newest episodes."""
NEXT = 8
"""How many questions to teach next are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeMap:
    """Lessons first, then gaps, each at its place of the plane."""

    lessons: tuple[Episode, ...]
    gaps: tuple[Episode, ...]
    """Questions without an answer that no approved lesson here would settle."""
    plane: Plane
    next: tuple[Gap, ...]
    """What to teach next: first the question whose answer settles most of the gaps."""
    is_whole: bool
    """Whether there are no older ones that are not on it."""

    @property
    def points(self) -> tuple[Episode, ...]:
        """What is on it, in the order of the plane's places."""
        return (*self.lessons, *self.gaps)


@dataclass(frozen=True, slots=True)
class KnowledgeMaps:
    """Use case of those who want to look at all of it at once. Reading changes nothing."""

    _core: Core

    def of(self, workspace: str, *, public_only: bool = False) -> KnowledgeMap:
        """The map of a workspace, or of what was said in public there. Costs three statements, whatever there is."""
        wanted = EpisodeFilter(roots_only=True, public_only=public_only, newest=LOOKED_AT)
        with self._core.store.read() as tx:
            judged = tx.episodes.search(workspace, replace(wanted, judged_only=True, limit=LESSONS))
            given_up = tx.episodes.search(workspace, replace(wanted, termination=Termination.FAILURE, limit=QUESTIONS))
            vectors = vectors_of(self._core, tx, workspace, {each.id: each for each in [*judged, *given_up]})
        lessons = [each for each in judged if not has_no_answer(each) and not each.quarantine and each.id in vectors]
        asked = {each.id: each for each in [*given_up, *judged] if has_no_answer(each)}
        gaps = _unsettled([each for each in asked.values() if is_open(each) and each.id in vectors], lessons, vectors)
        points = [*lessons, *gaps]
        return KnowledgeMap(
            lessons=tuple(lessons),
            gaps=tuple(gaps),
            plane=lay_out([each.goal for each in points], [vectors[each.id] for each in points]),
            next=tuple(_next(gaps, vectors)),
            is_whole=len(judged) < LESSONS,
        )


def _unsettled(asked: Sequence[Episode], lessons: Sequence[Episode], vectors: dict[str, Vector]) -> list[Episode]:
    """The questions that no approved lesson which their asker meets comes near enough to answer."""
    right = [each for each in lessons if each.verdict is Verdict.SUCCESS]
    if not asked or not right:
        return list(asked)
    near = rows([vectors[each.id] for each in asked]) @ rows([vectors[each.id] for each in right]).T >= SETTLED_FROM
    return [
        each
        for each, hits in zip(asked, near, strict=True)
        if not any(hit and _meets(each, lesson) for hit, lesson in zip(hits, right, strict=True))
    ]


def _meets(question: Episode, lesson: Episode) -> bool:
    """Whether the lesson is one for whoever asked, where they asked, or for everybody."""
    verdicts = lesson.verdicts
    return (
        verdicts.workspace is Verdict.SUCCESS
        or (verdicts.channel is Verdict.SUCCESS and lesson.channel == question.channel)
        or question.person in (lesson.person, lesson.author)
    )


def _next(gaps: Sequence[Episode], vectors: dict[str, Vector]) -> list[Gap]:
    groups = greedy_cover([vectors[each.id] for each in gaps], NEXT)
    return [Gap(episode=gaps[first], like=tuple(gaps[n] for n in settled[1:])) for first, settled in groups]
