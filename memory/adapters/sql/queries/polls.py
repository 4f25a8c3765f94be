"""Polls: all stored feedback on some answers in one statement. And the tables of judgements and thresholds in SQL."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Integer,
    Row,
    Select,
    String,
    Table,
    bindparam,
    delete,
    func,
    literal,
    or_,
    select,
    type_coerce,
    union_all as together,
)

from memory.adapters.row_validation import chunks
from memory.adapters.sql.recall.stored_threshold import stored_threshold
from memory.adapters.sql.tables.episodes import retrievals
from memory.adapters.sql.tables.teaching import (
    RECORD,
    WITH_RECORD,
    judgements,
    people,
    reactions,
    thresholds,
    trust_records,
    votes,
)
from memory.adapters.sql.tables.types import nothing
from memory.adapters.sql.transaction.session import ID_LIMIT, Session, SqlTable, among, matching
from memory.model import KnownPeople, Poll, Reaction, Role, TrustRecord, Vote
from memory.model.evidence import EvidenceRecord, Judgement, JudgementCount, Threshold

_r, _v, _j, _p, _q, _c = (table.c for table in (reactions, votes, judgements, people, retrievals, trust_records))
_BOTH = [column.name for column in _r if column.name in _v]
"""The columns that registers and votes have in common."""
_OF_REACTION = [*_BOTH, "channel", "message_id", "is_active", "seq"]
_OF_VOTE = [*_BOTH, "is_limited", "standing"]
_REACTION, _VOTE, _PERSON, _RECORD, _TEACHER, _EVIDENCE, _JUDGEMENT, _THRESHOLD = range(8)
_reliability = type_coerce(thresholds.c.reliability, String()).label("reliability")
"""The stored text, which `stored_threshold` reads."""
_columns: dict[str, ColumnElement[Any]] = {
    **{name: _r[name] for name in _OF_REACTION},
    **{name: _v[name] for name in _OF_VOTE if name not in _BOTH},
    **{name: literal(0, BigInteger()) for name in ("right", "wrong")},
    "is_checked": _j.is_checked,
    "evidence": _q.evidence,
    **{name: thresholds.c[name] for name in ("budget", "confusion")},
    "threshold": thresholds.c.value,
    "reliability": _reliability,
}

_OF_RUN = select(judgements).where(matching(judgements, "run_id")).order_by(_j.actor)
_OF_RUNS = select(judgements).where(among(judgements, "run_id"))
_DELETE = delete(judgements).where(matching(judgements, "run_id", "actor"))
_DELETE_RUNS = delete(judgements).where(among(judgements, "run_id"))
_NEWEST = (
    select(_j.actor, _j.confidence, _j.is_right, _j.is_known, _j.is_checked)  # as `JudgementCount` has them
    .where(matching(judgements))
    .order_by(_j.at.desc(), _j.run_id.desc(), _j.actor.desc())  # as the index has them
    .limit(bindparam("newest"))
)
_WHOLE_THRESHOLD = select(thresholds).where(matching(thresholds))
_GET_THRESHOLD = _WHOLE_THRESHOLD.with_only_columns(
    *(_reliability if column.name == "reliability" else column for column in thresholds.c)
)


def _part(what: int, given: Mapping[str, ColumnElement[Any]]) -> Select[Any]:
    columns = [given.get(name, nothing(column.type)).label(name) for name, column in _columns.items()]
    return select(literal(what, Integer()).label("what"), *columns)


def _own(names: Sequence[str], table: Table) -> dict[str, ColumnElement[Any]]:
    return {name: table.c[name] for name in names}


_of_judgement = {
    **_own(["workspace", "run_id", "actor", "at", "is_checked"], judgements),
    "seq": _j.confidence,
    "is_active": _j.is_right,
    "is_limited": _j.is_known,
}
_reacted = select(_r.actor).where(among(reactions, "run_id"))
_asked_for: BindParameter[Any] = bindparam("people", expanding=True)
_POLLS = together(
    _part(_REACTION, _own(_OF_REACTION, reactions)).where(among(reactions, "run_id")),
    _part(_VOTE, _own(_OF_VOTE, votes) | dict(zip(("right", "wrong"), RECORD, strict=True)))
    .select_from(WITH_RECORD)
    .where(among(votes, "run_id")),
    _part(_PERSON, {"actor": _p.person, "at": _p.known_from}).where(
        matching(people), or_(_p.person.in_(_asked_for), _p.person.in_(_reacted))
    ),
    _part(_RECORD, {"actor": _c.actor, "right": _c.right, "wrong": _c.wrong}).where(
        matching(trust_records), _c.actor.in_(_asked_for)
    ),
    _part(_TEACHER, {"at": func.min(_v.at, type_=_v.at.type)}).where(
        _v.workspace == bindparam("workspace", type_=String()), _v.role == Role.TEACHER
    ),
    _part(_EVIDENCE, {"run_id": _q.run_id, "at": _q.at, "message_id": _q.id, "evidence": _q.evidence}).where(
        among(retrievals, "run_id"), _q.node_path == "0", _q.evidence.is_not(None)
    ),
    _part(_JUDGEMENT, _of_judgement).where(among(judgements, "run_id")),
    _part(
        _THRESHOLD,
        {
            **_own(["budget", "confusion"], thresholds),
            "threshold": thresholds.c.value,
            "reliability": _reliability,
        },
    ).where(matching(thresholds)),
)


_REPEATS_OF_RUNS = 5
"""How often the statement repeats the list of runs."""


def polls(session: Session, workspace: str, run_ids: Iterable[str], asked_for: Iterable[str]) -> dict[str, Poll]:
    """As `TeachingTable.polls`."""
    rows: dict[str, list[Row[Any]]] = {run_id: [] for run_id in run_ids}
    known: dict[str, Any] = {}
    counted: Threshold | None = None
    taught_from: datetime | None = None
    wanted = list(dict.fromkeys(asked_for))
    records: dict[str, TrustRecord] = dict.fromkeys(wanted, (0, 0))
    for ids in chunks(rows, ID_LIMIT // _REPEATS_OF_RUNS):
        for row in session.rows(_POLLS, {"workspace": workspace, "ids": ids, "people": wanted}):
            if row.what == _PERSON:
                known[row.actor] = row.at
            elif row.what == _RECORD:
                records[row.actor] = (row.right, row.wrong)
            elif row.what == _TEACHER:
                taught_from = row.at
            elif row.what == _THRESHOLD:
                counted = stored_threshold(workspace, row.budget, row.threshold, row.confusion, row.reliability)
            else:
                rows[row.run_id].append(row)
    everybody = KnownPeople(known_from=known, taught_from=taught_from)
    nothing_said = Poll(records=records, people=everybody, threshold=counted)
    return {
        run_id: _poll(of_one, records, everybody, counted) if of_one else nothing_said
        for run_id, of_one in rows.items()
    }


def _poll(
    rows: Sequence[Row[Any]], records: Mapping[str, TrustRecord], known: KnownPeople, threshold: Threshold | None
) -> Poll:
    reacted, voted, weighed, judged = (
        [row for row in rows if row.what == what] for what in (_REACTION, _VOTE, _EVIDENCE, _JUDGEMENT)
    )
    given = [Reaction(**{name: row._mapping[name] for name in _OF_REACTION}) for row in reacted]
    cast = [Vote(**{name: row._mapping[name] for name in _OF_VOTE}) for row in voted]
    evidence = max(weighed, key=lambda row: (row.at, row.message_id), default=None)
    return Poll(
        reactions=tuple(sorted(given, key=lambda reaction: reaction.seq)),
        votes=tuple(sorted(cast, key=lambda vote: (vote.node_id, vote.actor))),
        records={**records, **{row.actor: (row.right, row.wrong) for row in voted}},
        people=known,
        evidence=EvidenceRecord() if evidence is None else evidence.evidence,
        threshold=threshold,
        judgements=tuple(sorted(map(_judgement, judged), key=lambda judgement: judgement.actor)),
    )


def _judgement(row: Row[Any]) -> Judgement:
    return Judgement(
        workspace=row.workspace,
        run_id=row.run_id,
        actor=row.actor,
        at=row.at,
        confidence=row.seq,
        is_right=row.is_active,
        is_known=row.is_limited,
        is_checked=row.is_checked,
    )


class SqlJudgementTable(SqlTable):
    """`memory.ports.JudgementTable` in SQL."""

    def set(
        self,
        workspace: str,
        given: Mapping[str, Sequence[Judgement]],
        *,
        stored: Mapping[str, Sequence[Judgement]] | None = None,
    ) -> bool:
        wanted = {(run_id, each.actor): each for run_id, judged in given.items() for each in judged}
        if any((each.workspace, each.run_id) != (workspace, run_id) for (run_id, _), each in wanted.items()):
            raise ValueError(f"judgements of another run given in {workspace}")
        read = (
            self._of_runs(workspace, given)
            if stored is None
            else [each for of_one in stored.values() for each in of_one]
        )
        known = {(each.run_id, each.actor): each for each in read}
        gone = [{"workspace": workspace, "run_id": run_id, "actor": actor} for run_id, actor in known.keys() - wanted]
        self._session.run(_DELETE, gone)
        new = [each for key, each in wanted.items() if known.get(key) != each]
        self._session.put(judgements, *new)
        return bool(gone or new)

    def _of_runs(self, workspace: str, run_ids: Iterable[str]) -> list[Judgement]:
        return [
            each
            for ids in chunks(run_ids, ID_LIMIT)
            for each in self._session.all(Judgement, _OF_RUNS, workspace=workspace, ids=ids)
        ]

    def of_run(self, workspace: str, run_id: str) -> list[Judgement]:
        return self._session.all(Judgement, _OF_RUN, workspace=workspace, run_id=run_id)

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> int:
        some = chunks(run_ids, ID_LIMIT)
        return sum(self._session.run(_DELETE_RUNS, {"workspace": workspace, "ids": ids}) for ids in some)

    def counts(self, workspace: str, newest: int) -> list[JudgementCount]:
        # Counted in Python: grouping would double the database's time.
        alike = Counter(map(tuple, self._session.driver_rows(_NEWEST, {"workspace": workspace, "newest": newest})))
        return [
            JudgementCount(actor, confidence, bool(is_right), bool(is_known), bool(is_checked), number)
            for (actor, confidence, is_right, is_known, is_checked), number in alike.items()
        ]

    def put_threshold(self, threshold: Threshold) -> None:
        self._session.put(thresholds, threshold)

    def threshold(self, workspace: str) -> Threshold | None:
        return self._session.first(stored_threshold, _GET_THRESHOLD, workspace=workspace)

    def threshold_damage(self, workspace: str) -> str:
        return self._session.damage(thresholds, _WHOLE_THRESHOLD, {"workspace": workspace})
