"""Recalls with their injected lessons and signals in SQL.

Uses are counted in one statement on SQLite, with the rules of `memory.rules.strength` applied to the lessons' rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Float, Row, String, and_, bindparam, case, delete, func, insert, select, update

from memory.adapters.row_validation import check_items, chunks, require_storable
from memory.adapters.sql.tables.episodes import episodes, retrieval_items, retrievals
from memory.adapters.sql.tables.types import UtcDateTime
from memory.adapters.sql.transaction.session import ID_LIMIT, Session, SqlTable, add_statement, among, matching, row_of
from memory.errors import NotFound
from memory.model import Retrieval, RetrievalItem, Signal, Verdict, Verdicts, derive_strength
from memory.model.evidence import EvidenceRecord
from memory.ports import Attention, LessonUse
from memory.rules.strength import bumped, nudged

_r = retrievals.c
_i = retrieval_items.c
_ADD = add_statement(retrievals)
_CLEAR = delete(retrieval_items).where(matching(retrieval_items, "retrieval_id"))
_ADD_ITEM = insert(retrieval_items)
_GET = select(retrievals).where(matching(retrievals, "id"))
_ITEMS = select(retrieval_items).where(matching(retrieval_items, "retrieval_id")).order_by(_i.rank, _i.episode_id)
_OF_RUNS = select(retrievals).where(among(retrievals, "run_id")).order_by(_r.at, _r.id)
_ITEMS_OF_RUNS = (
    select(retrieval_items)
    .join(retrievals, and_(_r.workspace == _i.workspace, _r.id == _i.retrieval_id))
    .where(among(retrievals, "run_id"))
    .order_by(_i.rank, _i.episode_id)
)
_EVIDENCE_OF_RUNS = (
    select(_r.run_id, _r.evidence)
    .where(among(retrievals, "run_id"), _r.node_path == "0", _r.evidence.is_not(None))
    .order_by(_r.at.desc(), _r.id.desc())
)
_SIGNAL = update(retrieval_items).where(
    _i.workspace == bindparam("w"), _i.retrieval_id == bindparam("retrieval"), _i.episode_id == bindparam("episode")
)
_INJECTIONS = (
    select(*_r, *(column.label(f"item_{column.name}") for column in _i))
    .join(retrieval_items, and_(_r.workspace == _i.workspace, _r.id == _i.retrieval_id))
    .order_by(_r.at.desc(), _r.id.desc())
)
_OF_EPISODE = _INJECTIONS.where(matching(retrieval_items, "episode_id")).limit(bindparam("limit"))
_OF_EPISODES = _INJECTIONS.where(among(retrieval_items, "episode_id"))


class SqlRetrievalTable(SqlTable):
    """`memory.ports.RetrievalTable` in SQL."""

    def put(self, retrieval: Retrieval, items: Sequence[RetrievalItem]) -> None:
        check_items(retrieval.workspace, retrieval.id, items)
        if not self._session.run(_ADD, row_of(retrievals, retrieval)):  # it is stored already: replace it
            self._session.put(retrievals, retrieval)
            self._session.run(_CLEAR, {"workspace": retrieval.workspace, "retrieval_id": retrieval.id})
        self._session.run(_ADD_ITEM, [row_of(retrieval_items, item) for item in items])

    def add(self, retrievals_: Sequence[Retrieval], items: Sequence[RetrievalItem]) -> None:
        for each in retrievals_:
            check_items(each.workspace, each.id, [item for item in items if item.retrieval_id == each.id])
        if self._session.run(_ADD, [row_of(retrievals, each) for each in retrievals_]) == len(retrievals_):
            self._session.run(_ADD_ITEM, [row_of(retrieval_items, item) for item in items])
            return
        for each in retrievals_:  # one of them is stored already
            self.put(each, [item for item in items if item.retrieval_id == each.id])

    def get(self, workspace: str, retrieval_id: str) -> tuple[Retrieval, list[RetrievalItem]] | None:
        found = self._session.first(Retrieval, _GET, workspace=workspace, id=retrieval_id)
        if found is None:
            return None
        return found, self._session.all(RetrievalItem, _ITEMS, workspace=workspace, retrieval_id=retrieval_id)

    def of_run(self, workspace: str, run_id: str) -> list[tuple[Retrieval, list[RetrievalItem]]]:
        return self.of_runs(workspace, [run_id]).get(run_id, [])

    def of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[tuple[Retrieval, list[RetrievalItem]]]]:
        found: dict[str, list[tuple[Retrieval, list[RetrievalItem]]]] = {}
        runs = list(run_ids)
        items = self._session.grouped("retrieval_id", RetrievalItem, _ITEMS_OF_RUNS, workspace, runs)
        for row in self._session.each(_OF_RUNS, workspace, runs):
            found.setdefault(row.run_id, []).append((Retrieval(**row._mapping), items.get(row.id, [])))
        return found

    def evidence_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, EvidenceRecord]:
        return {row.run_id: row.evidence for row in self._session.each(_EVIDENCE_OF_RUNS, workspace, run_ids)}

    def set_signal(self, item: RetrievalItem) -> None:
        change = _SIGNAL.values(signal=item.signal, ratio=require_storable(item).ratio)
        key = {"w": item.workspace, "retrieval": item.retrieval_id, "episode": item.episode_id}
        if not self._session.run(change, key):
            raise NotFound(f"Episode {item.episode_id} is not an item of retrieval {item.retrieval_id}.")

    def of_episode(self, workspace: str, episode_id: str, limit: int = 50) -> list[tuple[Retrieval, RetrievalItem]]:
        wanted = {"workspace": workspace, "episode_id": episode_id, "limit": limit}
        rows = self._session.rows(_OF_EPISODE, wanted)
        return list(map(_injection, rows))

    def of_episodes(
        self, workspace: str, episode_ids: Iterable[str]
    ) -> dict[str, list[tuple[Retrieval, RetrievalItem]]]:
        found: dict[str, list[tuple[Retrieval, RetrievalItem]]] = {}
        for row in self._session.each(_OF_EPISODES, workspace, episode_ids):
            found.setdefault(row.item_episode_id, []).append(_injection(row))
        return found

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        self._session.require_writing()
        for ids in chunks(run_ids, ID_LIMIT):
            # The items are deleted by their foreign key.
            self._session.run(delete(retrievals).where(_r.workspace == workspace, _r.run_id.in_(ids)))

    def attention(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Attention]:
        return {row.id: Attention._make(row) for row in self._session.each(_ATTENTION_OF, workspace, episode_ids)}

    def attend(self, workspace: str, changed: Sequence[Attention]) -> None:
        rows = [
            {"w": workspace, "lesson": each.id, "new": each.salience, "new_at": each.salience_at} for each in changed
        ]
        self._session.run(_ATTEND, rows)

    def use(self, uses: Sequence[LessonUse]) -> bool:
        if not self._session.is_sqlite:
            return _count_uses_in_python(self._session, uses)
        rows = [
            {
                "w": each.workspace,
                "lesson": each.episode_id,
                "asked": each.goal,
                "at": each.at,
                "signal": each.signal.value,
                "used": int(each.signal is Signal.USED),
                "ignored": int(each.signal is Signal.IGNORED),
            }
            for each in uses
        ]
        return self._session.run(_USE, rows) == len(rows)


def _injection(row: Row[Any]) -> tuple[Retrieval, RetrievalItem]:
    return (
        Retrieval(**{column.name: row._mapping[column.name] for column in _r}),
        RetrievalItem(**{column.name: row._mapping[f"item_{column.name}"] for column in _i}),
    )


_e = episodes.c


def _bumped(salience: float, salience_at: int, now: int) -> float:
    return bumped(salience, UtcDateTime.of_stored(salience_at), UtcDateTime.of_stored(now))


def _nudged(nudge: float, signal: str) -> float:
    return nudged(nudge, Signal(signal))


def _strength(personal: str, channel: str, workspace: str, nudge: float) -> float:
    verdicts = Verdicts(personal=Verdict(personal), channel=Verdict(channel), workspace=Verdict(workspace))
    return derive_strength(verdicts, nudge)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"bumped": _bumped, "nudged": _nudged, "strength_of": _strength}
"""Python functions that each SQLite connection registers under these names."""

_AT = bindparam("at", type_=UtcDateTime)
_FARED = bindparam("signal", type_=String)
_NUDGE = func.nudged(_e.nudge, _FARED, type_=Float(53))
_VERDICTS = (_e.verdict_personal, _e.verdict_channel, _e.verdict_workspace)
_USE = (
    update(episodes)
    .where(_e.workspace == bindparam("w"), _e.id == bindparam("lesson"), _e.goal == bindparam("asked"))
    .values(
        retrieval_count=_e.retrieval_count + 1,
        used_count=_e.used_count + bindparam("used", type_=BigInteger),
        ignored_count=_e.ignored_count + bindparam("ignored", type_=BigInteger),
        salience=func.bumped(_e.salience, _e.salience_at, _AT, type_=Float(53)),
        salience_at=case((_e.salience_at < _AT, _AT), else_=_e.salience_at),
        nudge=_NUDGE,
        strength=func.strength_of(*_VERDICTS, _NUDGE, type_=Float(53)),
    )
)
_COUNTED = ("retrieval_count", "used_count", "ignored_count", "salience", "salience_at", "nudge", "strength")
_LESSONS = select(_e.id, _e.goal, *_VERDICTS, *(_e[name] for name in _COUNTED)).where(among(episodes, "id"))
_STORE = (
    update(episodes)
    .where(_e.workspace == bindparam("w"), _e.id == bindparam("lesson"))
    .values({name: bindparam(f"new_{name}") for name in _COUNTED})
)

_ATTENTION = select(_e.id, _e.goal, *_VERDICTS, _e.promoted, _e.archived_at, _e.salience, _e.salience_at)
_ATTENTION_OF = _ATTENTION.where(among(episodes, "id"))
_ATTEND = (
    update(episodes)
    .where(_e.workspace == bindparam("w"), _e.id == bindparam("lesson"))
    .values(salience=bindparam("new"), salience_at=bindparam("new_at"))
)


def _count_uses_in_python(session: Session, uses: Sequence[LessonUse]) -> bool:
    """`RetrievalTable.use` without Python functions in SQL: lessons are read, changed in Python, and stored."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for workspace in dict.fromkeys(each.workspace for each in uses):
        ids = [each.episode_id for each in uses if each.workspace == workspace]
        found.update({(workspace, row.id): row._asdict() for row in session.each(_LESSONS, workspace, ids)})
    known = [(lesson, each) for each in uses if (lesson := found.get((each.workspace, each.episode_id)))]
    counted = [(lesson, each) for lesson, each in known if lesson["goal"] == each.goal]
    for lesson, each in counted:
        _count(lesson, each)
    changed = {(each.workspace, each.episode_id): _stored(lesson, each.workspace) for lesson, each in counted}
    session.run(_STORE, list(changed.values()))
    return len(counted) == len(uses)


def _count(lesson: dict[str, Any], use: LessonUse) -> None:
    verdicts = Verdicts(**{name: lesson[f"verdict_{name}"] for name in ("personal", "channel", "workspace")})
    nudge = nudged(lesson["nudge"], use.signal)
    lesson.update(
        retrieval_count=lesson["retrieval_count"] + 1,
        used_count=lesson["used_count"] + int(use.signal is Signal.USED),
        ignored_count=lesson["ignored_count"] + int(use.signal is Signal.IGNORED),
        salience=bumped(lesson["salience"], lesson["salience_at"], use.at),
        salience_at=max(lesson["salience_at"], use.at),
        nudge=nudge,
        strength=derive_strength(verdicts, nudge),
    )


def _stored(lesson: Mapping[str, Any], workspace: str) -> dict[str, Any]:
    return {"w": workspace, "lesson": lesson["id"]} | {f"new_{name}": lesson[name] for name in _COUNTED}
