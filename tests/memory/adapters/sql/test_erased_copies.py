"""Copies of the recall index have texts of people; none stays in a process that saw an erasure."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.recall import index
from memory.adapters.sql.recall.partition_cache import Key
from memory.adapters.sql.recall.partition_copies import RowSample, sample
from memory.adapters.sql.recall.plane_cache import PlaneCache
from memory.adapters.sql.transaction.session import Session
from memory.model.evidence import ActionText
from memory.ports import IndexEntry, Store
from tests.doubles.memory_world import World, scope
from tests.doubles.postgres import address, open_postgres
from tests.memory.adapters.sql.large_partitions import add, found, opened, ready
from tests.memory.adapters.store_samples import EVERYONE, MODEL, episode, fill, nearest, unit
from tests.memory.adapters.vectors.vector_samples import vector_of

WORKSPACE = scope().workspace
PERSONAL = IndexEntry(partition="person/ana", audience=EVERYONE.audience, verdict=EVERYONE.verdict)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[SqlStore]:
    is_file = request.param == "sqlite"
    with closing(SqlStore.open(f"sqlite:///{path}") if is_file else open_postgres()) as store:
        yield store


def url_of(store: SqlStore, path: Path) -> str:
    return f"sqlite:///{path}" if path.exists() else address(store)


def copies(store: SqlStore) -> list[str]:
    """The partitions of which the process has rows."""
    return sorted(key.partition for key, (copy, _) in store._recall._copies._kept.items() if len(copy.vectors))


def taught(world: World) -> None:
    for person in ("ana", "bo"):
        world.correct(world.ask("where is the key?", "No idea.", of=scope(person)), "Under the mat.", by=person)


def recalled(world: World, *people: str) -> None:
    for person in people:
        world.memory.recalling.recall(scope(person), "where is the key?", actions=world.actions)


def test_who_forgets_keeps_no_copies(store: SqlStore) -> None:
    world = World(store)
    taught(world)
    recalled(world, "ana", "bo")
    assert copies(store) == ["person/ana", "person/bo"]
    world.memory.privacy.forget(WORKSPACE, "ana")
    assert copies(store) == []


def test_another_process_keeps_no_copies_that_nobody_searches_any_more(store: SqlStore, path: Path) -> None:
    with closing(SqlStore.open(url_of(store, path))) as other:
        world, reader = World(store), World(other)
        taught(world)
        recalled(reader, "ana", "bo")
        world.memory.privacy.forget(WORKSPACE, "ana")
        recalled(reader, "bo")
        assert copies(other) == ["person/bo"]


def test_a_process_that_nobody_asks_drops_them_by_itself(store: SqlStore, path: Path) -> None:
    with closing(SqlStore.open(url_of(store, path))) as other:
        world, reader = World(store), World(other)
        reader.actions = (ActionText(name="pay_bill", description="Pays a bill."),)
        taught(world)
        recalled(reader, "ana", "bo")
        cached = other._recall.lessons._known
        before = copies(other), list(cached[WORKSPACE].lessons)
        assert "person/ana" in before[0]
        reader.memory.upkeep.drop_erased()
        assert (copies(other), list(cached[WORKSPACE].lessons)) == before
        world.memory.privacy.forget(WORKSPACE, "ana")
        reader.memory.upkeep.drop_erased()
        assert copies(other) == []
        assert not cached[WORKSPACE].lessons


def test_an_old_snapshot_leaves_no_copy(store: SqlStore, path: Path) -> None:
    with store.write() as tx:
        fill(tx, "w")
        tx.episodes.put_vector("w", "e1", MODEL, unit(1, 0, 0))
        tx.episodes.set_index("w", "e1", [EVERYONE, PERSONAL])
        tx.episodes.put_vector("w", "e2", MODEL, unit(1, 0, 0))
        tx.episodes.set_index("w", "e2", [EVERYONE])
    find = partial(nearest, store, "w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
    with closing(SqlStore.open(url_of(store, path))) as other, store.read() as tx:
        before = tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
        _erase(other, "e1")
        with ThreadPoolExecutor(1) as pool:
            assert "e1" not in pool.submit(find).result().ids
        again = tx.episodes.nearest("w", ["workspace", "person/ana"], MODEL, unit(1, 0, 0), 3, -1.0)
        assert "e1" in before.ids
        assert "e1" in again.ids  # its snapshot is answered as it is
    assert copies(store) == []
    find()
    assert copies(store) == ["workspace"]


def test_readers_that_always_overlap_keep_copies_and_lessons_again(store: SqlStore) -> None:
    """Each transaction begins before the one before it searches, as with several busy threads."""
    with store.write() as tx:
        fill(tx, "w")
        tx.episodes.put_vector("w", "e1", MODEL, unit(1, 0, 0))
        tx.episodes.set_index("w", "e1", [EVERYONE])
    nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
    with ExitStack() as last:
        earlier = last.enter_context(store.read())
        store._recall.erased(["w"])
        for _ in range(4):
            with ExitStack() as one:
                later = one.enter_context(store.read())
                earlier.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
                earlier.episodes.weighing_input("w", "C1", ["e1"])
                last.close()
                last, earlier = one.pop_all(), later
        last.close()
    assert copies(store) == ["workspace"]
    assert store._recall.lessons._known["w"].lessons.keys() == {"e1"}


def _erase(store: SqlStore, episode_id: str) -> None:
    """As forgetting does, but for the space, which the other transaction would block."""
    with store.write() as tx:
        tx.episodes.delete("w", [episode_id])
    with store._plain_session(True) as session:
        index.sweep(session)


def planes_of(store: Store) -> PlaneCache:
    assert isinstance(store, SqlStore)
    assert store._plane_cache is not None
    return store._plane_cache


def test_another_process_keeps_no_sample_of_a_large_partition(path: Path) -> None:
    with closing(opened(path)) as store, closing(opened(path)) as other:
        add(store, *range(1, 10))
        for _ in range(2):
            found(other, vector_of(1))
            ready(other)
        assert planes_of(other)._samples
        with store.write() as tx:
            tx.episodes.delete("w", ["e1"])
        store.erase_free_space()
        found(other, vector_of(1), partitions=("channel/none",))
        assert not planes_of(other)._samples


def test_a_sample_that_was_read_before_an_erasure_is_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(opened(path)) as store:
        add(store, *range(1, 10))

        def erased_meanwhile(session: Session, key: Key, seqs: Sequence[int]) -> RowSample:
            rows = sample(session, key, seqs)
            planes_of(store).drop_workspace("w")
            return rows

        with monkeypatch.context() as patch:
            patch.setattr("memory.adapters.sql.recall.plane_cache.sample", erased_meanwhile)
            found(store, vector_of(1))
            ready(store)
        assert not planes_of(store)._samples
        for _ in range(2):
            found(store, vector_of(1))
            ready(store)
        assert planes_of(store)._samples


def test_what_is_left_is_found_after_all(store: SqlStore) -> None:
    with store.write() as tx:
        tx.episodes.put(episode("e1"), episode("e2"))
        for name in ("e1", "e2"):
            tx.episodes.put_vector("w", name, MODEL, unit(1, 0, 0))
            tx.episodes.set_index("w", name, [EVERYONE])
    assert len(nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0).ids) == 2
    with store.write() as tx:
        tx.episodes.delete("w", ["e1"])
    store.erase_free_space()
    for _ in range(2):
        assert nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0).ids == ("e2",)
