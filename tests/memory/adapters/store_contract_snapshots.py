"""What a store promises whose readers and writers do not wait for each other."""

from memory.ports import Store
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_contract_recall import learn, near
from tests.memory.adapters.store_samples import ALL, MODEL, dump, episode, fill, is_empty, unit


class SnapshotsContract(StoreCase):
    """A transaction of one kind inside another of the same thread."""

    def test_a_snapshot_does_not_move(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1"))
        with store.read() as before:
            assert len(before.episodes.search("w", ALL)) == 1
            with store.write() as tx:
                tx.episodes.put(episode("e2"))
            assert len(before.episodes.search("w", ALL)) == 1
        with store.read() as after:
            assert len(after.episodes.search("w", ALL)) == 2

    def test_a_write_sees_its_own_changes_and_nobody_else_does_before_its_end(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            assert tx.episodes.get("w", "e1") is not None
            assert is_empty(dump(store, "w"))
        assert not is_empty(dump(store, "w"))

    def test_a_search_belongs_to_its_snapshot(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0))
        with store.read() as tx:
            assert tx.episodes.index_of("w", "a")
            learn(store, "b", (1, 0, 0))
            assert near(store, "workspace") == ["b", "a"]
            found = tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 5, -1.0)
            assert [hit.episode_id for hit in found.hits] == ["a"]
        assert near(store, "workspace") == ["b", "a"]
