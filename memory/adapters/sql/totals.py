"""Counts over a whole workspace."""

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, case, exists, func, literal_column, select, type_coerce
from sqlalchemy.types import Integer

from memory.adapters.sql.session import SqlTable
from memory.adapters.sql.tables import episodes, events, retrieval_items, retrievals
from memory.adapters.sql.teaching_tables import votes
from memory.model import ASK, Audience, EventKind, Origin, Termination, Verdict
from memory.ports.totals import FateCount, NodeCount, RecallCount, VerdictCount, VoteCount

_e, _v, _r, _i, _l = episodes.c, votes.c, retrievals.c, retrieval_items.c, events.c
_FIRST = date(1969, 12, 29)
"""The Monday before 1970."""
_DAY = 86_400_000_000
"""In microseconds, as times are stored."""


def _week(moment: ColumnElement[datetime]) -> ColumnElement[int]:
    """The number of its week since that Monday, UTC."""
    since_monday = type_coerce(moment, Integer) + literal_column(str(3 * _DAY), Integer)
    return (since_monday // literal_column(str(7 * _DAY), Integer)).label("week")


_ALIKE: tuple[ColumnElement[Any], ...] = (
    _week(_e.created_at),
    (_e.parent_id == "").label("is_root"),
    _e.origin,
    (_e.action == ASK).label("has_asked"),
    _e.termination,
    _e.verdict,
    _e.archived_at.is_not(None).label("is_archived"),
)
_SUMS = ("prompt_tokens", "completion_tokens", "cost_usd")
_NODES = select(*_ALIKE, func.count().label("number"), *(func.sum(_e[name]).label(name) for name in _SUMS)).group_by(
    *(column.name for column in _ALIKE)
)
_VOTES = select(
    _week(_v.at),
    func.sum(case((_v.value > 0, 1), else_=0)).label("approvals"),
    func.sum(case((_v.value < 0, 1), else_=0)).label("objections"),
).group_by("week")
_HIT = case((exists().where(_i.workspace == _r.workspace, _i.retrieval_id == _r.id).correlate(retrievals), 1), else_=0)
_RECALLS = select(_week(_r.at), func.count().label("number"), func.sum(_HIT).label("hits")).group_by("week")
_BY_AUDIENCE = {audience: _e[f"verdict_{audience.value}"] for audience in Audience}
_VERDICTS = (
    select(*_BY_AUDIENCE.values(), func.count().label("number"))
    .where(_e.archived_at.is_(None))
    .group_by(*_BY_AUDIENCE.values())
)
_HAPPENED = (
    select(_l.kind, func.count().label("number"), func.max(_l.seq).label("last"))
    .where(_l.workspace == bindparam("w"), _l.seq > bindparam("after"))
    .group_by(_l.kind)
)
_FATE: tuple[ColumnElement[Any], ...] = (
    _e.verdict,
    _e.origin,
    (_e.parent_id == "").label("is_root"),
    (_e.action == ASK).label("has_asked"),
    _e.model,
    _e.archived_at.is_not(None).label("is_archived"),
)
_FATES = select(
    *_FATE,
    func.count().label("number"),
    func.sum(_e.retrieval_count).label("retrieved"),
    func.sum(_e.used_count).label("used"),
    func.sum(_e.ignored_count).label("ignored"),
).group_by(*(column.name for column in _FATE))
_FAILED = (Termination.FAILURE, Termination.ABORTED)


class SqlTotalsTable(SqlTable):
    """`memory.ports.TotalsTable` in SQL."""

    def nodes(self, workspace: str, since: datetime | None = None) -> list[NodeCount]:
        wanted = _NODES.where(_e.workspace == workspace)
        rows = self._session.rows(wanted if since is None else wanted.where(_e.created_at >= since))
        return [NodeCount(**_with_date(row)) for row in rows]

    def votes(self, workspace: str, since: datetime) -> list[VoteCount]:
        rows = self._session.rows(_VOTES.where(_v.workspace == workspace, _v.at >= since))
        return [VoteCount(**_with_date(row)) for row in rows]

    def recalls(self, workspace: str, since: datetime) -> list[RecallCount]:
        rows = self._session.rows(_RECALLS.where(_r.workspace == workspace, _r.at >= since))
        return [RecallCount(**_with_date(row)) for row in rows]

    def failures(self, workspace: str, since: datetime, limit: int) -> list[tuple[str, int]]:
        ended = (_e.termination.in_(_FAILED), _e.parent_id == "", _e.origin == Origin.RUN)
        wanted = (
            select(_e.outcome_reason, func.count().label("number"))
            .where(_e.workspace == workspace, _e.created_at >= since, *ended)
            .group_by(_e.outcome_reason)
            .order_by(func.count().desc(), _e.outcome_reason)
            .limit(limit)
        )
        return [(row.outcome_reason, row.number) for row in self._session.rows(wanted)]

    def verdicts(self) -> list[VerdictCount]:
        found = Counter[tuple[Audience, Verdict]]()
        for row in self._session.rows(_VERDICTS):
            for audience, verdict in zip(_BY_AUDIENCE, row, strict=False):
                found[audience, verdict] += row.number
        return [VerdictCount(audience=where, verdict=what, number=number) for (where, what), number in found.items()]

    def happened(self, workspace: str, after: int) -> tuple[int, dict[EventKind, int]]:
        rows = list(self._session.rows(_HAPPENED, {"w": workspace, "after": after}))
        return max((row.last for row in rows), default=after), {row.kind: row.number for row in rows}

    def fates(self, workspace: str) -> list[FateCount]:
        return [FateCount(**row._mapping) for row in self._session.rows(_FATES.where(_e.workspace == workspace))]


def _with_date(row: Row[Any]) -> dict[str, Any]:
    return {**row._mapping, "week": _FIRST + timedelta(weeks=row.week)}
