"""Incoming and outgoing messages in SQL."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    update,
)

from memory.adapters.row_validation import chunks, require_storable
from memory.adapters.sql.queries.chat_settings import is_set_in_chat
from memory.adapters.sql.queries.conversation_leases import AT_WORK, IS_UNFINISHED, is_held, of_turn, turn_at_once
from memory.adapters.sql.queries.people import channel_visibility
from memory.adapters.sql.tables.administration import settings
from memory.adapters.sql.tables.columns import READ_AS
from memory.adapters.sql.tables.deliveries import (
    channels,
    fresh_starts,
    incoming,
    incoming_askers,
    incoming_taps,
    muted_threads,
    outgoing,
)
from memory.adapters.sql.tables.dialect import insert, later
from memory.adapters.sql.tables.episodes import episodes
from memory.adapters.sql.tables.steps import short_memories
from memory.adapters.sql.tables.teaching import people, reactions
from memory.adapters.sql.transaction.session import ID_LIMIT, SqlTable, add_statement, among, matching
from memory.errors import NotFound
from memory.model import Exchange, Incoming, Outgoing, PostedPart, Progress, Scope, Tap, Turn, Visibility
from memory.model.delivery import AGAIN, CORRECTING


def changed_column(column: Column[Any]) -> ColumnElement[Any]:
    """A column of the changed row, for a subquery in RETURNING.

    SQLAlchemy omits the table's name there, so that it would be read as a column of the subquery's own table.
    """
    return literal_column(f"{column.table.name}.{column.name}", column.type)


_i = incoming.c
_o = outgoing.c
_SCOPE = ("workspace", "channel", "person", "thread", "visibility", "place")
_BESIDE_SCOPE = [column.name for column in _i if column.name not in _SCOPE]
_OWN, _OWN_OF, _SCOPE_OF = (*_BESIDE_SCOPE, *_SCOPE), attrgetter(*_BESIDE_SCOPE), attrgetter(*_SCOPE)
_a = incoming_askers.c
_t = incoming_taps.c
_READERS = (
    select(channels.c.visibility)
    .where(channels.c.workspace == changed_column(_i.workspace), channels.c.channel == changed_column(_i.channel))
    .scalar_subquery()
    .label("channel_visibility")
)
_HAS_NOTES = exists().where(
    short_memories.c.workspace == changed_column(_i.workspace), short_memories.c.person == changed_column(_i.person)
)
_IS_MUTED = exists().where(
    *(muted_threads.c[name] == changed_column(_i[name]) for name in ("workspace", "channel", "thread"))
)
_IS_NOTED = exists().where(
    people.c.workspace == changed_column(_i.workspace), people.c.person == changed_column(_i.person)
)
_HAS_SETTINGS = exists().where(settings.c.workspace == changed_column(_i.workspace))
_ACCEPT = (
    insert(incoming)
    .on_conflict_do_nothing()
    .returning(
        _READERS,
        _HAS_NOTES.label("has_notes"),
        _HAS_SETTINGS.label("has_settings"),
        _IS_MUTED.label("is_muted"),
        _IS_NOTED.label("is_noted"),
    )
)
_ACCEPT_WITH_TURN = _ACCEPT.values(turn=turn_at_once()).returning(_i.turn)
"""`_ACCEPT` for several processes: it also sets and returns the turn."""
_ASKER = (
    select(_a.person)
    .where(_a.workspace == _i.workspace, _a.event_id == _i.event_id)
    .correlate(incoming)
    .scalar_subquery()
)
_TAP = (_t.asked_run_id, _t.number, _t.role)
_KEEPS_NOTES = exists().where(short_memories.c.workspace == _i.workspace, short_memories.c.person == _i.person)
_IS_UNSENT = exists().where(_o.workspace == _i.workspace, _o.run_id == _i.run_id, _o.sent_at.is_(None))
# Whether all was posted is derived from the parts, so that no step has to store it.
_PROGRESS = case(
    (and_(_i.progress == Progress.ANSWERED, ~_IS_UNSENT), literal(Progress.DELIVERED, _i.progress.type)),
    else_=_i.progress,
)
_WHOLE = select(
    *(column for column in _i if column is not _i.progress),
    _PROGRESS.label("progress"),
    func.coalesce(_ASKER, "").label("asked_by"),
    channel_visibility(incoming),
    _KEEPS_NOTES.label("has_notes"),
    is_set_in_chat(incoming),
    *_TAP,
).join_from(incoming, incoming_taps, and_(_t.workspace == _i.workspace, _t.event_id == _i.event_id), isouter=True)
_chosen = incoming_taps.alias().c
_REPEATS = or_(
    _i.message_id.startswith(AGAIN),
    exists().where(_chosen.workspace == _i.workspace, _chosen.event_id == _i.event_id),
)
"""Whether a message's text is the question of another run (`Incoming.repeats`)."""
_INCOMING = _WHOLE.where(matching(incoming, "event_id"))
_OF_MESSAGE = _WHOLE.where(matching(incoming, "channel", "message_id"), _i.message_id != "")
_TAPS = _WHOLE.where(matching(incoming_taps, "asked_run_id")).order_by(_i.at, _i.event_id)
_TAPPED = select(func.count(_t.asked_run_id.distinct())).where(matching(incoming_taps))
_SENT = select(_o.part).where(matching(outgoing, "channel", "thread"), _o.sent_at.is_not(None)).limit(1)
_ASKER_IN = (
    select(_i.person)
    .join(outgoing, and_(_o.workspace == _i.workspace, _o.run_id == _i.run_id))
    .where(matching(outgoing, "channel", "thread"), _o.sent_at.is_not(None), ~_i.message_id.startswith(CORRECTING))
    .order_by(_o.sent_at.desc(), _o.run_id.desc())
    .limit(1)
)
_OF_RUN = _WHOLE.where(matching(incoming, "run_id"), _i.run_id != "").order_by(_i.at, _i.event_id)
_UNFINISHED = _WHOLE.where(IS_UNFINISHED).order_by(_i.at, _i.workspace, _i.event_id)
_SET_ASIDE = _WHOLE.where(_i.progress == Progress.SET_ASIDE).order_by(
    _i.at.desc(), _i.workspace.desc(), _i.event_id.desc()
)
_BEING_ANSWERED = (
    _WHOLE.where(matching(incoming, "channel", "thread"), _i.progress == Progress.ACCEPTED)
    .where(_i.turn.in_(AT_WORK), is_held(incoming))
    .order_by(_i.at, _i.event_id)
)
_MOVE = update(incoming).where(_i.workspace == bindparam("w"), _i.event_id == bindparam("event"))
_IS_OPEN = or_(_i.progress != Progress.ANSWERED, _IS_UNSENT)
"""Whether the stored progress is the real one: an answered message whose parts are all posted is delivered."""
_ADVANCE = _MOVE.where(_i.progress == bindparam("before"), _IS_OPEN).values(progress=bindparam("after"))
_ADVANCE_TO_RUN = _ADVANCE.values(run_id=bindparam("run"))
_ASKER_OF_CHANGED = (
    select(_a.person)
    .where(_a.workspace == changed_column(_i.workspace), _a.event_id == changed_column(_i.event_id))
    .scalar_subquery()
)
_ANSWER = _ADVANCE_TO_RUN.values(understood=bindparam("meant")).returning(
    *_i, func.coalesce(_ASKER_OF_CHANGED, "").label("asked_by"), _READERS
)
_ADVANCE_RUN = (
    update(incoming)
    .where(_i.workspace == bindparam("w"), _i.run_id == bindparam("run"), _i.run_id != "")
    .where(_i.progress == bindparam("before"), _IS_OPEN)
    .values(progress=bindparam("after"))
)
_OUTGOING = select(outgoing, channel_visibility(outgoing)).where(among(outgoing, "run_id")).order_by(_o.part)
_f = fresh_starts.c
_BEGIN_ANEW = insert(fresh_starts).on_conflict_do_update(
    index_elements=["workspace", "person", "channel"],
    set_={"at": later(_f.at, insert(fresh_starts).excluded.at)},
)
_IS_OVER = exists().where(_f.workspace == _i.workspace, _f.person == _i.person, _f.at >= _i.at)
_EXCHANGED = (_i.event_id, _i.run_id, _i.message_id, _i.at, _i.visibility, _i.text, _i.understood)
_EXCHANGES = (
    select(_i.workspace, *_EXCHANGED, func.coalesce(_ASKER, _i.person).label("person"))
    .where(_i.workspace == bindparam("w"), _i.channel == bindparam("c"), _i.at <= bindparam("until"))
    .where(_i.run_id != "", _i.text != "")
)
_DROP_UNSENT = delete(outgoing).where(matching(outgoing, "run_id"), _o.sent_at.is_(None))
_ROOT = (
    select(episodes.c.id)
    .where(episodes.c.workspace == changed_column(_o.workspace), episodes.c.run_id == changed_column(_o.run_id))
    .order_by(episodes.c.step_number, episodes.c.id)
    .limit(1)
    .scalar_subquery()
)
_HAS_REACTIONS = exists().where(
    reactions.c.workspace == changed_column(_o.workspace),
    reactions.c.channel == changed_column(_o.channel),
    reactions.c.message_id == bindparam("message"),
)
_HAS_EARLY_REACTIONS = _HAS_REACTIONS.where(reactions.c.run_id == "")
_IS_OF_ANOTHER = _HAS_REACTIONS.where(reactions.c.run_id != "", reactions.c.run_id != bindparam("run"))
_POST = (
    update(outgoing)
    .where(_o.workspace == bindparam("w"), _o.run_id == bindparam("run"), _o.part == bindparam("number"))
    .where(_o.sent_at.is_(None))
    .values(sent_at=bindparam("at"), message_id=bindparam("message"))
    .returning(
        _o.channel,
        func.coalesce(_ROOT, "").label("root_id"),
        _HAS_EARLY_REACTIONS.label("has_early_reactions"),
        _IS_OF_ANOTHER.label("is_of_another"),
    )
)


@cache
def _exchanges(by: tuple[str, ...], *, oldest_first: bool) -> Select[Any]:
    """The query of the latest or oldest answered messages, by equality of the columns `by`, with the posted parts."""
    # A thread is shared by people, so only a fresh start in all channels ends it.
    places = _f.channel.in_(("", bindparam("c"))) if "person" in by else _f.channel == ""
    query = _EXCHANGES.where(~_IS_OVER.where(places)).where(*(_i[name] == bindparam(name) for name in by))
    order = (_i.at, _i.run_id) if oldest_first else (_i.at.desc(), _i.run_id.desc())
    asked = query.order_by(*order).limit(bindparam("limit")).subquery()
    posted = and_(_o.workspace == asked.c.workspace, _o.run_id == asked.c.run_id, _o.sent_at.is_not(None))
    again = (asked.c.at, asked.c.run_id) if oldest_first else (asked.c.at.desc(), asked.c.run_id.desc())
    of_messages = [column for column in asked.c if column.name != "workspace"]
    parts = select(*of_messages, _o.text.label("part"), _o.sent_at, _o.message_id.label("posted")).join(
        outgoing, posted
    )
    return parts.order_by(*again, _o.part)


class SqlDeliveryTable(SqlTable):
    """`memory.ports.DeliveryTable` in SQL."""

    def accept(self, message: Incoming) -> Incoming | None:
        if not require_storable(message).event_id:
            raise ValueError("an incoming message needs the id of the event that brought it")
        own = dict(zip(_OWN, (*_OWN_OF(message), *_SCOPE_OF(message.scope)), strict=True))
        takes_turn = message.held_by != "" and message.turn is Turn.WAITS
        if takes_turn:
            own = {name: value for name, value in own.items() if name != "turn"} | of_turn(message)
        row = self._session.changed(_ACCEPT_WITH_TURN if takes_turn else _ACCEPT, own)
        if row is None:
            return None
        event = {"workspace": message.scope.workspace, "event_id": message.event_id}
        if message.asked_by:
            self._session.run(add_statement(incoming_askers), {**event, "person": message.asked_by})
        if tap := message.tap:
            row_of_tap = {**event, "asked_run_id": tap.run_id, "number": tap.number, "role": tap.role}
            self._session.run(add_statement(incoming_taps), row_of_tap)
        beside = ("channel_visibility", "has_notes", "has_settings", "is_muted", "is_noted")
        known = {name: getattr(row, name) for name in beside}
        return replace(message, turn=row.turn if takes_turn else message.turn, **known)

    def incoming(self, workspace: str, event_id: str) -> Incoming | None:
        return self._session.first(incoming_of, _INCOMING, workspace=workspace, event_id=event_id)

    def incoming_of_message(self, workspace: str, channel: str, message_id: str) -> Incoming | None:
        where = {"workspace": workspace, "channel": channel, "message_id": message_id}
        return self._session.first(incoming_of, _OF_MESSAGE, **where)

    def reword(
        self, workspace: str, event_id: str, text: str, visibility: Visibility | None = None, understood: str = ""
    ) -> None:
        values: dict[str, object] = {"text": require_storable(text), "understood": require_storable(understood)}
        values |= {"visibility": visibility} if visibility else {}
        if not self._session.run(_MOVE.values(values), {"w": workspace, "event": event_id}):
            raise NotFound(f"No message was accepted for event {event_id} in {workspace}; accept it first.")

    def has_sent(self, workspace: str, channel: str, thread: str) -> bool:
        return self._session.row(_SENT, {"workspace": workspace, "channel": channel, "thread": thread}) is not None

    def asker_in(self, workspace: str, channel: str, thread: str) -> str:
        row = self._session.row(_ASKER_IN, {"workspace": workspace, "channel": channel, "thread": thread})
        return "" if row is None else str(row.person)

    def incoming_of_run(self, workspace: str, run_id: str) -> Incoming | None:
        return self._session.first(incoming_of, _OF_RUN, workspace=workspace, run_id=run_id)

    def taps(self, workspace: str, asked_run_id: str) -> list[Incoming]:
        return self._session.all(incoming_of, _TAPS, workspace=workspace, asked_run_id=asked_run_id)

    def tapped(self, workspace: str) -> int:
        row = self._session.row(_TAPPED, {"workspace": workspace})
        return 0 if row is None else int(row[0])

    def advance(self, workspace: str, event_id: str, before: Progress, after: Progress, run_id: str = "") -> bool:
        move = {"w": workspace, "event": event_id, "before": before, "after": after}
        if run_id:
            return self._session.run(_ADVANCE_TO_RUN, {**move, "run": require_storable(run_id)}) == 1
        return self._session.run(_ADVANCE, move) == 1

    def exchanges(
        self,
        workspace: str,
        channel: str,
        *,
        until: datetime,
        thread: str = "",
        person: str = "",
        run_id: str = "",
        limit: int,
        oldest_first: bool = False,
    ) -> list[Exchange]:
        wanted = {"thread": thread, "person": person, "run_id": run_id}
        by = tuple(name for name, value in wanted.items() if value)
        where = {"w": workspace, "c": channel, "until": until, "limit": limit} | {name: wanted[name] for name in by}
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self._session.rows(_exchanges(by, oldest_first=oldest_first), where):
            found.setdefault(row.event_id, []).append(dict(row._mapping))
        exchanges: list[Exchange] = []
        for rows in found.values():
            each_part = ((row.pop("part"), row.pop("sent_at"), row.pop("posted")) for row in rows)
            parts, times, posted = zip(*each_part, strict=True)
            if answer := "\n".join(filter(None, parts)):
                exchanges.append(Exchange(**rows[0], answer=answer, answered_at=max(times), posted=posted))
        return exchanges

    def begin_anew(self, workspace: str, person: str, channel: str, at: datetime) -> None:
        row = {"workspace": workspace, "person": person, "channel": channel, "at": require_storable(at)}
        self._session.run(_BEGIN_ANEW, row)

    def answer(self, workspace: str, event_id: str, run_id: str, understood: str = "") -> Incoming | None:
        move = {"w": workspace, "event": event_id, "before": Progress.ACCEPTED, "after": Progress.ANSWERED}
        row = self._session.changed(
            _ANSWER, {**move, "run": require_storable(run_id), "meant": require_storable(understood)}
        )
        return None if row is None else incoming_of(**row._mapping)

    def advance_run(self, workspace: str, run_id: str, before: Progress, after: Progress) -> bool:
        return self._session.run(_ADVANCE_RUN, {"w": workspace, "run": run_id, "before": before, "after": after}) > 0

    def unfinished(self) -> list[Incoming]:
        return self._session.all(incoming_of, _UNFINISHED)

    def being_answered(self, workspace: str, channel: str, thread: str, now: datetime) -> list[Incoming]:
        where = {"workspace": workspace, "channel": channel, "thread": thread, "now": now}
        return self._session.all(incoming_of, _BEING_ANSWERED, **where)

    def set_aside(self) -> list[Incoming]:
        return self._session.all(incoming_of, _SET_ASIDE)

    def put_exit_counts(self, workspace: str, event_id: str, *, crashes: int, kills: int) -> None:
        self._session.run(_MOVE.values(crashes=crashes, kills=kills), {"w": workspace, "event": event_id})

    def messages_of(self, workspace: str, channel: str, person: str, limit: int) -> list[Incoming]:
        query = _WHOLE.where(_i.workspace == workspace, _i.person == person, _ASKER.is_(None))
        if channel:
            query = query.where(_i.channel == channel)
        return self._session.all(incoming_of, query.order_by(_i.at.desc(), _i.event_id.desc()).limit(limit))

    def put_outgoing(self, *parts: Outgoing) -> None:
        self._session.put(outgoing, *parts)

    def post(self, workspace: str, run_id: str, part: int, message_id: str, at: datetime) -> PostedPart | None:
        where = {"w": workspace, "run": run_id, "number": part}
        row = self._session.changed(
            _POST, {**where, "message": require_storable(message_id), "at": require_storable(at)}
        )
        return None if row is None else PostedPart(**row._mapping)

    def outgoing(self, workspace: str, run_id: str) -> list[Outgoing]:
        return self.outgoing_of_runs(workspace, [run_id]).get(run_id, [])

    def outgoing_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Outgoing]]:
        return self._session.grouped("run_id", Outgoing, _OUTGOING, workspace, run_ids)

    def drop_unsent(self, workspace: str, run_id: str) -> bool:
        return self._session.run(_DROP_UNSENT, {"workspace": workspace, "run_id": run_id}) > 0

    def delete_by(self, workspace: str, person: str) -> int:
        self._session.require_writing()
        is_theirs = and_(_i.workspace == workspace, or_(_i.person == person, _ASKER.is_not_distinct_from(person)))
        runs = self._session.rows(select(_i.run_id).distinct().where(is_theirs, _i.run_id != ""))
        self.delete_runs(workspace, [row.run_id for row in runs])
        self._session.run(delete(fresh_starts).where(_f.workspace == workspace, _f.person == person))
        return self._session.run(delete(incoming).where(is_theirs))

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        self._session.require_writing()
        for ids in chunks(run_ids, ID_LIMIT):
            here = and_(_o.workspace == workspace, _o.run_id.in_(ids))
            self._session.run(delete(outgoing).where(here))
            of_runs = and_(_i.workspace == workspace, _i.run_id.in_(ids))
            self._session.run(update(incoming).where(of_runs, _i.understood != "").values(understood=""))
            self._session.run(update(incoming).where(of_runs, _REPEATS).values(text=""))

    def drop_repeats(self, workspace: str, run_ids: Collection[str]) -> None:
        self._session.require_writing()
        waiting = _WHOLE.where(_i.workspace == workspace, _i.progress == Progress.ACCEPTED, _REPEATS)
        found = [each.event_id for each in self._session.all(incoming_of, waiting) if each.repeats in run_ids]
        for ids in chunks(found, ID_LIMIT):
            self._session.run(delete(incoming).where(_i.workspace == workspace, _i.event_id.in_(ids)))


def incoming_of(**values: Any) -> Incoming:  # noqa: ANN401 - columns
    """A message from a row's columns."""
    run_id, number, role = (values.pop(name, None) for name in ("asked_run_id", "number", "role"))
    tap = Tap(run_id=run_id, number=number, role=role) if run_id else None
    return Incoming(scope=Scope(**{name: values.pop(name) for name in _SCOPE}), tap=tap, **values)


incoming.info[READ_AS] = incoming_of
