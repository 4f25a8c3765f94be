"""A cache of what lessons are weighed by, in this process: nothing of it is read again until something changed.

It is good for one mark of the workspace (`lesson_versions`), which each search reads with the index, in the transaction
that asks. So a change is in the next recall, whoever made it: all is read again then, and what was made of it is used
again where that is the same. Where something was erased, all of the workspace is erased here with it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock

from memory.adapters.sql.recall.lessons import ReadLesson, weighing_input
from memory.adapters.sql.tables.lesson_versions import erasures
from memory.adapters.sql.transaction.session import Session
from memory.ports import WeighingInput

MOST_BYTES = 24 * 2**20
"""How much of lessons is kept."""
_OF_ONE = 2000
"""About what a lesson takes beside its texts, once it is judged; and what is read beside lessons for one channel."""


@dataclass(slots=True)
class _Known:
    """What is known of one workspace."""

    mark: int
    """The last one it was asked for."""
    lessons: dict[str, tuple[int, ReadLesson]] = field(default_factory=dict[str, tuple[int, ReadLesson]])
    """Each with the mark that it was read at, in order of use."""
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
            read, beside = weighing_input(session, workspace, channel, episode_ids, {})
            return beside._replace(lessons={name: each.lesson for name, each in read.items()})
        with self._lock:
            known = self._at(workspace, mark)
            kept = {each: known.lessons.pop(each) for each in episode_ids if each in known.lessons}
            known.lessons |= kept
            beside_known = known.beside.get(channel)
        lessons = {name: each.lesson for name, (read_at, each) in kept.items() if read_at == mark}
        if beside_known is None or len(lessons) < len(episode_ids):
            missing = [each for each in episode_ids if each not in lessons]
            before = {name: each for name, (_, each) in kept.items()}
            read, beside_known = weighing_input(session, workspace, channel, missing, before)
            lessons |= {name: each.lesson for name, each in read.items()}
            with self._lock:
                self._keep(known, mark, channel, read, beside_known)
        return beside_known._replace(lessons=lessons)

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._known.clear()

    def _at(self, workspace: str, mark: int) -> _Known:
        """What is known, as of the workspace used last."""
        known = self._known.pop(workspace, None)
        if known is None or erasures(known.mark) != erasures(mark):
            known = _Known(mark)
        elif known.mark != mark:
            known.nbytes -= _OF_ONE * len(known.beside)
            known.mark, known.beside = mark, {}
        self._known[workspace] = known
        return known

    def _keep(
        self, known: _Known, mark: int, channel: str, lessons: Mapping[str, ReadLesson], beside: WeighingInput
    ) -> None:
        for name, lesson in lessons.items():
            if name in known.lessons:
                known.nbytes -= _nbytes(known.lessons.pop(name)[1])
            known.lessons[name] = mark, lesson
            known.nbytes += _nbytes(lesson)
        if known.mark == mark:  # another thread may have met a later one meanwhile
            known.nbytes += 0 if channel in known.beside else _OF_ONE
            known.beside[channel] = beside
        nbytes = sum([each.nbytes for each in self._known.values()])
        while nbytes > self._budget:
            nbytes -= self._dropped()

    def _dropped(self) -> int:
        """Drop what was used longest ago; how many bytes that were."""
        workspace, oldest = next(iter(self._known.items()))
        if not oldest.lessons:
            return self._known.pop(workspace).nbytes
        nbytes = _nbytes(oldest.lessons.pop(next(iter(oldest.lessons)))[1])
        oldest.nbytes -= nbytes
        return nbytes


def _nbytes(lesson: ReadLesson) -> int:
    return _OF_ONE + lesson.nbytes
