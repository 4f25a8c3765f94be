"""What being shown and used changes of a lesson, in one statement: the rules of `memory.rules.strength` on its row."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Float, String, bindparam, case, func, update

from memory.adapters.sql.session import Session
from memory.adapters.sql.tables import episodes
from memory.adapters.sql.types import Moment
from memory.model import Signal, Verdict, Verdicts
from memory.ports import LessonUse
from memory.rules.strength import bumped, nudged, strength

_t = episodes.c


def _bumped(salience: float, salience_at: int, now: int) -> float:
    return bumped(salience, Moment.of_stored(salience_at), Moment.of_stored(now))


def _nudged(nudge: float, signal: str) -> float:
    return nudged(nudge, Signal(signal))


def _strength(personal: str, channel: str, workspace: str, nudge: float) -> float:
    verdicts = Verdicts(personal=Verdict(personal), channel=Verdict(channel), workspace=Verdict(workspace))
    return strength(verdicts, nudge)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"bumped": _bumped, "nudged": _nudged, "strength_of": _strength}
"""What every connection must know by these names."""

_AT = bindparam("at", type_=Moment)
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
    return session.run(_USE, rows) == len(rows)
