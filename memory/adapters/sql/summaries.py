"""Lessons as evidence is weighed: one narrow statement for many, each with the votes on it."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Row, and_, case, func, null, select

from memory.adapters.sql.session import Session, among
from memory.adapters.sql.tables import episodes
from memory.adapters.sql.teaching_tables import votes
from memory.model import ASK, options_of
from memory.ports import Ballot, LessonSummary

_t = episodes.c
_SUMMARIES = (
    select(
        _t.id,
        _t.run_id,
        _t.goal,
        _t.origin,
        _t.author,
        _t.action,
        _t.output,
        func.coalesce(_t.graded_at, _t.created_at, type_=_t.created_at.type).label("decided_at"),
        votes.c.actor,
        votes.c.role,
        votes.c.value,
        votes.c.is_limited,
        votes.c.source,
        case((_t.action == ASK, _t.trajectory), else_=null()).label("asked"),
    )
    .join_from(
        episodes,
        votes,
        and_(votes.c.workspace == _t.workspace, votes.c.run_id == _t.run_id, votes.c.node_id.in_(["", _t.id])),
        isouter=True,
    )
    .where(among(episodes, "id"), _t.archived_at.is_(None))
    .order_by(_t.id, votes.c.node_id, votes.c.actor)
)


def of(session: Session, workspace: str, episode_ids: Iterable[str]) -> dict[str, LessonSummary]:
    """Those that exist and are not archived, by id."""
    rows = session.each(_SUMMARIES, workspace, episode_ids)
    return {episode_id: _summary(list(of_one)) for episode_id, of_one in groupby(rows, key=lambda row: row.id)}


def _summary(rows: Sequence[Row[Any]]) -> LessonSummary:
    """One lesson from its rows, of which there is one for each vote, or one without."""
    cast = tuple(
        Ballot(row.actor, row.role, row.value, row.is_limited, row.source) for row in rows if row.actor is not None
    )
    first = rows[0]
    return LessonSummary(
        id=first.id,
        run_id=first.run_id,
        goal=first.goal,
        origin=first.origin,
        author=first.author,
        action=first.action,
        output=first.output,
        decided_at=first.decided_at,
        votes=cast,
        offered=options_of(first.asked or ()),
    )
