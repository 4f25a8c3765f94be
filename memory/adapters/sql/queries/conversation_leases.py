"""Leases of conversations, and the processes that hold them, in SQL."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    FromClause,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
    union,
    update,
)

from memory.adapters.row_validation import chunks
from memory.adapters.sql.tables.administration import leases
from memory.adapters.sql.tables.deliveries import incoming, outgoing
from memory.adapters.sql.transaction.session import ID_LIMIT, SqlTable
from memory.model import Incoming, Progress, Turn, Visibility
from memory.ports.administration import LeasedMessage

CHANNEL = "goodbot"
"""The PostgreSQL channel of notifications between processes."""
PROCESS = "process/"
"""Prefix of the names of leases that show that a process is alive."""

_i = incoming.c
_o = outgoing.c
AT_WORK = (Turn.HAS, Turn.STOPS)
_KEY = (_i.workspace, _i.event_id)
_UNSENT = select(_o.workspace, _o.run_id).where(_o.sent_at.is_(None))
# Negated where it is used, so that no index of progress is used.
_IS_OVER = _i.progress.in_([Progress.ACCEPTED, Progress.WITHDRAWN, Progress.UNDELIVERABLE])
IS_UNFINISHED = or_(_i.progress == Progress.ACCEPTED, and_(tuple_(_i.workspace, _i.run_id).in_(_UNSENT), ~_IS_OVER))
"""Whether a message is accepted, or answered or set aside with unsent parts (found by these parts)."""


def is_held(message: FromClause) -> ColumnElement[bool]:
    """Whether the process that holds a message is alive."""
    lease = leases.alias()
    return exists().where(lease.c.name == literal(PROCESS) + message.c.held_by, lease.c.until > bindparam("now"))


def _in_one_conversation(one: FromClause, other: FromClause) -> ColumnElement[bool]:
    """Whether two messages are of one conversation (`Scope.conversation`)."""
    same = (one.c[name] == other.c[name] for name in ("workspace", "channel", "thread"))
    is_everybodys = or_(one.c.thread != "", one.c.visibility == Visibility.DIRECT)
    return and_(*same, or_(is_everybodys, one.c.person == other.c.person))


# The workspace's parameter is `home`, so that PostgreSQL locks only the rows, and writers of the workspace do not wait.
_open = select(*_i).where(_i.workspace == bindparam("home"), IS_UNFINISHED).cte("open")
_c, _other, _earlier = _open.alias("candidate"), _open.alias("other"), _open.alias("earlier")
_IS_TAKEN = exists().where(
    _in_one_conversation(_other, _c), _other.c.event_id != _c.c.event_id, _other.c.turn.in_(AT_WORK), is_held(_other)
)
_IS_BEHIND = exists().where(
    _in_one_conversation(_earlier, _c),
    _earlier.c.progress == Progress.ACCEPTED,
    or_(_earlier.c.turn != Turn.LEFT, ~is_held(_earlier)),
    tuple_(_earlier.c.at, _earlier.c.event_id) < tuple_(_c.c.at, _c.c.event_id),
)
_FREE = select(_c.c.workspace, _c.c.event_id).where(
    or_(and_(_c.c.held_by == bindparam("process"), _c.c.turn == Turn.WAITS), ~is_held(_c)),
    ~_IS_TAKEN,
    or_(_c.c.progress != Progress.ACCEPTED, ~_IS_BEHIND),
)
_TAKE = (
    select(*_KEY, _i.held_by)
    .where(tuple_(*_KEY).in_(_FREE))
    .order_by(_i.at, _i.event_id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True, of=incoming)
)
_PUT = update(incoming).where(_i.workspace == bindparam("home"), _i.event_id == bindparam("event"))
_GIVE = _PUT.values(held_by=bindparam("process"), turn=Turn.HAS)
_STOP = _PUT.where(_i.turn == Turn.HAS).values(turn=Turn.STOPS)
_UNFINISHED_IN = union(
    select(_i.workspace).where(_i.progress == Progress.ACCEPTED), select(_o.workspace).where(_o.sent_at.is_(None))
)
_HELD = (
    select(*_KEY, _i.turn)
    .where(_i.held_by == bindparam("process"), _i.turn.in_(AT_WORK), IS_UNFINISHED)
    .order_by(_i.at, _i.event_id)
)
_LEAVE = (
    update(incoming)
    .where(_i.held_by == bindparam("process"), _i.turn.in_(AT_WORK))
    .where(tuple_(*_KEY).in_(bindparam("keys", expanding=True)))
    .values(turn=Turn.LEFT)
)
_l, _dead = leases.c, leases.alias("dead")
_RELEASE_LEASES_OF_DEAD = delete(leases).where(
    ~_l.name.startswith(literal(PROCESS)),
    exists().where(_dead.c.name == literal(PROCESS) + _l.owner, _dead.c.until <= bindparam("now")),
)
_DELETE_DEAD = delete(leases).where(_l.name.startswith(literal(PROCESS)), _l.until <= bindparam("now"))
_ALIVE = select(_l.owner).where(_l.name.startswith(literal(PROCESS)), _l.until > bindparam("now")).order_by(_l.owner)


def turn_at_once() -> ColumnElement[Turn]:
    """The turn of a newly accepted message: it waits if another one of its conversation is unfinished.

    Its parameters are those of `of_turn`.
    """
    here, sent = incoming.alias("here"), outgoing.alias("unsent")
    is_there = and_(
        *(here.c[name] == bindparam(f"its_{name}", type_=_i[name].type) for name in ("workspace", "channel", "thread")),
        or_(bindparam("its_own") == "", here.c.person == bindparam("its_own")),
    )
    is_accepted = exists().where(is_there, here.c.progress == Progress.ACCEPTED, here.c.turn != Turn.LEFT)
    is_posted = exists().where(
        sent.c.sent_at.is_(None),
        sent.c.workspace == here.c.workspace,
        sent.c.run_id == here.c.run_id,
        here.c.turn.in_(AT_WORK),
        here.c.progress.in_([Progress.ANSWERED, Progress.SET_ASIDE]),
        is_there,
    )
    waits, has = literal(Turn.WAITS, _i.turn.type), literal(Turn.HAS, _i.turn.type)
    return case((or_(is_accepted, is_posted), waits), else_=has)


def of_turn(message: Incoming) -> dict[str, object]:
    """The parameters of `turn_at_once`."""
    workspace, channel, thread, person = message.scope.conversation
    return {"its_workspace": workspace, "its_channel": channel, "its_thread": thread, "its_own": person}


class SqlConversationLeaseTable(SqlTable):
    """`memory.ports.ConversationLeaseTable` in SQL."""

    def take(self, process: str, workspace: str, now: datetime, limit: int) -> list[LeasedMessage]:
        self._session.require_writing()
        where = {"process": process, "home": workspace, "now": now, "limit": limit}
        taken = self._session.rows(_TAKE, where)
        self._session.run(_GIVE, [{"home": row.workspace, "event": row.event_id, "process": process} for row in taken])
        return [
            LeasedMessage(
                workspace=row.workspace,
                event_id=row.event_id,
                holder_before=row.held_by if row.held_by != process else "",
            )
            for row in taken
        ]

    def unfinished_in(self) -> set[str]:
        return {str(row.workspace) for row in self._session.rows(_UNFINISHED_IN)}

    def held(self, process: str) -> list[LeasedMessage]:
        rows = self._session.rows(_HELD, {"process": process})
        return [
            LeasedMessage(workspace=row.workspace, event_id=row.event_id, is_stopped=row.turn is Turn.STOPS)
            for row in rows
        ]

    def leave(self, process: str, messages: Collection[tuple[str, str]]) -> None:
        self._session.require_writing()
        for some in chunks(messages, ID_LIMIT):
            self._session.run(_LEAVE, {"process": process, "keys": some})

    def stop(self, workspace: str, event_id: str) -> bool:
        return self._session.run(_STOP, {"home": workspace, "event": event_id}) == 1

    def announce(self, news: str) -> None:
        if not self._session.is_sqlite:
            self._session.row(select(func.pg_notify(CHANNEL, bindparam("news"))), {"news": news})

    def release_dead(self, now: datetime) -> None:
        self._session.run(_RELEASE_LEASES_OF_DEAD, {"now": now})
        self._session.run(_DELETE_DEAD, {"now": now})

    def alive(self, now: datetime) -> list[str]:
        return [str(row.owner) for row in self._session.rows(_ALIVE, {"now": now})]
