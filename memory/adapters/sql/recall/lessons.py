"""Reads and caches the lessons for weighing evidence, each with its votes, and the other input, in one statement.

Each search reads the workspace's mark (`lesson_versions`) with the index, in its own transaction. Cached lessons of
another mark are read again, so changes by any process take effect in the next recall; a lesson whose rows are unchanged
keeps its object. If something was erased, the workspace's whole cache is dropped, and of a transaction that began
before the process saw that, nothing is kept: its snapshot may still have what was erased.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from sys import intern
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Integer,
    Select,
    String,
    any_,
    bindparam,
    cast,
    exists,
    literal,
    null,
    select,
    type_coerce,
    union_all,
)

from memory.adapters.row_validation import chunks
from memory.adapters.sql.recall.lesson_rows import AND, COLUMNS, LESSON, LESSONS, NUMBERS
from memory.adapters.sql.recall.stored_threshold import stored_threshold
from memory.adapters.sql.tables.administration import rules, settings
from memory.adapters.sql.tables.episodes import episodes
from memory.adapters.sql.tables.lesson_versions import erasures
from memory.adapters.sql.tables.teaching import thresholds
from memory.adapters.sql.tables.types import UtcDateTime, trajectory
from memory.adapters.sql.transaction.session import Session, matching
from memory.model import Origin, Role, Standing, options_of
from memory.model.chat_setting import ChatSetting
from memory.model.evidence import Threshold
from memory.ports import Ballot, LessonSummary, WeighingInput

_t = episodes.c
_SETTING, _THRESHOLD, _RULES = "setting", "threshold", "rules"


def _other_input(what: str, **given: ColumnElement[Any]) -> Select[Any]:
    """A query of other input, in the columns of lessons, which come first and give empty columns their types."""
    return select(literal(what), *(given.get(name, null()) for name in (*COLUMNS, *NUMBERS)))


_s = settings.c
_here = bindparam("here", type_=String())
_OF_VOTE = itemgetter(9, 10)
_OUTPUT = 7
_SPARE = 500
"""How many outputs of dropped lessons may stay in `_WorkspaceCache.of_output` beyond twice the number of lessons."""
_FEW, _MANY = 48, 500
"""The two numbers of lessons for which a statement is built: building one for each number takes longer than running.
Unused ids are empty."""
# Enumerations by stored value, as look-ups are faster than calls of the class.
_ORIGINS = {each.value: each for each in Origin}
_ROLES = {each.value: each for each in Role}
_STANDINGS = {each.value: each for each in Standing}


@cache
def _lessons(count: int) -> Select[Any]:
    """The statement for `count` lessons."""
    return LESSONS.where(_t.id.in_([bindparam(f"e{n}", type_=String()) for n in range(count)]))


@cache
def _listed_lessons() -> Select[Any]:
    """The statement for a list of lessons in one parameter, which only PostgreSQL has.

    psycopg reads a statement anew at each execution if it has over 50 parameters or 4,096 characters
    (`psycopg/_queries.py`), and PostgreSQL would plan it anew for each number of lessons.
    """
    return LESSONS.where(_t.id == any_(bindparam("ids", type_=ARRAY(String()))))


@cache
def _with_other_input(lessons: Select[Any]) -> CompoundSelect[Any]:
    """The statement for these lessons and the other input."""
    return union_all(
        lessons,
        _other_input(
            _SETTING,
            run_id=_s.channel,
            goal=_s.name,
            output=_s.value,
            author=_s.changed_by,
            decided_at=type_coerce(_s.at, BigInteger()),
        ).where(matching(settings), _s.channel.in_(["", _here])),
        _other_input(
            _THRESHOLD,
            output=type_coerce(thresholds.c.reliability, String()),
            threshold=thresholds.c.value,
            budget=thresholds.c.budget,
            confusion=thresholds.c.confusion,
        ).where(matching(thresholds)),
        _other_input(_RULES, value=cast(literal(1), Integer)).where(
            exists().where(rules.c.workspace == bindparam("workspace", type_=String()))
        ),
    )


class ReadLesson(NamedTuple):
    """A cached lesson, with this process's hash of the rows it was made from, to save the memory of the rows."""

    lesson: LessonSummary
    digest: int
    mark: int
    """The workspace's mark when it was read."""

    @property
    def nbytes(self) -> int:
        """Its approximate size in memory."""
        return _LESSON_BYTES + len(self.lesson.goal) + len(self.lesson.output)


def weighing_input(
    session: Session,
    workspace: str,
    channel: str,
    episode_ids: Iterable[str],
    known: Mapping[str, ReadLesson],
    mark: int = 0,
    other_input: WeighingInput | None = None,
) -> tuple[dict[str, ReadLesson], WeighingInput]:
    """The lessons and the other input of `EpisodeTable.weighing_input`.

    Lessons in `known` are reused if their rows have the same hash. `other_input` is not read again.
    """
    of_one: dict[str, list[Any]] = {}
    rows_of: dict[str, list[Any]] = {}
    for ids in list(chunks(dict.fromkeys(episode_ids), _MANY)) or [[]]:
        rows_of = {_SETTING: [], _THRESHOLD: [], _RULES: []}
        for row in _rows(session, workspace, channel, ids, has_other_input=other_input is None):
            if row[0] == LESSON:
                of_one.setdefault(row[1], []).append(row)
            else:
                rows_of[row[0]].append(row)
    with session.readable():
        lessons = {
            episode_id: made._replace(mark=mark)
            if (made := known.get(episode_id)) is not None and made.digest == digest
            else ReadLesson(_summary(rows), digest, mark)
            for episode_id, rows in of_one.items()
            for digest in (hash(tuple(rows)),)
        }
        return lessons, other_input or WeighingInput(
            lessons={},
            threshold=_threshold(workspace, rows_of[_THRESHOLD]),
            settings=tuple([_setting(workspace, row) for row in rows_of[_SETTING]]),
            has_rules=bool(rows_of[_RULES]),
        )


def _rows(
    session: Session, workspace: str, channel: str, ids: Sequence[str], *, has_other_input: bool
) -> Sequence[Sequence[Any]]:
    """The rows of these lessons, and of the other input if wanted. All of `_MANY` ids at most."""
    given: dict[str, Any] = {"workspace": workspace}
    if session.is_sqlite:
        count = _FEW if len(ids) <= _FEW else _MANY
        given |= {f"e{n}": each for n, each in enumerate([*ids, *[""] * (count - len(ids))])}
        statement = _lessons(count)
    else:
        given["ids"] = ids
        statement = _listed_lessons()
    if not has_other_input:
        return session.driver_rows(statement, given)
    return session.driver_rows(_with_other_input(statement), {**given, "here": channel})


def _threshold(workspace: str, rows: Sequence[Sequence[Any]]) -> Threshold | None:
    if not rows:
        return None
    value, budget, confusion = rows[0][-len(NUMBERS) :]
    return stored_threshold(workspace, budget, value, confusion, rows[0][_OUTPUT])


def _setting(workspace: str, row: Sequence[Any]) -> ChatSetting:
    _, _, channel, name, _, changed_by, _, value, at = row[:9]
    return ChatSetting(
        workspace=workspace,
        channel=channel,
        name=name,
        value=value,
        changed_by=changed_by,
        at=UtcDateTime.of_stored(at),
    )


def _summary(rows: Sequence[Any]) -> LessonSummary:
    """One lesson from its rows: one for each vote, or one without a vote.

    A person's vote on the node replaces their vote on the whole answer (`memory.rules.verdict.ballots`).
    """
    _, episode_id, run_id, goal, origin, author, action, output, decided_at, *_, asked, corrected_by = rows[0][:17]
    if len(rows) > 1:
        rows = sorted(rows, key=_OF_VOTE)
    decided = UtcDateTime.of_stored(decided_at)
    votes_on: dict[str, Ballot] = {}
    for row in rows:
        _, actor, role, value, is_limited, source, _, _, standing, right, wrong, at = row[9:21]
        if actor is not None:
            votes_on[actor] = Ballot(
                author if actor == author else actor,
                _ROLES[role],
                value,
                bool(is_limited),
                intern(source),
                _STANDINGS[standing],
                right,
                wrong,
                decided if at == decided_at else UtcDateTime.of_stored(at),
            )
    return LessonSummary(
        episode_id,
        run_id,
        goal,
        _ORIGINS[origin],
        intern(author),
        intern(action),
        output,
        decided,
        tuple(votes_on.values()),
        options_of(trajectory.from_stored(asked) or ()) if asked else (),
        tuple(sorted(corrected_by.split(AND))) if corrected_by else (),
    )


MOST_BYTES = 24 * 2**20
"""The default size of the cache in bytes."""
_LESSON_BYTES = 2000
"""The approximate bytes of a judged lesson without its texts, and of the other input for one channel."""


@dataclass(slots=True)
class _WorkspaceCache:
    """The cache of one workspace."""

    mark: int
    """The workspace's mark at the last request."""
    is_latest: bool
    """Whether no erasure after this mark is known. Else nothing is kept."""
    since: int
    """The number of the erasure with which this cache began (`LessonCache.erasures_seen`)."""
    lessons: dict[str, ReadLesson] = field(default_factory=dict[str, ReadLesson])
    """By id, in order of use."""
    of_output: dict[int, str] = field(default_factory=dict[int, str])
    """By hash of the output, the lesson read last with it, to store equal outputs once."""
    other_input: dict[str, WeighingInput] = field(default_factory=dict[str, WeighingInput])
    """The other input by channel, without lessons."""
    nbytes: int = 0


class LessonCache:
    """A cache of lessons by workspace. Drops the least recently used ones above `budget` bytes. Safe for threads."""

    def __init__(self, budget: int = MOST_BYTES) -> None:
        self._budget = budget
        self._known: dict[str, _WorkspaceCache] = {}
        """In order of use."""
        self._lock = Lock()
        self._dropped = 0
        """The number of the last erasure after which caches of workspaces were dropped whole."""
        self.erasures_seen = 0
        """How many erasures this process may have seen. A transaction notes the number before it begins."""

    def weighing_input(
        self, session: Session, workspace: str, channel: str, episode_ids: Collection[str]
    ) -> WeighingInput:
        """As `EpisodeTable.weighing_input`."""
        mark = session.mark_of(workspace)
        if mark is None:
            read, other_input = weighing_input(session, workspace, channel, episode_ids, {})
            return other_input._replace(lessons={name: each.lesson for name, each in read.items()})
        with self._lock:
            known = self._cache_of(session, workspace, mark)
            kept = {each: known.lessons.pop(each) for each in episode_ids if each in known.lessons}
            known.lessons |= kept
            known_input = known.other_input.get(channel)
        lessons = {name: each.lesson for name, each in kept.items() if each.mark == mark}
        if known_input is None or len(lessons) < len(episode_ids):
            missing = [each for each in episode_ids if each not in lessons]
            read, known_input = weighing_input(session, workspace, channel, missing, kept, mark, known_input)
            lessons |= {name: each.lesson for name, each in read.items()}
            with self._lock:
                self._keep(known, mark, channel, read, known_input)
        return known_input._replace(lessons=lessons)

    def note_mark(self, session: Session, workspace: str) -> None:
        """Drop the workspace's cache if its mark, as the transaction has just read it, says that something was erased.

        So what is read later by an older transaction is not kept either.
        """
        mark = session.mark_of(workspace)
        if mark is not None:
            with self._lock:
                self._cache_of(session, workspace, mark)

    def workspaces(self) -> list[str]:
        """The workspaces that have a cache."""
        with self._lock:
            return list(self._known)

    def clear(self) -> None:
        """Drop everything, after something was erased."""
        with self._lock:
            self._known.clear()
            self._dropped = self.next_erasure()

    def next_erasure(self) -> int:
        """The number of an erasure that the process has just seen."""
        self.erasures_seen += 1
        return self.erasures_seen

    def _cache_of(self, session: Session, workspace: str, mark: int) -> _WorkspaceCache:
        """The cache of a workspace for this mark; moves it to the end of the order of use.

        Marks have no order. If something was erased, a transaction that began after the process saw the previous mark
        has the later one. Of any other, nothing is kept, and nothing that was kept may stay, until a transaction that
        began since has the same mark.
        """
        known = self._known.pop(workspace, None)
        if known is None or erasures(known.mark) != erasures(mark):
            is_later = session.erasures_seen >= (self._dropped if known is None else known.since)
            known = _WorkspaceCache(mark, is_later, self.next_erasure())
        known.is_latest = known.is_latest or session.erasures_seen >= known.since
        if known.mark != mark:
            known.nbytes -= _LESSON_BYTES * len(known.other_input)
            known.mark, known.other_input = mark, {}
        self._known[workspace] = known
        return known

    def _keep(
        self,
        known: _WorkspaceCache,
        mark: int,
        channel: str,
        lessons: Mapping[str, ReadLesson],
        other_input: WeighingInput,
    ) -> None:
        if not known.is_latest:
            return
        for name, lesson in lessons.items():
            if name in known.lessons:
                known.nbytes -= known.lessons.pop(name).nbytes
            self._share(known, name, lesson.lesson)
            known.lessons[name] = lesson
            known.nbytes += lesson.nbytes
        if known.mark == mark:  # another thread may have read a later one meanwhile
            known.nbytes += 0 if channel in known.other_input else _LESSON_BYTES
            known.other_input[channel] = other_input
        nbytes = sum([each.nbytes for each in self._known.values()])
        while nbytes > self._budget:
            nbytes -= self._drop_oldest()

    def _share(self, known: _WorkspaceCache, name: str, lesson: LessonSummary) -> None:
        """Replace the lesson's output by the equal text of a cached lesson, if there is one."""
        output = hash(lesson.output)
        other = known.lessons.get(known.of_output.get(output, ""))
        if other is not None and other.lesson.output == lesson.output:
            lesson.output = other.lesson.output
        elif len(known.of_output) > 2 * len(known.lessons) + _SPARE:  # most are of dropped lessons
            known.of_output = {hash(each.lesson.output): kept for kept, each in known.lessons.items()}
        known.of_output[output] = name

    def _drop_oldest(self) -> int:
        """Drop the least recently used lesson, or a workspace without lessons; returns the bytes freed."""
        workspace, oldest = next(iter(self._known.items()))
        if not oldest.lessons:
            self._dropped = self.next_erasure()
            return self._known.pop(workspace).nbytes
        nbytes = oldest.lessons.pop(next(iter(oldest.lessons))).nbytes
        oldest.nbytes -= nbytes
        return nbytes
