"""Reactions, votes and the ledger of sent messages in SQL."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    String,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    select,
    tuple_,
    union_all,
    update,
)

from memory.adapters.row_validation import check_of_run, chunks, require_all_storable
from memory.adapters.sql.queries import polls
from memory.adapters.sql.queries.chat_settings import is_set_in_chat
from memory.adapters.sql.queries.people import channel_visibility
from memory.adapters.sql.tables.episodes import episodes, events as events_table
from memory.adapters.sql.tables.teaching import (
    IN_WORDS,
    MAY_BE_LIMITED,
    ledger,
    reactions,
    trust_evidence,
    trust_records,
    votes as votes_table,
)
from memory.adapters.sql.transaction.session import ID_LIMIT, SqlTable, among, matching, put_statement, row_of
from memory.model import LedgerEntry, PlacedVote, Poll, Reaction, Role, TrustEvidence, Vote

_r = reactions.c
_v = votes_table.c
_e = trust_evidence.c
_c = trust_records.c
_l = ledger.c
_REACTION = select(reactions).where(matching(reactions, "channel", "message_id", "node_id", "actor", "source"))
_newest = select(func.max(events_table.c.seq)).where(events_table.c.workspace == bindparam("w")).scalar_subquery()
_PUT_NUMBERED = put_statement(reactions).values(seq=_newest - bindparam("behind", type_=BigInteger()))
_COLUMNS = [column.name for column in _r if column.name != "seq"]
_REGISTER, _REGISTER_OF = (*_COLUMNS, "w"), attrgetter(*_COLUMNS, "workspace")
_IDENTITY = (_r.channel, _r.message_id, _r.node_id, _r.actor, _r.source)
"""The order of registers with the same number."""
_OF_RUN = select(reactions).where(matching(reactions, "run_id")).order_by(_r.seq, *_IDENTITY)
_UNCLAIMED = (
    select(reactions).where(matching(reactions, "channel", "message_id"), _r.run_id == "").order_by(_r.seq, *_IDENTITY)
)
_REACTED_TO = select(_r.run_id).distinct().where(matching(reactions, "channel", "message_id"), _r.run_id != "")
_BY_ACTOR = select(reactions).where(matching(reactions, "actor")).order_by(_r.at.desc(), _r.seq.desc(), *_IDENTITY)
_IN_WORDS = (
    select(reactions).where(matching(reactions, "event_id"), IN_WORDS).order_by(_r.at.desc(), _r.seq.desc(), *_IDENTITY)
)
_VOTES_OF_RUNS = select(votes_table).where(among(votes_table, "run_id")).order_by(_v.node_id, _v.actor)
_OF_MEMBERS = (
    select(votes_table).where(matching(votes_table), _v.role == Role.MEMBER).order_by(_v.run_id, _v.node_id, _v.actor)
)
_DELETE_VOTE = delete(votes_table).where(matching(votes_table, "run_id", "node_id", "actor"))
_MARK = (
    update(votes_table)
    .where(
        _v.workspace == bindparam("w"),
        _v.run_id == bindparam("run"),
        _v.node_id == bindparam("node"),
        _v.actor == bindparam("voter"),
    )
    .values(is_limited=bindparam("now"))
)
_PLACE = (_v.at, _v.run_id, _v.node_id)
"""The order of one person's votes: that of the index by voter and time, which ends with the key."""
_PLACED = select(*(_v[name] for name in PlacedVote._fields))
_WITHIN = _PLACED.where(
    matching(votes_table, "actor"),
    MAY_BE_LIMITED,
    _v.at > bindparam("begin", type_=_v.at.type),
    _v.at < bindparam("end", type_=_v.at.type),
).order_by(*_PLACE)
_VOTED_ON = select(_v.run_id).distinct().where(among(votes_table, "actor"))
_VOTED_ON_WITHIN_LIMIT = _VOTED_ON.where(_v.is_limited.is_(False))
_CLEAR_EVIDENCE = delete(trust_evidence).where(matching(trust_evidence, "run_id"))
_EVIDENCE = select(trust_evidence).where(matching(trust_evidence, "run_id")).order_by(_e.node_id, _e.actor)
_PROVEN_IN = select(_e.actor).distinct().where(among(trust_evidence, "run_id"))
_RECORDS = select(_c.actor, _c.right, _c.wrong).where(among(trust_records, "actor"))
_CLEAR_RECORDS = delete(trust_records).where(among(trust_records, "actor"))
_COUNT_RECORDS = insert(trust_records).from_select(
    ["workspace", "actor", "right", "wrong"],
    select(_e.workspace, _e.actor, func.sum(case((_e.agrees, 1), else_=0)), func.sum(case((_e.agrees, 0), else_=1)))
    .where(_e.workspace == bindparam("w"), _e.actor.in_(bindparam("ids", expanding=True)))
    .group_by(_e.workspace, _e.actor),
)
_VOTE = [column.name for column in _v]
_VOTE_OF = attrgetter(*_VOTE)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_AT_ONCE = 100
"""The most votes of one statement of `votes_around`; SQLite allows 500 parts of a compound query."""
_MOST_BY_PLACE = 8
"""Above this number of one voter's votes, all votes between them are read."""
_LEDGER = select(ledger).where(matching(ledger, "channel", "message_id"), _l.expires_at > bindparam("now"))
_own = ledger.alias("own")
_ANSWER = (
    select(ledger, channel_visibility(ledger), is_set_in_chat(ledger))
    .where(
        matching(ledger),
        _l.run_id
        == select(_own.c.run_id)
        .where(matching(_own, "channel", "message_id"), _own.c.expires_at > bindparam("now"))
        .scalar_subquery(),
    )
    .order_by(_l.part, _l.posted_at, _l.message_id)
)
_LEDGER_OF_RUN = select(ledger).where(matching(ledger, "run_id")).order_by(_l.part, _l.posted_at, _l.message_id)
_NEWEST = (
    select(_l.run_id)
    .where(matching(ledger, "channel"))
    .order_by(_l.posted_at.desc(), _l.part.desc(), _l.message_id.desc())
    .limit(1)
)
_IS_REMEMBERED = exists().where(
    episodes.c.workspace == _l.workspace, episodes.c.run_id == _l.run_id, episodes.c.parent_id == ""
)
_NEWEST_TO = _NEWEST.where(
    _l.posted_at >= bindparam("since", type_=_l.posted_at.type),
    _IS_REMEMBERED.where(episodes.c.thread == "", episodes.c.person == bindparam("asker")),
)


class SqlTeachingTable(SqlTable):
    """`memory.ports.TeachingTable` in SQL."""

    def put_reaction(self, reaction: Reaction) -> None:
        seq = reaction.seq or self._session.advance(reaction.workspace, "reaction")
        self._session.put(reactions, replace(reaction, seq=seq))

    def put_reactions(self, *given: Reaction, events: int) -> None:
        rows = [
            {**dict(zip(_REGISTER, _REGISTER_OF(each), strict=True)), "behind": events - 1 - place}
            for place, each in enumerate(require_all_storable(given))
        ]
        self._session.run(_PUT_NUMBERED, rows)

    def reaction(self, key: tuple[str, str, str, str, str, str]) -> Reaction | None:
        names = ("workspace", "channel", "message_id", "node_id", "actor", "source")
        return self._session.first(Reaction, _REACTION, **dict(zip(names, key, strict=True)))

    def reactions_of_run(self, workspace: str, run_id: str) -> list[Reaction]:
        return self._session.all(Reaction, _OF_RUN, workspace=workspace, run_id=run_id)

    def reactions_by(self, workspace: str, actor: str) -> list[Reaction]:
        return self._session.all(Reaction, _BY_ACTOR, workspace=workspace, actor=actor)

    def reactions_in_words(self, workspace: str, event_id: str) -> list[Reaction]:
        return self._session.all(Reaction, _IN_WORDS, workspace=workspace, event_id=event_id)

    def runs_reacted_to(self, workspace: str, channel: str, message_id: str) -> set[str]:
        where = {"workspace": workspace, "channel": channel, "message_id": message_id}
        return {row.run_id for row in self._session.rows(_REACTED_TO, where)}

    def unclaimed_reactions(self, workspace: str, channel: str, message_id: str) -> list[Reaction]:
        return self._session.all(Reaction, _UNCLAIMED, workspace=workspace, channel=channel, message_id=message_id)

    def delete_reactions(self, workspace: str, actor: str) -> int:
        return self._session.run(delete(reactions).where(_r.workspace == workspace, _r.actor == actor))

    def polls(self, workspace: str, run_ids: Iterable[str], *, people: Iterable[str] = ()) -> dict[str, Poll]:
        return polls.polls(self._session, workspace, run_ids, people)

    def set_votes(
        self, workspace: str, run_id: str, votes: Sequence[Vote], *, known: Sequence[Vote] | None = None
    ) -> None:
        check_of_run(workspace, run_id, votes)
        stored = {_key(vote): vote for vote in (self.votes(workspace, run_id) if known is None else known)}
        wanted = {_key(vote): vote for vote in votes}
        gone = [key for key in stored if key not in wanted]
        names = ("workspace", "run_id", "node_id", "actor")
        self._session.run(_DELETE_VOTE, [dict(zip(names, key, strict=True)) for key in gone])
        self.put_votes(*(vote for key, vote in wanted.items() if stored.get(key) != vote))

    def put_votes(self, *votes: Vote) -> None:
        rows = [dict(zip(_VOTE, _VOTE_OF(each), strict=True)) for each in require_all_storable(votes)]
        self._session.run(put_statement(votes_table), rows)

    def votes(self, workspace: str, run_id: str) -> list[Vote]:
        return self.votes_of_runs(workspace, [run_id]).get(run_id, [])

    def mark_limited(self, workspace: str, marks: Mapping[tuple[str, str, str], bool]) -> None:
        rows = [
            {"w": workspace, "run": run_id, "node": node_id, "voter": actor, "now": is_limited}
            for (run_id, node_id, actor), is_limited in marks.items()
        ]
        self._session.run(_MARK, rows)

    def votes_around(self, votes: Sequence[Vote], *, window: timedelta, limit: int) -> list[PlacedVote]:
        found: list[PlacedVote] = []
        given: dict[tuple[str, str], list[Vote]] = {}
        for vote in votes:
            given.setdefault((vote.workspace, vote.actor), []).append(vote)
        few: list[Vote] = []
        for own in given.values():
            if len(own) > _MOST_BY_PLACE:
                found += self._around_many(own, window, limit)
            else:
                few += own
        for some in chunks(few, _AT_ONCE):
            places = [_place(vote, window) for vote in some]
            where = {f"{name}{n}": value for n, place in enumerate(places) for name, value in place.items()}
            rows = self._session.rows(_around(len(some)), {**where, "most": limit, "from": limit + 1})
            found += map(PlacedVote._make, rows)
        return [each for each, _ in groupby(sorted(found))]

    def _around_many(self, votes: Sequence[Vote], window: timedelta, limit: int) -> Iterable[PlacedVote]:
        """`votes_around` for many votes of one voter: reads all of the voter's votes between the first and the last."""
        places = [_place(vote, window) for vote in votes]
        begin, end = min(each["begin"] for each in places), max(each["end"] for each in places)
        within = {"workspace": votes[0].workspace, "actor": votes[0].actor, "begin": begin, "end": end}
        stored = list(map(PlacedVote._make, self._session.rows(_WITHIN, within)))
        wanted: set[int] = set()
        for each in places:
            here = bisect_left(stored, (each["at"], each["run"], each["node"]))
            first = bisect_right(stored, each["begin"], key=itemgetter(0))
            wanted.update(range(max(first, here - limit), here))
            last = bisect_left(stored, each["end"], key=itemgetter(0))
            wanted.update(range(here, min(last, here + limit + 1)))
        return [stored[number] for number in wanted]

    def votes_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Vote]]:
        return self._session.grouped("run_id", Vote, _VOTES_OF_RUNS, workspace, run_ids)

    def runs_voted_on(self, workspace: str, actors: Iterable[str], *, within_limit: bool = False) -> set[str]:
        voted_on = _VOTED_ON_WITHIN_LIMIT if within_limit else _VOTED_ON
        return {row.run_id for row in self._session.each(voted_on, workspace, actors)}

    def votes_between(self, workspace: str, start: datetime, end: datetime | None) -> list[Vote]:
        within = _OF_MEMBERS.where(_v.at >= start) if end is None else _OF_MEMBERS.where(_v.at >= start, _v.at < end)
        return self._session.all(Vote, within, workspace=workspace)

    def set_trust_evidence(self, workspace: str, run_id: str, evidence: Sequence[TrustEvidence]) -> None:
        check_of_run(workspace, run_id, evidence)
        proven = {each.actor for each in (*self.trust_evidence(workspace, run_id), *evidence)}
        self._session.run(_CLEAR_EVIDENCE, {"workspace": workspace, "run_id": run_id})
        self._session.run(insert(trust_evidence), [row_of(trust_evidence, each) for each in evidence])
        self.recount(workspace, proven)

    def trust_evidence(self, workspace: str, run_id: str) -> list[TrustEvidence]:
        return self._session.all(TrustEvidence, _EVIDENCE, workspace=workspace, run_id=run_id)

    def record_of(self, workspace: str, actors: Iterable[str]) -> dict[str, tuple[int, int]]:
        counted = dict.fromkeys(actors, (0, 0))
        rows = self._session.each(_RECORDS, workspace, counted)
        return counted | {row.actor: (row.right, row.wrong) for row in rows}

    def recount(self, workspace: str, actors: Iterable[str]) -> None:
        self._session.require_writing()
        for names in chunks(actors, ID_LIMIT):
            self._session.run(_CLEAR_RECORDS, {"workspace": workspace, "ids": names})
            self._session.run(_COUNT_RECORDS, {"w": workspace, "ids": names})

    def put_ledger(self, entry: LedgerEntry) -> None:
        self._session.put(ledger, entry)

    def ledger(self, workspace: str, channel: str, message_id: str, now: datetime) -> LedgerEntry | None:
        where = {"workspace": workspace, "channel": channel, "message_id": message_id}
        return self._session.first(LedgerEntry, _LEDGER, now=now, **where)

    def answer_of(self, workspace: str, channel: str, message_id: str, now: datetime) -> list[LedgerEntry]:
        where = {"workspace": workspace, "channel": channel, "message_id": message_id}
        return self._session.all(LedgerEntry, _ANSWER, now=now, **where)

    def ledger_of_run(self, workspace: str, run_id: str) -> list[LedgerEntry]:
        return self._session.all(LedgerEntry, _LEDGER_OF_RUN, workspace=workspace, run_id=run_id)

    def newest_answer(self, workspace: str, channel: str, thread: str = "") -> str | None:
        newest = _NEWEST.where(_IS_REMEMBERED.where(episodes.c.thread == thread) if thread else _IS_REMEMBERED)
        row = self._session.row(newest, {"workspace": workspace, "channel": channel})
        return None if row is None else row.run_id

    def newest_answer_to(self, workspace: str, channel: str, person: str, since: datetime) -> str | None:
        row = self._session.row(
            _NEWEST_TO, {"workspace": workspace, "channel": channel, "asker": person, "since": since}
        )
        return None if row is None else row.run_id

    def sweep_ledger(self, now: datetime) -> int:
        return self._session.run(delete(ledger).where(_l.expires_at <= now))

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        self._session.require_writing()
        for ids in chunks(run_ids, ID_LIMIT):
            proven = self._session.rows(_PROVEN_IN, {"workspace": workspace, "ids": ids})
            for table in (ledger, reactions, votes_table, trust_evidence):
                self._session.run(delete(table).where(table.c.workspace == workspace, table.c.run_id.in_(ids)))
            self.recount(workspace, [row.actor for row in proven])


@cache
def _around(count: int) -> CompoundSelect[Any]:
    """The query of votes that may be limited, before and from each of `count` places."""
    parts: list[Any] = []
    for n in range(count):
        own = _PLACED.where(_v.workspace == bindparam(f"w{n}"), _v.actor == bindparam(f"actor{n}"), MAY_BE_LIMITED)
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
    place = {"w": vote.workspace, "actor": vote.actor, "at": vote.at, "run": vote.run_id, "node": vote.node_id}
    begin, end = vote.at - min(window, vote.at - _FIRST), vote.at + min(window, _LAST - vote.at)
    return place | {"begin": begin, "end": end}


def _key(vote: Vote) -> tuple[str, str, str, str]:
    return vote.workspace, vote.run_id, vote.node_id, vote.actor
