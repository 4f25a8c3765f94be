"""Recalls with what they injected, and how it fared."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row, and_, bindparam, delete, insert, select, update

from memory.adapters.row_validation import check_items, chunks, storable
from memory.adapters.sql.session import ID_LIMIT, SqlTable, add_statement, among, matching, row_of
from memory.adapters.sql.tables import retrieval_items, retrievals
from memory.errors import NotFound
from memory.model import Retrieval, RetrievalItem
from memory.model.evidence import EvidenceRecord

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
_OF_EPISODE = _INJECTIONS.where(matching(retrieval_items, "episode_id"))
_OF_EPISODES = _INJECTIONS.where(among(retrieval_items, "episode_id"))


class SqlRetrievalTable(SqlTable):
    """`memory.ports.RetrievalTable` in SQL."""

    def put(self, retrieval: Retrieval, items: Sequence[RetrievalItem]) -> None:
        check_items(retrieval.workspace, retrieval.id, items)
        if not self._session.run(_ADD, row_of(retrievals, retrieval)):  # another one has this id: its place is taken
            self._session.put(retrievals, retrieval)
            self._session.run(_CLEAR, {"workspace": retrieval.workspace, "retrieval_id": retrieval.id})
        self._session.run(_ADD_ITEM, [row_of(retrieval_items, item) for item in items])

    def add(self, retrievals_: Sequence[Retrieval], items: Sequence[RetrievalItem]) -> None:
        for each in retrievals_:
            check_items(each.workspace, each.id, [item for item in items if item.retrieval_id == each.id])
        if self._session.run(_ADD, [row_of(retrievals, each) for each in retrievals_]) == len(retrievals_):
            self._session.run(_ADD_ITEM, [row_of(retrieval_items, item) for item in items])
            return
        for each in retrievals_:  # one of them is recorded: its place is taken
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
        runs, items = list(run_ids), dict[str, list[RetrievalItem]]()
        for row in self._session.each(_ITEMS_OF_RUNS, workspace, runs):
            items.setdefault(row.retrieval_id, []).append(RetrievalItem(**row._mapping))
        for row in self._session.each(_OF_RUNS, workspace, runs):
            found.setdefault(row.run_id, []).append((Retrieval(**row._mapping), items.get(row.id, [])))
        return found

    def evidence_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, EvidenceRecord]:
        return {row.run_id: row.evidence for row in self._session.each(_EVIDENCE_OF_RUNS, workspace, run_ids)}

    def set_signal(self, item: RetrievalItem) -> None:
        change = _SIGNAL.values(signal=item.signal, ratio=storable(item).ratio)
        key = {"w": item.workspace, "retrieval": item.retrieval_id, "episode": item.episode_id}
        if not self._session.run(change, key):
            raise NotFound(f"Episode {item.episode_id} is not an item of retrieval {item.retrieval_id}.")

    def of_episode(self, workspace: str, episode_id: str, limit: int = 50) -> list[tuple[Retrieval, RetrievalItem]]:
        rows = self._session.rows(_OF_EPISODE.limit(limit), {"workspace": workspace, "episode_id": episode_id})
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
            # The items go with their recall.
            self._session.run(delete(retrievals).where(_r.workspace == workspace, _r.run_id.in_(ids)))


def _injection(row: Row[Any]) -> tuple[Retrieval, RetrievalItem]:
    return (
        Retrieval(**{column.name: row._mapping[column.name] for column in _r}),
        RetrievalItem(**{column.name: row._mapping[f"item_{column.name}"] for column in _i}),
    )
