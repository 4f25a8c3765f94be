"""Counts over whole workspaces in SQL."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    literal_column,
    select,
    type_coerce,
)
from sqlalchemy.types import Integer

from memory.adapters.row_validation import claim_key
from memory.adapters.sql.queries.episode_filter import are_public
from memory.adapters.sql.tables.dialect import NUMBER, insert
from memory.adapters.sql.tables.episodes import counters, episodes, events, retrieval_items, retrievals
from memory.adapters.sql.tables.teaching import votes
from memory.adapters.sql.transaction.session import SqlTable, among
from memory.model import ASK, FROM_PEOPLE, Audience, EventKind, Origin, Termination, Verdict
from memory.ports.totals import ArmCount, NodeCount, RecallCount, SpendingCount, VerdictCount, VoteCount

_e, _v, _r, _i, _l = episodes.c, votes.c, retrievals.c, retrieval_items.c, events.c
_FIRST = date(1969, 12, 29)
"""The Monday before 1970."""
_EPOCH = date(1970, 1, 1)
_DAY = 86_400_000_000
"""In microseconds, as times are stored."""


def _week(moment: ColumnElement[datetime]) -> ColumnElement[int]:
    """The number of weeks from `_FIRST` to a time, in UTC."""
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
_IS_ROOT, _HAS_ASKED = _e.parent_id == "", _e.action == ASK
_FAILED = (Termination.FAILURE, Termination.ABORTED)
_TOKENS = _e.prompt_tokens + _e.completion_tokens
_SPENDER: tuple[ColumnElement[Any], ...] = (
    (type_coerce(_e.created_at, Integer) // literal_column(str(_DAY), Integer)).label("day"),
    _e.person,
    _e.channel,
    _e.model,
)
_SPENDING = (
    select(
        *_SPENDER,
        func.sum(case((_e.parent_id == "", 1), else_=0)).label("answers"),
        cast(func.sum(_TOKENS), NUMBER).label("tokens"),  # PostgreSQL sums bigints to numeric
        cast(func.sum(case((_e.cost_usd == 0, _TOKENS), else_=0)), NUMBER).label("unpriced_tokens"),
        func.sum(_e.cost_usd).label("cost_usd"),
    )
    .where(_TOKENS > 0)
    .group_by(*(column.name for column in _SPENDER))
)
_RUNS = (
    select(
        _r.is_control,
        _e.run_id,
        _e.workspace,
        func.sum(_e.cost_usd).label("cost"),
        func.sum(_TOKENS).label("tokens"),
        func.max(case((_e.correction != "", 1), else_=0)).label("corrected"),
        func.coalesce(
            select(func.sum(_v.value)).where(_v.workspace == _e.workspace, _v.run_id == _e.run_id).scalar_subquery(), 0
        ).label("votes"),
    )
    .join(retrievals, (_r.workspace == _e.workspace) & (_r.run_id == _e.run_id) & (_r.node_path == "0"))
    .where(
        _e.workspace == bindparam("w"),
        _e.origin == Origin.RUN,
        _r.at >= select(func.min(_r.at)).where(_r.workspace == bindparam("w"), _r.is_control).scalar_subquery(),
    )
    .group_by(_r.is_control, _e.run_id, _e.workspace)
    .subquery()
)
_ARMS = select(
    _RUNS.c.is_control,
    func.count().label("answers"),
    func.sum(case((_RUNS.c.votes > 0, 1), else_=0)).label("approved"),
    func.sum(case((_RUNS.c.votes < 0, 1), else_=0)).label("rejected"),
    func.sum(_RUNS.c.corrected).label("corrected"),
    func.sum(_RUNS.c.cost).label("cost_usd"),
    func.sum(_RUNS.c.cost * _RUNS.c.cost).label("cost_squares"),
    cast(func.sum(_RUNS.c.tokens), NUMBER).label("tokens"),
).group_by(_RUNS.c.is_control)
_SPENT = "spent/"
"""Prefix of the counters of spending against caps."""
_ADD = insert(counters)
_ADD_SPENT = _ADD.on_conflict_do_update(
    index_elements=[counters.c.workspace, counters.c.name],
    set_={"value": counters.c.value + _ADD.excluded.value},
)
_COUNTED = select(counters.c.name, counters.c.value).where(among(counters, "name"))
_IS_QUESTION = and_(_IS_ROOT, _e.origin == Origin.RUN)
_IS_ANSWERED = and_(_IS_QUESTION, ~_HAS_ASKED, _e.termination.in_((Termination.SUCCESS, Termination.EXPAND)))
_FATES: dict[str, ColumnElement[bool]] = {
    **{f"verdict.{each.value}": and_(_e.verdict == each, _e.archived_at.is_(None)) for each in Verdict},
    **{f"origin.{each.value}": _e.origin == each for each in Origin},
    "answers": and_(_IS_ROOT, _e.model != ""),
    "answers.without_model": and_(_IS_ROOT, _e.model == FROM_PEOPLE),
    "asked": _HAS_ASKED,
    "archived": _e.archived_at.is_not(None),
    "questions": _IS_QUESTION,
    "questions.answered": _IS_ANSWERED,
    "questions.judged": and_(_IS_ANSWERED, _e.verdict != Verdict.PENDING),
    "questions.wrong": and_(_IS_ANSWERED, _e.verdict == Verdict.FAILURE),
    "questions.asked": and_(_IS_QUESTION, _HAS_ASKED),
}
_SHOWN = {"retrieval": _e.retrieval_count, "used": _e.used_count, "ignored": _e.ignored_count}
# One count per condition: grouping a hundred thousand rows would sort them.
_COUNT_FATES = select(
    func.count().label("episodes"),
    *(func.count().filter(condition).label(name) for name, condition in _FATES.items()),
    *(func.coalesce(func.sum(column), 0).label(name) for name, column in _SHOWN.items()),
)


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

    def failures(
        self, workspace: str, since: datetime, limit: int, *, public_only: bool = False
    ) -> list[tuple[str, int]]:
        ended = (_e.termination.in_(_FAILED), _e.parent_id == "", _e.origin == Origin.RUN)
        wanted = (
            select(_e.outcome_reason, func.count().label("number"))
            .where(_e.workspace == workspace, _e.created_at >= since, *ended)
            .where(*(are_public() if public_only else ()))
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

    def event_counts(self, workspace: str, after: int) -> tuple[int, dict[EventKind, int]]:
        rows = list(self._session.rows(_HAPPENED, {"w": workspace, "after": after}))
        return max((row.last for row in rows), default=after), {row.kind: row.number for row in rows}

    def episode_counts(self, workspace: str) -> dict[str, int]:
        (row,) = self._session.rows(_COUNT_FATES.where(_e.workspace == workspace))
        return {name: int(number) for name, number in row._mapping.items()}

    def arms(self, workspace: str) -> list[ArmCount]:
        return [ArmCount(**row._mapping) for row in self._session.rows(_ARMS, {"w": workspace})]

    def spending(self, workspace: str, since: datetime) -> list[SpendingCount]:
        rows = self._session.rows(_SPENDING.where(_e.workspace == workspace, _e.created_at >= since))
        return [SpendingCount(**{**row._mapping, "day": _EPOCH + timedelta(days=row.day)}) for row in rows]

    def add_spent(self, workspace: str, more: Mapping[str, int]) -> None:
        rows = [
            {"workspace": workspace, "name": _counter(workspace, name), "value": value} for name, value in more.items()
        ]
        self._session.run(_ADD_SPENT, sorted(rows, key=lambda row: str(row["name"])))

    def spent(self, workspace: str, names: Sequence[str]) -> dict[str, int]:
        stored = {_counter(workspace, name): name for name in names}
        return {stored[row.name]: row.value for row in self._session.each(_COUNTED, workspace, stored)}

    def sweep_spent(self, before: date) -> int:
        old = counters.c.name.startswith(_SPENT) & (counters.c.name < f"{_SPENT}{before}")
        return self._session.run(delete(counters).where(old))


def _counter(workspace: str, name: str) -> str:
    """The counter of a name, which begins with its day (10 characters)."""
    return f"{_SPENT}{name[:10]}/{claim_key(workspace, name)}"


def _with_date(row: Row[Any]) -> dict[str, Any]:
    return {**row._mapping, "week": _FIRST + timedelta(weeks=row.week)}
