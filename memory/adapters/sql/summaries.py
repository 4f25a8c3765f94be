"""Lessons as evidence is weighed: one narrow statement for many, each with the votes on it."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Row, and_, case, func, null, or_, select

from memory.adapters.sql.session import Session, among
from memory.adapters.sql.tables import episodes
from memory.adapters.sql.teaching_tables import trust_records, votes
from memory.model import ASK, Termination, options_of
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
        votes.c.standing,
        func.coalesce(trust_records.c.right, 0).label("right"),
        func.coalesce(trust_records.c.wrong, 0).label("wrong"),
    )
    .join_from(
        episodes,
        votes,
        and_(
            votes.c.workspace == _t.workspace,
            votes.c.run_id == _t.run_id,
            votes.c.node_id.in_(["", _t.id]),
            or_(votes.c.node_id != "", votes.c.value > 0, _t.parent_id == "", _t.termination == Termination.FAILURE),
        ),
        isouter=True,
    )
    .outerjoin(
        trust_records, and_(trust_records.c.workspace == votes.c.workspace, trust_records.c.actor == votes.c.actor)
    )
    .where(among(episodes, "id"), _t.archived_at.is_(None))
    .order_by(_t.id, votes.c.node_id, votes.c.actor)
)


def of(session: Session, workspace: str, episode_ids: Iterable[str]) -> dict[str, LessonSummary]:
    """Those that exist and are not archived, by id."""
    rows = session.each(_SUMMARIES, workspace, episode_ids)
    return {episode_id: _summary(list(of_one)) for episode_id, of_one in groupby(rows, key=lambda row: row.id)}


def _summary(rows: Sequence[Row[Any]]) -> LessonSummary:
    """One lesson from its rows, of which there is one for each vote, or one without.

    A vote on the node itself replaces the same person's on the whole answer (`memory.rules.verdict.ballots`).
    """
    cast = {
        row.actor: Ballot(
            row.actor, row.role, row.value, row.is_limited, row.source, row.standing, row.right, row.wrong
        )
        for row in rows
        if row.actor is not None
    }
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
        votes=tuple(cast.values()),
        offered=options_of(first.asked or ()),
    )
