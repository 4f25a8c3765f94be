"""Counts the uses of lessons in one statement, with the rules of `memory.rules.strength` applied to their rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Float, String, bindparam, case, func, select, update

from memory.adapters.sql.session import Session, among
from memory.adapters.sql.tables import episodes
from memory.adapters.sql.types import UtcDateTime
from memory.model import Signal, Verdict, Verdicts
from memory.ports import Attention, LessonUse
from memory.rules.strength import bumped, nudged, strength

_t = episodes.c


def _bumped(salience: float, salience_at: int, now: int) -> float:
    return bumped(salience, UtcDateTime.of_stored(salience_at), UtcDateTime.of_stored(now))


def _nudged(nudge: float, signal: str) -> float:
    return nudged(nudge, Signal(signal))


def _strength(personal: str, channel: str, workspace: str, nudge: float) -> float:
    verdicts = Verdicts(personal=Verdict(personal), channel=Verdict(channel), workspace=Verdict(workspace))
    return strength(verdicts, nudge)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"bumped": _bumped, "nudged": _nudged, "strength_of": _strength}
"""What every connection to SQLite must know by these names."""

_AT = bindparam("at", type_=UtcDateTime)
_SIGNAL = bindparam("signal", type_=String)
_NUDGE = func.nudged(_t.nudge, _SIGNAL, type_=Float(53))
_VERDICTS = (_t.verdict_personal, _t.verdict_channel, _t.verdict_workspace)
_USE = (
    update(episodes)
    .where(_t.workspace == bindparam("w"), _t.id == bindparam("lesson"), _t.goal == bindparam("asked"))
    .values(
        retrieval_count=_t.retrieval_count + 1,
        used_count=_t.used_count + bindparam("used", type_=BigInteger),
        ignored_count=_t.ignored_count + bindparam("ignored", type_=BigInteger),
        salience=func.bumped(_t.salience, _t.salience_at, _AT, type_=Float(53)),
        salience_at=case((_t.salience_at < _AT, _AT), else_=_t.salience_at),
        nudge=_NUDGE,
        strength=func.strength_of(*_VERDICTS, _NUDGE, type_=Float(53)),
    )
)
_COUNTED = ("retrieval_count", "used_count", "ignored_count", "salience", "salience_at", "nudge", "strength")
_LESSONS = select(_t.id, _t.goal, *_VERDICTS, *(_t[name] for name in _COUNTED)).where(among(episodes, "id"))
_STORE = (
    update(episodes)
    .where(_t.workspace == bindparam("w"), _t.id == bindparam("lesson"))
    .values({name: bindparam(f"new_{name}") for name in _COUNTED})
)

_ATTENTION = select(_t.id, _t.goal, *_VERDICTS, _t.promoted, _t.archived_at, _t.salience, _t.salience_at)
_ATTENTION_OF = _ATTENTION.where(among(episodes, "id"))
_ATTEND = (
    update(episodes)
    .where(_t.workspace == bindparam("w"), _t.id == bindparam("lesson"))
    .values(salience=bindparam("new"), salience_at=bindparam("new_at"))
)


def attention(session: Session, workspace: str, episode_ids: Iterable[str]) -> dict[str, Attention]:
    """`EpisodeTable.attention`."""
    return {row.id: Attention._make(row) for row in session.each(_ATTENTION_OF, workspace, episode_ids)}


def attend(session: Session, workspace: str, changed: Sequence[Attention]) -> None:
    """`EpisodeTable.attend`."""
    rows = [{"w": workspace, "lesson": each.id, "new": each.salience, "new_at": each.salience_at} for each in changed]
    session.run(_ATTEND, rows)


def count(session: Session, uses: Sequence[LessonUse]) -> bool:
    """`EpisodeTable.use`."""
    rows = [
        {
            "w": each.workspace,
            "lesson": each.episode_id,
            "asked": each.goal,
            "at": each.at,
            "signal": each.signal.value,
            "used": int(each.signal is Signal.USED),
            "ignored": int(each.signal is Signal.IGNORED),
        }
        for each in uses
    ]
    if session.is_sqlite:
        return session.run(_USE, rows) == len(rows)
    return _count_here(session, uses)


def _count_here(session: Session, uses: Sequence[LessonUse]) -> bool:
    """The same where statements know no rules: the lessons are read, changed here and stored."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for workspace in dict.fromkeys(each.workspace for each in uses):
        ids = [each.episode_id for each in uses if each.workspace == workspace]
        found.update({(workspace, row.id): row._asdict() for row in session.each(_LESSONS, workspace, ids)})
    known = [(lesson, each) for each in uses if (lesson := found.get((each.workspace, each.episode_id)))]
    counted = [(lesson, each) for lesson, each in known if lesson["goal"] == each.goal]
    for lesson, each in counted:
        _use(lesson, each)
    changed = {(each.workspace, each.episode_id): _stored(lesson, each.workspace) for lesson, each in counted}
    session.run(_STORE, list(changed.values()))
    return len(counted) == len(uses)


def _use(lesson: dict[str, Any], use: LessonUse) -> None:
    verdicts = Verdicts(**{name: lesson[f"verdict_{name}"] for name in ("personal", "channel", "workspace")})
    nudge = nudged(lesson["nudge"], use.signal)
    lesson.update(
        retrieval_count=lesson["retrieval_count"] + 1,
        used_count=lesson["used_count"] + int(use.signal is Signal.USED),
        ignored_count=lesson["ignored_count"] + int(use.signal is Signal.IGNORED),
        salience=bumped(lesson["salience"], lesson["salience_at"], use.at),
        salience_at=max(lesson["salience_at"], use.at),
        nudge=nudge,
        strength=strength(verdicts, nudge),
    )


def _stored(lesson: Mapping[str, Any], workspace: str) -> dict[str, Any]:
    return {"w": workspace, "lesson": lesson["id"]} | {f"new_{name}": lesson[name] for name in _COUNTED}
