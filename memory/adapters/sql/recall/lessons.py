"""Lessons as evidence is weighed, each with the votes on it, and what else a recall goes by: one narrow statement.

What is found is kept in this process until something changes. Each search reads the workspace's mark
(`lesson_versions`) with the index, in the transaction that asks, and what was kept at another mark is read again. So a
change is in the next recall, whoever made it. A lesson that is read as it was keeps what was made of it. Where
something was erased, all that is kept of the workspace is erased with it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from sys import intern
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Float,
    Integer,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    type_coerce,
    union_all,
)

from memory.adapters.row_validation import chunks
from memory.adapters.sql.tables.administration import rules, settings
from memory.adapters.sql.tables.episodes import episodes, links
from memory.adapters.sql.tables.lesson_versions import erasures
from memory.adapters.sql.tables.teaching import thresholds, trust_records, votes
from memory.adapters.sql.tables.types import UtcDateTime, nothing, shares, trajectory
from memory.adapters.sql.transaction.damage import FAULTS
from memory.adapters.sql.transaction.session import Session, matching
from memory.model import ASK, LinkKind, Origin, Role, Standing, Termination, options_of
from memory.model.chat_setting import ChatSetting
from memory.model.evidence import Threshold
from memory.ports import Ballot, LessonSummary, WeighingInput

_t = episodes.c
_v = votes.c
_LESSON, _SETTING, _BUDGET, _CONFUSION, _THRESHOLD, _RULES = (
    "lesson",
    "setting",
    "budget",
    "confusion",
    "threshold",
    "rules",
)
_AND = "\x1f"
_corrected_by = (
    select(func.aggregate_strings(links.c.from_id, _AND))
    .where(links.c.workspace == _t.workspace, links.c.to_id == _t.id, links.c.kind == LinkKind.CORRECTS)
    .scalar_subquery()
)
_columns: dict[str, ColumnElement[Any]] = {
    "id": _t.id,
    "run_id": _t.run_id,
    "goal": _t.goal,
    "origin": type_coerce(_t.origin, String()),
    "author": _t.author,
    "action": _t.action,
    "output": _t.output,
    "decided_at": func.coalesce(_t.graded_at, _t.created_at, type_=BigInteger()),
    "node_id": _v.node_id,
    "actor": _v.actor,
    "role": type_coerce(_v.role, String()),
    "value": _v.value,
    "is_limited": _v.is_limited,
    "source": _v.source,
    "asked": case((_t.action == ASK, type_coerce(_t.trajectory, String())), else_=null()),
    "corrected_by": case((_t.correction != "", _corrected_by), else_=null()),
    "standing": type_coerce(_v.standing, String()),
    "right": func.coalesce(trust_records.c.right, 0),
    "wrong": func.coalesce(trust_records.c.wrong, 0),
    "voted_at": type_coerce(_v.at, BigInteger()),
}
_LESSONS = (
    select(
        literal(_LESSON).label("what"),
        *(column.label(name) for name, column in _columns.items()),
        nothing(Float(53)).label("number"),
    )
    .join_from(
        episodes,
        votes,
        and_(
            _v.workspace == _t.workspace,
            _v.run_id == _t.run_id,
            _v.node_id.in_(["", _t.id]),
            or_(_v.node_id != "", _v.value > 0, _t.parent_id == "", _t.termination == Termination.FAILURE),
        ),
        isouter=True,
    )
    .outerjoin(trust_records, and_(trust_records.c.workspace == _v.workspace, trust_records.c.actor == _v.actor))
    .where(_t.workspace == bindparam("workspace", type_=String()), _t.archived_at.is_(None))
)


def _beside(what: str, number: ColumnElement[Any] | None = None, **given: ColumnElement[Any]) -> Select[Any]:
    """A row of something else, in the columns of lessons."""
    number = nothing(Float(53)) if number is None else number
    return select(literal(what), *(given.get(name, nothing(column.type)) for name, column in _columns.items()), number)


_s = settings.c
_here = bindparam("here", type_=String())
_OF_VOTE = itemgetter(9, 10)
_OUTPUT = 7
_SPARE = 500
"""How many outputs of lessons that were dropped are no burden."""
_SEVERAL, _AT_ONCE = 48, 500
"""How many lessons a statement reads: one for each number of them would take longer to put together than to run."""
# What the driver has, of which there is much, is turned into what it means by looking it up.
_ORIGINS = {each.value: each for each in Origin}
_ROLES = {each.value: each for each in Role}
_STANDINGS = {each.value: each for each in Standing}


@cache
def _weighing(count: int) -> CompoundSelect[Any]:
    """What is read for so many lessons."""
    ids = [bindparam(f"e{n}", type_=String()) for n in range(count)]
    return union_all(
        _LESSONS.where(_t.id.in_(ids)),
        _beside(
            _SETTING,
            run_id=_s.channel,
            goal=_s.name,
            output=_s.value,
            author=_s.changed_by,
            decided_at=type_coerce(_s.at, BigInteger()),
        ).where(matching(settings), _s.channel.in_(["", _here])),
        _beside(_BUDGET, thresholds.c.budget).where(matching(thresholds)),
        _beside(_CONFUSION, thresholds.c.confusion).where(matching(thresholds)),
        _beside(_THRESHOLD, thresholds.c.value, output=type_coerce(thresholds.c.reliability, String())).where(
            matching(thresholds)
        ),
        _beside(_RULES, value=cast(literal(1), Integer)).where(
            exists().where(rules.c.workspace == bindparam("workspace", type_=String()))
        ),
    )


class ReadLesson(NamedTuple):
    """A lesson, and this process's hash of the rows that it was made of: they would take as much as the lesson."""

    lesson: LessonSummary
    digest: int
    mark: int
    """That it was read at."""

    @property
    def nbytes(self) -> int:
        """About how much it takes."""
        return _OF_ONE + len(self.lesson.goal) + len(self.lesson.output)


def weighing_input(
    session: Session,
    workspace: str,
    channel: str,
    episode_ids: Iterable[str],
    known: Mapping[str, ReadLesson],
    mark: int = 0,
) -> tuple[dict[str, ReadLesson], WeighingInput]:
    """`EpisodeTable.weighing_input`, its lessons for themselves. What is `known` is made anew where its rows differ."""
    of_one: dict[str, list[Any]] = {}
    beside: dict[str, list[Any]] = {}
    for ids in list(chunks(dict.fromkeys(episode_ids), _AT_ONCE)) or [[]]:
        beside = {_SETTING: [], _BUDGET: [], _CONFUSION: [], _THRESHOLD: [], _RULES: []}
        named = [*ids, *[""] * ((_SEVERAL if len(ids) <= _SEVERAL else _AT_ONCE) - len(ids))]
        given = {"workspace": workspace, "here": channel} | {f"e{n}": each for n, each in enumerate(named)}
        for row in session.driver_rows(_weighing(len(named)), given):
            if row[0] == _LESSON:
                of_one.setdefault(row[1], []).append(row)
            else:
                beside[row[0]].append(row)
    with session.readable():
        lessons = {
            episode_id: made._replace(mark=mark)
            if (made := known.get(episode_id)) is not None and made.digest == digest
            else ReadLesson(_summary(rows), digest, mark)
            for episode_id, rows in of_one.items()
            for digest in (hash(tuple(rows)),)
        }
        return lessons, WeighingInput(
            lessons={},
            threshold=_threshold(workspace, beside),
            settings=tuple([_setting(workspace, row) for row in beside[_SETTING]]),
            has_rules=bool(beside[_RULES]),
        )


def _threshold(workspace: str, beside: Mapping[str, Sequence[Sequence[Any]]]) -> Threshold | None:
    if not beside[_THRESHOLD]:
        return None
    [budget], [confusion], [value] = beside[_BUDGET], beside[_CONFUSION], beside[_THRESHOLD]
    return stored_threshold(workspace, budget[-1], value[-1], confusion[-1], value[_OUTPUT])


def stored_threshold(workspace: str, budget: Any, value: Any, confusion: Any, reliability: Any) -> Threshold | None:  # noqa: ANN401 - whatever is stored
    """A threshold as it is stored; None where that is damaged, as it is counted anew."""
    try:
        return Threshold(
            workspace=workspace,
            budget=budget,
            value=value,
            confusion=confusion,
            reliability=shares.from_stored(reliability) or {},
        )
    except FAULTS:
        return None


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
    """One lesson from its rows, of which there is one for each vote, or one without.

    A vote on the node itself replaces the same person's on the whole answer (`memory.rules.verdict.ballots`).
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
        author,
        intern(action),
        output,
        decided,
        tuple(votes_on.values()),
        options_of(trajectory.from_stored(asked) or ()) if asked else (),
        tuple(sorted(corrected_by.split(_AND))) if corrected_by else (),
    )


MOST_BYTES = 24 * 2**20
"""How much of lessons is kept."""
_OF_ONE = 2000
"""About what a lesson takes beside its texts, once it is judged; and what is read beside lessons for one channel."""


@dataclass(slots=True)
class _Known:
    """What is known of one workspace."""

    mark: int
    """The last one it was asked for."""
    lessons: dict[str, ReadLesson] = field(default_factory=dict[str, ReadLesson])
    """In order of use."""
    of_output: dict[int, str] = field(default_factory=dict[int, str])
    """The lesson that was read last with an output, by its hash: one answer is given again and again, and kept once."""
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
        lessons = {name: each.lesson for name, each in kept.items() if each.mark == mark}
        if beside_known is None or len(lessons) < len(episode_ids):
            missing = [each for each in episode_ids if each not in lessons]
            read, beside_known = weighing_input(session, workspace, channel, missing, kept, mark)
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
                known.nbytes -= known.lessons.pop(name).nbytes
            self._share(known, name, lesson.lesson)
            known.lessons[name] = lesson
            known.nbytes += lesson.nbytes
        if known.mark == mark:  # another thread may have met a later one meanwhile
            known.nbytes += 0 if channel in known.beside else _OF_ONE
            known.beside[channel] = beside
        nbytes = sum([each.nbytes for each in self._known.values()])
        while nbytes > self._budget:
            nbytes -= self._dropped()

    def _share(self, known: _Known, name: str, lesson: LessonSummary) -> None:
        """Have the lesson's output in common with another one that has the same."""
        output = hash(lesson.output)
        other = known.lessons.get(known.of_output.get(output, ""))
        if other is not None and other.lesson.output == lesson.output:
            lesson.output = other.lesson.output
        elif len(known.of_output) > 2 * len(known.lessons) + _SPARE:  # most are of lessons that were dropped
            known.of_output = {hash(each.lesson.output): kept for kept, each in known.lessons.items()}
        known.of_output[output] = name

    def _dropped(self) -> int:
        """Drop what was used longest ago; how many bytes that were."""
        workspace, oldest = next(iter(self._known.items()))
        if not oldest.lessons:
            return self._known.pop(workspace).nbytes
        nbytes = oldest.lessons.pop(next(iter(oldest.lessons))).nbytes
        oldest.nbytes -= nbytes
        return nbytes
