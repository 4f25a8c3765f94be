"""The append-only event log and claims of handled events in SQL."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from sqlalchemy import and_, bindparam, delete, func, select, update

from memory.adapters.row_validation import claim_key, one_workspace, require_all_storable, require_storable
from memory.adapters.sql.tables.dialect import insert
from memory.adapters.sql.tables.episodes import IS_GRADING, episodes, events, processed_events
from memory.adapters.sql.transaction.session import SqlTable, add_statement, among, matching
from memory.model import Event, EventKind

_t = events.c
_CLAIM = add_statement(processed_events)
_GIVE_BACK = delete(processed_events).where(matching(processed_events, "event_digest"))
_LAST_SEQ = (
    select(_t.seq).where(_t.workspace == bindparam("w"), _t.seq > 0).order_by(_t.seq.desc()).limit(1).scalar_subquery()
)
# A workspace has one writer at a time, so the order of numbers is the order of commits.
_APPEND = insert(events).values(seq=func.coalesce(_LAST_SEQ, 0) + 1).on_conflict_do_nothing().inline()
_COLUMNS = [column.name for column in _t if column.name != "seq"]
_GIVEN, _VALUES = (*_COLUMNS, "w"), attrgetter(*_COLUMNS, "workspace")
_LAST = (
    select(_t.source_event_id, _t.episode_id, _t.kind, _t.seq)
    .where(_t.workspace == bindparam("w"))
    .order_by(_t.seq.desc())
    .limit(bindparam("count"))
)
_OF_EPISODE = select(events).where(matching(events, "episode_id")).order_by(_t.seq)
_OF_EPISODES = select(events).where(among(events, "episode_id")).order_by(_t.seq)
_GRADINGS = select(events).where(among(events, "episode_id"), IS_GRADING).order_by(_t.seq)
_OF_SOURCES = select(events).where(among(events, "source_event_id"), _t.source_event_id != "")
_OF_RUN = (
    select(events)
    .join(episodes, and_(episodes.c.workspace == _t.workspace, episodes.c.id == _t.episode_id))
    .where(matching(episodes, "run_id"))
    .order_by(_t.seq)
)


class SqlEventLog(SqlTable):
    """`memory.ports.EventLog` in SQL."""

    def claim(self, workspace: str, source_event_id: str, at: datetime) -> bool:
        if not source_event_id:
            raise ValueError("only an event with an id can be claimed")
        require_storable((workspace, source_event_id, at))
        row = {"workspace": workspace, "event_digest": claim_key(workspace, source_event_id), "at": at}
        return self._session.run(_CLAIM, row) == 1

    def give_back(self, workspace: str, source_event_ids: Iterable[str]) -> None:
        for each in source_event_ids:
            self._session.run(_GIVE_BACK, {"workspace": workspace, "event_digest": claim_key(workspace, each)})

    def sweep_claims(self, before: datetime) -> int:
        return self._session.run(delete(processed_events).where(processed_events.c.at < before))

    def append(self, *new: Event, numbered: bool = False) -> list[Event]:
        if not new:
            return []
        workspace = one_workspace(new)
        rows = [dict(zip(_GIVEN, _VALUES(each), strict=True)) for each in require_all_storable(new)]
        count = self._session.run(_APPEND, rows)
        if count == len(rows) and not numbered:
            return list(new)
        stored = self._stored(new, workspace, count)
        return [replace(each, seq=seq) for each, seq in stored] if numbered else [each for each, _ in stored]

    def _stored(self, new: Sequence[Event], workspace: str, count: int) -> list[tuple[Event, int]]:
        """The events that were just appended, with their numbers: the last `count` of the log, in the order given."""
        last = list(self._session.rows(_LAST, {"w": workspace, "count": count})) if count else []
        return [
            (each, last.pop().seq)
            for each in new
            if last and tuple(last[-1])[:3] == (each.source_event_id, each.episode_id, each.kind)
        ]

    def of_episode(self, workspace: str, episode_id: str) -> list[Event]:
        return self._session.all(Event, _OF_EPISODE, workspace=workspace, episode_id=episode_id)

    def of_episodes(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[Event]]:
        return self._session.grouped("episode_id", Event, _OF_EPISODES, workspace, episode_ids)

    def gradings(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[Event]]:
        return self._session.grouped("episode_id", Event, _GRADINGS, workspace, episode_ids)

    def of_run(self, workspace: str, run_id: str) -> list[Event]:
        return self._session.all(Event, _OF_RUN, workspace=workspace, run_id=run_id)

    def of_sources(self, workspace: str, source_event_ids: Iterable[str]) -> list[Event]:
        found = [Event(**row._mapping) for row in self._session.each(_OF_SOURCES, workspace, source_event_ids)]
        return sorted(found, key=lambda each: each.seq)

    def newest(
        self, workspace: str, *, actor: str = "", kind: EventKind | None = None, before: int = 0, limit: int
    ) -> list[Event]:
        wanted = select(events).where(_t.workspace == workspace)
        if actor:
            wanted = wanted.where(_t.actor == actor)
        if kind is not None:
            wanted = wanted.where(_t.kind == kind)
        if before:
            wanted = wanted.where(_t.seq < before)
        return self._session.all(Event, wanted.order_by(_t.seq.desc()).limit(limit))

    def erase_actor(self, workspace: str, actor: str) -> list[str]:
        self._session.require_writing()
        own = and_(_t.workspace == workspace, _t.actor == actor)
        about = self._session.rows(select(_t.episode_id).distinct().where(own).order_by(_t.episode_id))
        self._session.run(delete(events).where(own))
        return [row.episode_id for row in about]

    def erase_correction(self, workspace: str, episode_id: str, lesson_id: str, text: str) -> None:
        self._session.require_writing()
        for each in self.of_episode(workspace, episode_id):
            if each.kind is not EventKind.CORRECTED:
                continue
            lesson, here = each.detail.get("lesson", ""), and_(_t.workspace == workspace, _t.seq == each.seq)
            if lesson == lesson_id or (not lesson and each.detail.get("text") == text):
                self._session.run(delete(events).where(here))
            elif each.detail.get("text") == text:  # its link to the other lesson stays
                self._session.run(update(events).where(here).values(detail={**each.detail, "text": ""}))

    def erase_reasons(self, workspace: str, run_id: str, actor: str, at: datetime) -> None:
        self._session.require_writing()
        own = [each for each in self.of_run(workspace, run_id) if each.actor == actor and each.detail.get("reason")]
        given = {each.detail["reason"] for each in own if each.at == at}
        for each in own:
            if each.detail["reason"] in given:
                here = and_(_t.workspace == workspace, _t.seq == each.seq)
                self._session.run(update(events).where(here).values(detail={**each.detail, "reason": ""}))

    def by_actor(self, workspace: str, actor: str, kinds: Sequence[EventKind], limit: int = 100) -> list[Event]:
        own = and_(_t.workspace == workspace, _t.actor == actor, _t.kind.in_(kinds))
        return self._session.all(Event, select(events).where(own).order_by(_t.seq.desc()).limit(limit))
