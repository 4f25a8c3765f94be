"""A cache of what lessons are weighed by, in this process: nothing of it is read again until something changed.

It is good for one mark of the workspace (`lesson_version`), which each search reads with the index, in the transaction
that asks. So a change is in the next recall, whoever made it, and what was erased is erased here with it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock

from memory.adapters.sql.session import Session
from memory.adapters.sql.summaries import weighing_input
from memory.ports import LessonSummary, WeighingInput

MOST_BYTES = 24 * 2**20
"""How much of lessons is kept."""
_OF_ONE = 2000
"""About what a lesson takes beside its texts, once it is judged; and what is read beside lessons for one channel."""


@dataclass(slots=True)
class _Known:
    """What is known of one workspace at one mark."""

    mark: int
    lessons: dict[str, LessonSummary] = field(default_factory=dict[str, LessonSummary])
    """In order of use."""
    beside: dict[str, WeighingInput] = field(default_factory=dict[str, WeighingInput])
    """By channel, without lessons."""
    nbytes: int = 0


class LessonCache:
    """What was read by workspace, those used last, up to a number of bytes. Safe for threads."""

    def __init__(self, budget: int = MOST_BYTES) -> None:
        self._budget = budget
        self._known: dict[str, _Known] = {}
        """In order of use."""
        self._lock = Lock()

    def weighing_input(
        self, session: Session, workspace: str, channel: str, episode_ids: Collection[str]
    ) -> WeighingInput:
        """`EpisodeTable.weighing_input`."""
        mark = session.mark_of(workspace)
        if mark is None:
            return weighing_input(session, workspace, channel, episode_ids)
        with self._lock:
            known = self._at(workspace, mark)
            lessons = {each: known.lessons.pop(each) for each in episode_ids if each in known.lessons}
            known.lessons |= lessons
            beside = known.beside.get(channel)
        if beside is None or len(lessons) < len(episode_ids):
            read = weighing_input(session, workspace, channel, [each for each in episode_ids if each not in lessons])
            lessons |= read.lessons
            beside = read._replace(lessons={})
            with self._lock:
                self._keep(known, channel, read.lessons, beside)
        return beside._replace(lessons=lessons)

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._known.clear()

    def _at(self, workspace: str, mark: int) -> _Known:
        """What is known, as of the workspace used last."""
        known = self._known.pop(workspace, None)
        if known is None or known.mark != mark:
            known = _Known(mark)
        self._known[workspace] = known
        return known

    def _keep(self, known: _Known, channel: str, lessons: Mapping[str, LessonSummary], beside: WeighingInput) -> None:
        new = {name: lesson for name, lesson in lessons.items() if name not in known.lessons}
        known.nbytes += sum(map(_nbytes, new.values())) + (0 if channel in known.beside else _OF_ONE)
        known.lessons |= new
        known.beside[channel] = beside
        nbytes = sum([each.nbytes for each in self._known.values()])
        while nbytes > self._budget:
            nbytes -= self._dropped()

    def _dropped(self) -> int:
        """Drop what was used longest ago; how many bytes that were."""
        workspace, oldest = next(iter(self._known.items()))
        if not oldest.lessons:
            return self._known.pop(workspace).nbytes
        nbytes = _nbytes(oldest.lessons.pop(next(iter(oldest.lessons))))
        oldest.nbytes -= nbytes
        return nbytes


def _nbytes(lesson: LessonSummary) -> int:
    return _OF_ONE + len(lesson.goal) + len(lesson.output)
