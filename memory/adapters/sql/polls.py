"""Everything that is stored about what people said of some answers, in one statement."""

from collections.abc import Iterable, Mapping, Sequence
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
    func,
    literal,
    or_,
    select,
)
from sqlalchemy import union_all as together

from memory.adapters.row_validation import chunks
from memory.adapters.sql.judgement_tables import judgements, thresholds
from memory.adapters.sql.session import ID_LIMIT, Session, among, matching, nothing
from memory.adapters.sql.tables import retrievals
from memory.adapters.sql.teaching_tables import RECORD, WITH_RECORD, people, reactions, votes
from memory.model import Acquaintance, Poll, Reaction, Role, Vote
from memory.model.evidence import EvidenceRecord
from memory.model.judgement import Judgement, Threshold

_r, _v, _j, _p, _q = (table.c for table in (reactions, votes, judgements, people, retrievals))
_BOTH = [column.name for column in _r if column.name in _v]
"""What a register and a vote have in common."""
_OF_REACTION = [*_BOTH, "channel", "message_id", "is_active", "seq"]
_OF_VOTE = [*_BOTH, "is_limited", "standing"]
_REACTION, _VOTE, _PERSON, _TEACHER, _EVIDENCE, _JUDGEMENT, _BUDGET, _THRESHOLD = range(8)
_columns: dict[str, ColumnElement[Any]] = {
    **{name: _r[name] for name in _OF_REACTION},
    **{name: _v[name] for name in _OF_VOTE if name not in _BOTH},
    **{name: literal(0, BigInteger()) for name in ("right", "wrong")},
    "evidence": _q.evidence,
    "number": thresholds.c.value,
    "is_asked": _j.is_asked,
}


def _part(what: int, given: Mapping[str, ColumnElement[Any]]) -> Select[Any]:
    columns = [given.get(name, nothing(column.type)).label(name) for name, column in _columns.items()]
    return select(literal(what, Integer()).label("what"), *columns)


def _own(names: Sequence[str], table: Table) -> dict[str, ColumnElement[Any]]:
    return {name: table.c[name] for name in names}


_of_judgement = {
    **_own(["workspace", "run_id", "actor", "at"], judgements),
    "seq": _j.confidence,
    "is_active": _j.is_right,
    "is_limited": _j.is_known,
    "is_asked": _j.is_asked,
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
    _part(_TEACHER, {"at": func.min(_v.at, type_=_v.at.type)}).where(
        _v.workspace == bindparam("workspace", type_=String()), _v.role == Role.TEACHER
    ),
    _part(_EVIDENCE, {"run_id": _q.run_id, "at": _q.at, "message_id": _q.id, "evidence": _q.evidence}).where(
        among(retrievals, "run_id"), _q.node_path == "0", _q.evidence.is_not(None)
    ),
    _part(_JUDGEMENT, _of_judgement).where(among(judgements, "run_id")),
    *(
        _part(what, {"number": number}).where(matching(thresholds))
        for what, number in ((_BUDGET, thresholds.c.budget), (_THRESHOLD, thresholds.c.value))
    ),
)


def polls(session: Session, workspace: str, run_ids: Iterable[str], asked_for: Iterable[str]) -> dict[str, Poll]:
    """`TeachingTable.polls`."""
    rows: dict[str, list[Row[Any]]] = {run_id: [] for run_id in run_ids}
    known: dict[str, Any] = {}
    numbers: dict[int, float] = {}
    taught_from = None
    wanted = list(dict.fromkeys(asked_for))
    for ids in chunks(rows, ID_LIMIT):
        for row in session.rows(_POLLS, {"workspace": workspace, "ids": ids, "people": wanted}):
            if row.what == _PERSON:
                known[row.actor] = row.at
            elif row.what == _TEACHER:
                taught_from = row.at
            elif row.what in (_BUDGET, _THRESHOLD):
                numbers[row.what] = row.number
            else:
                rows[row.run_id].append(row)
    everybody = Acquaintance(known_from=known, taught_from=taught_from)
    counted = Threshold(workspace=workspace, budget=numbers[_BUDGET], value=numbers[_THRESHOLD]) if numbers else None
    return {run_id: _poll(of_one, everybody, counted) for run_id, of_one in rows.items()}


def _poll(rows: Sequence[Row[Any]], known: Acquaintance, threshold: Threshold | None) -> Poll:
    reacted, voted, weighed, judged = (
        [row for row in rows if row.what == what] for what in (_REACTION, _VOTE, _EVIDENCE, _JUDGEMENT)
    )
    given = [Reaction(**{name: row._mapping[name] for name in _OF_REACTION}) for row in reacted]
    cast = [Vote(**{name: row._mapping[name] for name in _OF_VOTE}) for row in voted]
    evidence = max(weighed, key=lambda row: (row.at, row.message_id), default=None)
    return Poll(
        reactions=tuple(sorted(given, key=lambda reaction: reaction.seq)),
        votes=tuple(sorted(cast, key=lambda vote: (vote.node_id, vote.actor))),
        records={row.actor: (row.right, row.wrong) for row in voted},
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
        is_asked=row.is_asked,
    )
