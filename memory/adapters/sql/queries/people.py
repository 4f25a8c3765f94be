"""People, welcomes, channels and muted threads in SQL."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Label,
    String,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    null,
    select,
    union_all,
)

from memory.adapters.sql.tables.deliveries import channels, incoming, incoming_askers, muted_threads
from memory.adapters.sql.tables.episodes import borrowed_words, episodes
from memory.adapters.sql.tables.steps import short_memories, step_grades, steps
from memory.adapters.sql.tables.teaching import people as people_table, reactions, votes, welcomes
from memory.adapters.sql.tables.topics import topic_revisions, topics
from memory.adapters.sql.transaction.session import SqlTable, add_statement, among, matching
from memory.model import Channel, KnownPeople, MutedThread, Origin, Role
from memory.ports.people import EVERYBODY

_p, _e = people_table.c, episodes.c
_who = bindparam("who", type_=String())
_KNOWN = select(_p.person, _p.known_from).where(among(people_table, "person"))
_TAUGHT_FROM = select(null(), func.min(votes.c.at)).where(
    votes.c.workspace == bindparam("workspace"), votes.c.role == Role.TEACHER
)
_ACQUAINTANCE = union_all(_KNOWN, _TAUGHT_FROM)
_FORGET = delete(people_table).where(matching(people_table, "person"))
_WELCOMED = select(welcomes.c.at).where(matching(welcomes, "person"))
_FORGET_WELCOME = delete(welcomes).where(matching(welcomes, "person"))
_is_lesson_of_another = and_(_e.author.not_in(["", _who]), _e.origin != Origin.RUN)
_is_anothers = and_(_e.person == _who, _is_lesson_of_another)
_holds_words = _e.id.in_(
    select(borrowed_words.c.episode_id).where(
        borrowed_words.c.workspace == bindparam("w"), borrowed_words.c.person == _who
    )
)
_was_asked_again = (
    exists()
    .where(incoming_askers.c.workspace == incoming.c.workspace, incoming_askers.c.event_id == incoming.c.event_id)
    .correlate(incoming)
)

_c = channels.c
_GET = select(channels).where(matching(channels, "channel"))
_MUTED = select(muted_threads.c.since).where(matching(muted_threads, "channel", "thread"))
_SWEEP = delete(muted_threads).where(muted_threads.c.thread != "", muted_threads.c.since < bindparam("before"))
_UNMUTE = delete(muted_threads).where(matching(muted_threads, "channel", "thread"))


def _number(name: str, table: Table, *conditions: ColumnElement[bool]) -> Label[int]:
    counted = select(func.count()).select_from(table).where(table.c.workspace == bindparam("w"), *conditions)
    return counted.scalar_subquery().label(name)


_HELD = select(
    _number("asked", episodes, _e.person == _who, ~_is_anothers),
    _number("written", episodes, _e.author == _who, _e.person != _who),
    _number("kept", episodes, _is_anothers),
    _number("borrowed", episodes, _is_lesson_of_another, _e.person != _who, _holds_words),
    _number("messages", incoming, incoming.c.person == _who, ~_was_asked_again),
    *(
        _number(name, table, table.c[column] == _who)
        for name, table, column in (
            ("reactions", reactions, "actor"),
            ("topics", topics, "person"),
            ("values", topic_revisions, "person"),
            ("steps", steps, "person"),
            ("grades", step_grades, "actor"),
            ("short", short_memories, "person"),
            ("welcomes", welcomes, "person"),
        )
    ),
)
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


class SqlPeopleTable(SqlTable):
    """`memory.ports.PeopleTable` in SQL."""

    def note(
        self, workspace: str, person: str, at: datetime, newcomer: timedelta, *, known: KnownPeople | None = None
    ) -> KnownPeople:
        if known is None:
            known = KnownPeople(known_from=self._known(workspace, [person, EVERYBODY]))
        if person in known.known_from:
            return known
        founded = known.known_from.get(EVERYBODY)
        later = at + min(newcomer, datetime.max.replace(tzinfo=UTC) - at)
        new = {person: _ALWAYS if founded is None or at <= founded else later}
        if founded is None:
            new[EVERYBODY] = later
        rows = [{"workspace": workspace, "person": each, "known_from": since} for each, since in new.items()]
        self._session.run(add_statement(people_table), rows)
        return replace(known, known_from={**known.known_from, **new})

    def known_people(self, workspace: str, people: Iterable[str]) -> KnownPeople:
        rows = self._session.rows(_ACQUAINTANCE, {"workspace": workspace, "ids": list(dict.fromkeys(people))})
        known = {row.person: row.known_from for row in rows}
        taught_from = known.pop(None, None)
        return KnownPeople(known_from=known, taught_from=taught_from)

    def listed(self, workspace: str, *, after: str, limit: int) -> list[str]:
        behind = (_p.workspace == workspace, _p.person > after, _p.person != EVERYBODY)
        rows = self._session.rows(select(_p.person).where(*behind).order_by(_p.person).limit(limit))
        return [row.person for row in rows]

    def held(self, workspace: str, person: str) -> dict[str, int]:
        (row,) = self._session.rows(_HELD, {"w": workspace, "who": person})
        counts = dict(row._mapping)
        counts["kept"] += counts.pop("borrowed")
        return {"episodes": counts.pop("asked") + counts.pop("written"), **counts}

    def forget(self, workspace: str, person: str) -> None:
        for forget in (_FORGET, _FORGET_WELCOME):
            self._session.run(forget, {"workspace": workspace, "person": person})

    def welcome(self, workspace: str, at: datetime, *, channel: str = "", person: str = "") -> bool:
        row = {"workspace": workspace, "channel": channel, "person": person, "at": at}
        return self._session.run(add_statement(welcomes), row) == 1

    def welcomed_at(self, workspace: str, person: str) -> datetime | None:
        row = self._session.row(_WELCOMED, {"workspace": workspace, "person": person})
        return None if row is None else row.at

    def _known(self, workspace: str, people: Iterable[str]) -> dict[str, datetime]:
        return {row.person: row.known_from for row in self._session.each(_KNOWN, workspace, people)}


class SqlChannelTable(SqlTable):
    """`memory.ports.ChannelTable` in SQL."""

    def put(self, channel: Channel) -> None:
        self._session.put(channels, channel)

    def get(self, workspace: str, channel: str) -> Channel | None:
        return self._session.first(Channel, _GET, workspace=workspace, channel=channel)

    def mute(self, thread: MutedThread) -> None:
        self._session.put(muted_threads, thread)

    def unmute(self, workspace: str, channel: str, thread: str) -> None:
        self._session.run(_UNMUTE, {"workspace": workspace, "channel": channel, "thread": thread})

    def sweep_mutes(self, before: datetime) -> int:
        return self._session.run(_SWEEP, {"before": before})

    def is_muted(self, workspace: str, channel: str, thread: str) -> bool:
        where = {"workspace": workspace, "channel": channel, "thread": thread}
        return self._session.row(_MUTED, where) is not None


def channel_visibility(table: Table) -> Label[Any]:
    """The column `channel_visibility` for a table: the current visibility of the row's channel; NULL if unknown."""
    here = select(_c.visibility).where(_c.workspace == table.c.workspace, _c.channel == table.c.channel)
    return here.correlate(table).scalar_subquery().label("channel_visibility")
