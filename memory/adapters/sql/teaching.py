"""Reactions, votes and the ledger of sent messages."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    CompoundSelect,
    Row,
    String,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    null,
    select,
    tuple_,
    union_all,
)

from memory.adapters.row_validation import check_evidence, check_votes, chunks, storable
from memory.adapters.sql.channels import channel_visibility
from memory.adapters.sql.session import ID_LIMIT, Session, put_statement, row_of
from memory.adapters.sql.tables import episodes
from memory.adapters.sql.teaching_tables import ledger, reactions, trust_evidence, trust_records
from memory.adapters.sql.teaching_tables import votes as votes_table
from memory.model import LedgerEntry, Poll, Reaction, TrustEvidence, TrustRecord, Vote

_r = reactions.c
_l = ledger.c
_PUT_REACTION = put_statement(reactions)
_REACTION = select(reactions).where(
    _r.workspace == bindparam("w"),
    _r.channel == bindparam("channel"),
    _r.message_id == bindparam("message"),
    _r.node_id == bindparam("node"),
    _r.actor == bindparam("actor"),
    _r.source == bindparam("source"),
)
_OF_RUN = select(reactions).where(_r.workspace == bindparam("w"), _r.run_id == bindparam("run")).order_by(_r.seq)
_UNCLAIMED = (
    select(reactions)
    .where(
        _r.workspace == bindparam("w"),
        _r.channel == bindparam("channel"),
        _r.message_id == bindparam("message"),
        _r.run_id == "",
    )
    .order_by(_r.seq)
)
_BY_ACTOR = (
    select(reactions)
    .where(_r.workspace == bindparam("w"), _r.actor == bindparam("actor"))
    .order_by(_r.at.desc(), _r.seq.desc())
)
_PUT_VOTE = put_statement(votes_table)
_VOTES = (
    select(votes_table)
    .where(votes_table.c.workspace == bindparam("w"), votes_table.c.run_id == bindparam("run"))
    .order_by(votes_table.c.node_id, votes_table.c.actor)
)
_v = votes_table.c
_DELETE_VOTE = delete(votes_table).where(
    _v.workspace == bindparam("w"),
    _v.run_id == bindparam("run"),
    _v.node_id == bindparam("node"),
    _v.actor == bindparam("actor"),
)
_VOTES_OF_RUNS = (
    select(votes_table)
    .where(_v.workspace == bindparam("w"), _v.run_id.in_(bindparam("runs", expanding=True)))
    .order_by(_v.node_id, _v.actor)
)
_PLACE = (_v.at, _v.run_id, _v.node_id)
"""The order of one person's votes, which is that of the index by voter and time: it ends with the key."""
_VOTED_ON = (
    select(_v.run_id)
    .distinct()
    .where(_v.workspace == bindparam("w"), _v.actor.in_(bindparam("actors", expanding=True)))
)
_VOTED_ON_WITHIN_LIMIT = _VOTED_ON.where(_v.is_limited.is_(False))
_e = trust_evidence.c
_CLEAR_EVIDENCE = delete(trust_evidence).where(_e.workspace == bindparam("w"), _e.run_id == bindparam("run"))
_EVIDENCE = (
    select(trust_evidence)
    .where(_e.workspace == bindparam("w"), _e.run_id == bindparam("run"))
    .order_by(_e.node_id, _e.actor)
)
_PROVEN_IN = (
    select(_e.actor).distinct().where(_e.workspace == bindparam("w"), _e.run_id.in_(bindparam("runs", expanding=True)))
)
_c = trust_records.c
_RECORDS = select(_c.actor, _c.right, _c.wrong).where(
    _c.workspace == bindparam("w"), _c.actor.in_(bindparam("actors", expanding=True))
)
_CLEAR_RECORDS = delete(trust_records).where(
    _c.workspace == bindparam("w"), _c.actor.in_(bindparam("actors", expanding=True))
)
_COUNT_RECORDS = insert(trust_records).from_select(
    ["workspace", "actor", "right", "wrong"],
    select(
        _e.workspace,
        _e.actor,
        func.sum(case((_e.agrees, 1), else_=0)),
        func.sum(case((_e.agrees, 0), else_=1)),
    )
    .where(_e.workspace == bindparam("w"), _e.actor.in_(bindparam("actors", expanding=True)))
    .group_by(_e.workspace, _e.actor),
)
_RECORD = (func.coalesce(_c.right, 0).label("right"), func.coalesce(_c.wrong, 0).label("wrong"))
_WITH_RECORD = votes_table.outerjoin(trust_records, and_(_c.workspace == _v.workspace, _c.actor == _v.actor))
_VOTE = [column.name for column in _v]
_BOTH = [column.name for column in _r if column.name in _v]
"""What a register and a vote have in common."""
_RUNS = bindparam("runs", type_=String(), expanding=True)
_POLLS = union_all(
    select(
        *(_r[name] for name in _BOTH),
        _r.channel,
        _r.message_id,
        _r.is_active,
        _r.seq,
        null().label("is_limited"),
        null().label("right"),
        null().label("wrong"),
    ).where(_r.workspace == bindparam("w"), _r.run_id.in_(_RUNS)),
    select(*(_v[name] for name in _BOTH), literal(""), literal(""), null(), null(), _v.is_limited, *_RECORD)
    .select_from(_WITH_RECORD)
    .where(_v.workspace == bindparam("w"), _v.run_id.in_(_RUNS)),
)
_FIRST = datetime.min.replace(tzinfo=UTC)
_AT_ONCE = 100
"""How many votes one statement looks around; SQLite takes 500 parts of a compound."""
_PUT_LEDGER = put_statement(ledger)
_LEDGER = select(ledger).where(
    _l.workspace == bindparam("w"),
    _l.channel == bindparam("channel"),
    _l.message_id == bindparam("message"),
    _l.expires_at > bindparam("now"),
)
_own = ledger.alias("own").c
_ANSWER = (
    select(ledger, channel_visibility(ledger))
    .where(
        _l.workspace == bindparam("w"),
        _l.run_id
        == select(_own.run_id)
        .where(
            _own.workspace == bindparam("w"),
            _own.channel == bindparam("channel"),
            _own.message_id == bindparam("message"),
            _own.expires_at > bindparam("now"),
        )
        .scalar_subquery(),
    )
    .order_by(_l.part, _l.posted_at, _l.message_id)
)
_LEDGER_OF_RUN = (
    select(ledger)
    .where(_l.workspace == bindparam("w"), _l.run_id == bindparam("run"))
    .order_by(_l.part, _l.posted_at, _l.message_id)
)
_NEWEST = (
    select(_l.run_id)
    .where(_l.workspace == bindparam("w"), _l.channel == bindparam("channel"))
    .order_by(_l.posted_at.desc(), _l.part.desc(), _l.message_id.desc())
    .limit(1)
)
_IS_REMEMBERED = exists().where(
    episodes.c.workspace == _l.workspace, episodes.c.run_id == _l.run_id, episodes.c.parent_id == ""
)


class SqlTeachingTable:
    """`memory.ports.TeachingTable` in SQL."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put_reaction(self, reaction: Reaction) -> None:
        row = row_of(reactions, reaction)
        row["seq"] = reaction.seq or self._session.advance(reaction.workspace, "reaction")
        self._session.run(_PUT_REACTION, row)

    def reaction(self, key: tuple[str, str, str, str, str, str]) -> Reaction | None:
        names = ("w", "channel", "message", "node", "actor", "source")
        row = self._session.row(_REACTION, dict(zip(names, key, strict=True)))
        return None if row is None else Reaction(**row._mapping)

    def reactions_of_run(self, workspace: str, run_id: str) -> list[Reaction]:
        return _reactions(self._session.rows(_OF_RUN, {"w": workspace, "run": run_id}))

    def reactions_by(self, workspace: str, actor: str) -> list[Reaction]:
        return _reactions(self._session.rows(_BY_ACTOR, {"w": workspace, "actor": actor}))

    def unclaimed_reactions(self, workspace: str, channel: str, message_id: str) -> list[Reaction]:
        where = {"w": workspace, "channel": channel, "message": message_id}
        return _reactions(self._session.rows(_UNCLAIMED, where))

    def delete_reactions(self, workspace: str, actor: str) -> int:
        return self._session.run(delete(reactions).where(_r.workspace == workspace, _r.actor == actor))

    def polls(self, workspace: str, run_ids: Iterable[str]) -> dict[str, Poll]:
        found = {run_id: _PollRows() for run_id in run_ids}
        for ids in chunks(found, ID_LIMIT):
            for row in self._session.rows(_POLLS, {"w": workspace, "runs": ids}):
                found[row.run_id].add(row._asdict())
        return {run_id: rows.poll for run_id, rows in found.items()}

    def set_votes(
        self, workspace: str, run_id: str, votes: Sequence[Vote], *, known: Sequence[Vote] | None = None
    ) -> None:
        check_votes(workspace, run_id, votes)
        stored = {_key(vote): vote for vote in (self.votes(workspace, run_id) if known is None else known)}
        wanted = {_key(vote): vote for vote in votes}
        gone = [key for key in stored if key not in wanted]
        names = ("w", "run", "node", "actor")
        self._session.run(_DELETE_VOTE, [dict(zip(names, key, strict=True)) for key in gone])
        self.put_votes(*(vote for key, vote in wanted.items() if stored.get(key) != vote))

    def put_votes(self, *votes: Vote) -> None:
        self._session.run(_PUT_VOTE, [row_of(votes_table, vote) for vote in votes])

    def votes(self, workspace: str, run_id: str) -> list[Vote]:
        return [Vote(**row._mapping) for row in self._session.rows(_VOTES, {"w": workspace, "run": run_id})]

    def votes_around(
        self, votes: Sequence[Vote], *, window: timedelta, limit: int
    ) -> tuple[list[Vote], dict[str, TrustRecord]]:
        found: dict[tuple[str, ...], Vote] = {}
        records: dict[str, TrustRecord] = {}
        for some in chunks(votes, _AT_ONCE):
            places = [_place(vote, window) for vote in some]
            where = {f"{name}{n}": value for n, place in enumerate(places) for name, value in place.items()}
            rows = self._session.rows(_around(len(some)), {**where, "most": limit, "from": limit + 1})
            for row in rows:
                vote = Vote(**dict(zip(_VOTE, row, strict=False)))  # behind which comes the record
                found[_key(vote)] = vote
                records[vote.actor] = (row.right, row.wrong)
        return sorted(found.values(), key=lambda vote: (vote.at, vote.run_id, vote.node_id)), records

    def votes_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Vote]]:
        found: dict[str, list[Vote]] = {}
        for ids in chunks(run_ids, ID_LIMIT):
            for row in self._session.rows(_VOTES_OF_RUNS, {"w": workspace, "runs": ids}):
                found.setdefault(row.run_id, []).append(Vote(**row._mapping))
        return found

    def runs_voted_on(self, workspace: str, actors: Iterable[str], *, within_limit: bool = False) -> set[str]:
        voted_on = _VOTED_ON_WITHIN_LIMIT if within_limit else _VOTED_ON
        found: set[str] = set()
        for names in chunks(actors, ID_LIMIT):
            found.update(row.run_id for row in self._session.rows(voted_on, {"w": workspace, "actors": names}))
        return found

    def set_evidence(self, workspace: str, run_id: str, evidence: Sequence[TrustEvidence]) -> None:
        check_evidence(workspace, run_id, evidence)
        proven = {each.actor for each in (*self.evidence(workspace, run_id), *evidence)}
        self._session.run(_CLEAR_EVIDENCE, {"w": workspace, "run": run_id})
        self._session.run(insert(trust_evidence), [row_of(trust_evidence, each) for each in evidence])
        self.recount(workspace, proven)

    def evidence(self, workspace: str, run_id: str) -> list[TrustEvidence]:
        rows = self._session.rows(_EVIDENCE, {"w": workspace, "run": run_id})
        return [TrustEvidence(**row._mapping) for row in rows]

    def record_of(self, workspace: str, actors: Iterable[str]) -> dict[str, tuple[int, int]]:
        counted = dict.fromkeys(actors, (0, 0))
        for names in chunks(counted, ID_LIMIT):
            rows = self._session.rows(_RECORDS, {"w": workspace, "actors": names})
            counted.update((row.actor, (row.right, row.wrong)) for row in rows)
        return counted

    def recount(self, workspace: str, actors: Iterable[str]) -> None:
        self._session.require_writing()
        for names in chunks(actors, ID_LIMIT):
            for statement in (_CLEAR_RECORDS, _COUNT_RECORDS):
                self._session.run(statement, {"w": workspace, "actors": names})

    def put_ledger(self, entry: LedgerEntry) -> None:
        self._session.run(_PUT_LEDGER, row_of(ledger, entry))

    def ledger(self, workspace: str, channel: str, message_id: str, now: datetime) -> LedgerEntry | None:
        row = self._session.row(_LEDGER, {"w": workspace, "channel": channel, "message": message_id, "now": now})
        return None if row is None else LedgerEntry(**row._mapping)

    def answer_of(self, workspace: str, channel: str, message_id: str, now: datetime) -> list[LedgerEntry]:
        where = {"w": workspace, "channel": channel, "message": message_id, "now": now}
        return _ledger(self._session.rows(_ANSWER, where))

    def ledger_of_run(self, workspace: str, run_id: str) -> list[LedgerEntry]:
        return _ledger(self._session.rows(_LEDGER_OF_RUN, {"w": workspace, "run": run_id}))

    def newest_answer(self, workspace: str, channel: str, thread: str = "") -> str | None:
        newest = _NEWEST.where(_IS_REMEMBERED.where(episodes.c.thread == thread) if thread else _IS_REMEMBERED)
        row = self._session.row(newest, {"w": workspace, "channel": channel})
        return None if row is None else row.run_id

    def sweep_ledger(self, now: datetime) -> int:
        return self._session.run(delete(ledger).where(_l.expires_at <= now))

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        self._session.require_writing()
        for ids in chunks(run_ids, ID_LIMIT):
            proven = self._session.rows(_PROVEN_IN, {"w": workspace, "runs": ids})
            for table in (ledger, reactions, votes_table, trust_evidence):
                self._session.run(delete(table).where(table.c.workspace == workspace, table.c.run_id.in_(ids)))
            self.recount(workspace, [row.actor for row in proven])


class _PollRows:
    """The rows of one answer, as they come."""

    def __init__(self) -> None:
        self._reactions: list[Reaction] = []
        self._votes: list[Vote] = []
        self._records: dict[str, TrustRecord] = {}

    def add(self, row: dict[str, Any]) -> None:
        """A register, or a vote with its voter's record."""
        both = {name: row[name] for name in _BOTH}
        if row["seq"] is not None:
            more = {name: row[name] for name in ("channel", "message_id", "seq")}
            self._reactions.append(Reaction(**both, **more, is_active=bool(row["is_active"])))
        else:
            self._votes.append(Vote(**both, is_limited=bool(row["is_limited"])))
            self._records[row["actor"]] = (row["right"], row["wrong"])

    @property
    def poll(self) -> Poll:
        """All of them, in their order."""
        return Poll(
            reactions=tuple(sorted(self._reactions, key=lambda reaction: reaction.seq)),
            votes=tuple(sorted(self._votes, key=lambda vote: (vote.node_id, vote.actor))),
            records=self._records,
        )


@cache
def _around(count: int) -> CompoundSelect[Any]:
    """The votes around `count` places, before and from each, with their voters' records."""
    parts: list[Any] = []
    whole = select(votes_table, *_RECORD).select_from(_WITH_RECORD)
    for n in range(count):
        own = whole.where(_v.workspace == bindparam(f"w{n}"), _v.actor == bindparam(f"actor{n}"))
        here = tuple_(
            bindparam(f"at{n}", type_=_v.at.type),
            bindparam(f"run{n}", type_=String()),
            bindparam(f"node{n}", type_=String()),
        )
        begin, end = (bindparam(f"{name}{n}", type_=_v.at.type) for name in ("begin", "end"))
        before = own.where(tuple_(*_PLACE) < here, _v.at > begin).order_by(*(column.desc() for column in _PLACE))
        since = own.where(tuple_(*_PLACE) >= here, _v.at < end).order_by(*_PLACE)
        parts += [
            before.limit(bindparam("most")).subquery(f"before{n}"),
            since.limit(bindparam("from")).subquery(f"since{n}"),
        ]
    return union_all(*(select(part) for part in parts))


def _place(vote: Vote, window: timedelta) -> dict[str, Any]:
    storable(vote)
    place = {"w": vote.workspace, "actor": vote.actor, "at": vote.at, "run": vote.run_id, "node": vote.node_id}
    begin = vote.at - min(window, vote.at - _FIRST)
    return place | {"begin": begin, "end": vote.at + window}


def _key(vote: Vote) -> tuple[str, str, str, str]:
    return vote.workspace, vote.run_id, vote.node_id, vote.actor


def _reactions(rows: Sequence[Row[Any]]) -> list[Reaction]:
    return [Reaction(**row._mapping) for row in rows]


def _ledger(rows: Sequence[Row[Any]]) -> list[LedgerEntry]:
    return [LedgerEntry(**row._mapping) for row in rows]
