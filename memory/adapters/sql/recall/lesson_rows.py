"""The query of lessons with their votes, one row for each vote."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    String,
    and_,
    bindparam,
    case,
    func,
    literal,
    null,
    or_,
    select,
    type_coerce,
)

from memory.adapters.sql.tables.episodes import episodes, links
from memory.adapters.sql.tables.teaching import trust_records, votes
from memory.adapters.sql.tables.types import nothing
from memory.model import ASK, LinkKind, Termination

_t = episodes.c
_v = votes.c
LESSON = "lesson"
"""The first column of these rows."""
AND = "\x1f"
"""Between the ids of a list."""
_corrected_by = (
    select(func.aggregate_strings(links.c.from_id, AND))
    .where(links.c.workspace == _t.workspace, links.c.to_id == _t.id, links.c.kind == LinkKind.CORRECTS)
    .scalar_subquery()
)
COLUMNS: dict[str, ColumnElement[Any]] = {
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
NUMBERS = ("threshold", "budget", "confusion")
"""The columns after those of lessons, which only the threshold has."""
LESSONS = (
    select(
        literal(LESSON).label("what"),
        *(column.label(name) for name, column in COLUMNS.items()),
        *(nothing(Float(53)).label(name) for name in NUMBERS),
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
