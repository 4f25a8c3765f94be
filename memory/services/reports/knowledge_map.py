"""The knowledge map: a workspace's lessons and unanswered questions on a plane, arranged by meaning."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.model import Episode, Termination, Vector, Verdict
from memory.ports import EpisodeFilter
from memory.rules.evidence.coverage import SETTLED_FROM
from memory.rules.evidence.weighing import as_matrix
from memory.rules.map_layout import MapLayout, lay_out
from memory.services.core import Core
from memory.services.reports.gaps import Gap, covering, has_no_answer, is_open, vectors_of

LESSONS = 400
"""The most lessons on the map, the newest first."""
QUESTIONS = 150
"""How many of the newest unanswered questions are considered."""
LOOKED_AT = 50_000
"""Among how many of the newest episodes they are searched for."""
NEXT = 8
"""How many questions to teach next are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeMap:
    """A knowledge map: lessons, then gaps, with their places on the plane."""

    lessons: tuple[Episode, ...]
    gaps: tuple[Episode, ...]
    """Unanswered questions that no approved lesson on the map would settle."""
    layout: MapLayout
    next: tuple[Gap, ...]
    """The questions to teach next, those first whose answer settles most of the gaps."""
    is_whole: bool
    """Whether nothing older was left out."""

    @property
    def points(self) -> tuple[Episode, ...]:
        """The episodes on the map, in the order of their places."""
        return (*self.lessons, *self.gaps)


@dataclass(frozen=True, slots=True)
class KnowledgeMaps:
    """The use case of the knowledge map. It only reads."""

    _core: Core

    def of(self, workspace: str, *, public_only: bool = False) -> KnowledgeMap:
        """The map of a workspace, or only of what was said in public there. Costs three SQL statements."""
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
            layout=lay_out([each.goal for each in points], [vectors[each.id] for each in points]),
            next=tuple(covering(gaps, vectors, NEXT)),
            is_whole=len(judged) < LESSONS,
        )


def _unsettled(asked: Sequence[Episode], lessons: Sequence[Episode], vectors: dict[str, Vector]) -> list[Episode]:
    """The questions to which no approved lesson that their asker may see is near enough to answer them."""
    right = [each for each in lessons if each.verdict is Verdict.SUCCESS]
    if not asked or not right:
        return list(asked)
    is_near = (
        as_matrix([vectors[each.id] for each in asked]) @ as_matrix([vectors[each.id] for each in right]).T
        >= SETTLED_FROM
    )
    return [
        each
        for each, hits in zip(asked, is_near, strict=True)
        if not any(hit and _meets(each, lesson) for hit, lesson in zip(hits, right, strict=True))
    ]


def _meets(question: Episode, lesson: Episode) -> bool:
    """Whether the lesson counts for the asker: it is their own, or for their channel or everybody."""
    verdicts = lesson.verdicts
    return (
        verdicts.workspace is Verdict.SUCCESS
        or (verdicts.channel is Verdict.SUCCESS and lesson.channel == question.channel)
        or question.person in (lesson.person, lesson.author)
    )
