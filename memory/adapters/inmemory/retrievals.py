"""Recalls and their items in dictionaries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import check_items, plain, storable
from memory.errors import NotFound
from memory.model import Retrieval, RetrievalItem


class Retrievals:
    """`memory.ports.RetrievalTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put(self, retrieval: Retrieval, items: Sequence[RetrievalItem]) -> None:
        state = self._access.changing
        check_items(storable(retrieval).workspace, retrieval.id, items)
        counts = {name: value for name, value in plain(retrieval.counts).items() if isinstance(value, int)}
        state.retrievals[retrieval.workspace, retrieval.id] = replace(retrieval, counts=counts)
        state.items[retrieval.workspace, retrieval.id] = tuple(sorted(items, key=_by_rank))

    def add(self, retrievals: Sequence[Retrieval], items: Sequence[RetrievalItem]) -> None:
        for each in retrievals:
            self.put(each, [item for item in items if item.retrieval_id == each.id])

    def get(self, workspace: str, retrieval_id: str) -> tuple[Retrieval, list[RetrievalItem]] | None:
        state, key = self._access.state, (workspace, retrieval_id)
        return (state.retrievals[key], list(state.items[key])) if key in state.retrievals else None

    def of_run(self, workspace: str, run_id: str) -> list[tuple[Retrieval, list[RetrievalItem]]]:
        state = self._access.state
        found = [r for key, r in state.retrievals.items() if key[0] == workspace and r.run_id == run_id]
        return [(r, list(state.items[workspace, r.id])) for r in sorted(found, key=_by_time)]

    def set_signal(self, item: RetrievalItem) -> None:
        state = self._access.changing
        key = (storable(item).workspace, item.retrieval_id)
        known = state.items.get(key, ())
        if not any(each.episode_id == item.episode_id for each in known):
            raise NotFound(f"Episode {item.episode_id} is not an item of retrieval {item.retrieval_id}.")
        state.items[key] = tuple(
            replace(each, signal=item.signal, ratio=item.ratio) if each.episode_id == item.episode_id else each
            for each in known
        )

    def of_episode(self, workspace: str, episode_id: str, limit: int = 50) -> list[tuple[Retrieval, RetrievalItem]]:
        state = self._access.state
        found = [
            (state.retrievals[key], item)
            for key, items in state.items.items()
            for item in items
            if key[0] == workspace and item.episode_id == episode_id
        ]
        return sorted(found, key=lambda pair: _by_time(pair[0]), reverse=True)[:limit]

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        state = self._access.changing
        wanted = set(run_ids)
        for key in [k for k, r in state.retrievals.items() if k[0] == workspace and r.run_id in wanted]:
            del state.retrievals[key]
            del state.items[key]


def _by_time(retrieval: Retrieval) -> tuple[object, str]:
    return (retrieval.at, retrieval.id)


def _by_rank(item: RetrievalItem) -> tuple[int, str]:
    return (item.rank, item.episode_id)
