"""Files of planes: what is forgotten leaves them whatever fails, and none of another time or database is searched."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import numpy as np
import pytest

from memory.adapters.private_files import locked_file
from memory.adapters.sql import SqlStore
from memory.adapters.sql.recall import nearest
from memory.adapters.sql.recall.plane_cache import PlaneCache
from memory.adapters.sql.transaction.session import Session
from memory.adapters.vectors import planes
from memory.adapters.vectors.plane_rows import RowBatch
from memory.errors import StoreUnavailable
from memory.model import GAVE_UP, Vector
from tests.memory.adapters.sql.large_partitions import add, file_of, files_of, found, opened, ready, scanned
from tests.memory.adapters.store_samples import EVERYONE, MODEL, episode, nearest as nearest_in
from tests.memory.adapters.vectors.vector_samples import DIMENSION, vector_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    """One whose 30 rows have planes."""
    with closing(opened(tmp_path / "goodbot.db")) as store:
        add(store, *range(30))
        make(store)
        yield store


def make(store: SqlStore) -> None:
    """Search, and wait for the planes."""
    found(store, vector_of(1))
    ready(store)


def cache_of(store: SqlStore) -> PlaneCache:
    assert store._plane_cache is not None
    return store._plane_cache


def delete(store: SqlStore, *numbers: int) -> None:
    with store.write() as tx:
        tx.episodes.delete("w", [f"e{number}" for number in numbers])


def having(number: int, files: list[Path]) -> list[Path]:
    """The files that have the vector of an episode."""
    vector = np.asarray(vector_of(number), "<f2").tobytes()
    return [path for path in files if vector in path.read_bytes()]


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_what_cannot_be_erased_is_erased_by_the_next_try(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    delete(store, 7)
    with monkeypatch.context() as patch:
        patch.setattr(planes, "erase", full)
        with pytest.raises(StoreUnavailable):
            store.erase_free_space()
    assert having(7, files_of(store))
    store.erase_free_space()
    assert files_of(store) == []


def put_back(store: SqlStore, copy: Path) -> SqlStore:
    """The store as it was when the file was copied, as README tells to restore a backup."""
    path = file_of(store)
    store.close()
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    shutil.copy(copy, path)
    return opened(path)


@pytest.mark.parametrize("is_searched", [True, False])
def test_what_is_forgotten_again_in_a_backup_leaves_the_files_made_after_it(
    store: SqlStore, tmp_path: Path, is_searched: bool
) -> None:
    store.close()
    backup = Path(shutil.copy(file_of(store), tmp_path / "backup"))
    with closing(opened(file_of(store))) as later:
        delete(later, 3)
        later.erase_free_space()
        make(later)
        assert having(7, files_of(later))
    with closing(put_back(store, backup)) as again:
        if is_searched:
            assert found(again, vector_of(3)) == scanned(again, vector_of(3))
            ready(again)
        delete(again, 3, 7)
        again.erase_free_space()
        assert files_of(again) == []


def test_a_database_has_the_same_files_by_whatever_name_it_is_opened(store: SqlStore, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "link.db").symlink_to(file_of(store))
    with closing(opened(tmp_path / "there" / "link.db")) as other:
        make(other)
        assert [path.name for path in (tmp_path / "there").iterdir()] == ["link.db"]
        delete(other, 7)
        other.erase_free_space()
    assert files_of(store) == []


def test_a_folder_that_cannot_be_listed_is_not_erased(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(where: str | Path = ".") -> object:
        raise PermissionError(13, "Permission denied", str(where))

    delete(store, 7)
    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refuse)
        patch.setattr(os, "scandir", refuse)
        with pytest.raises(StoreUnavailable):
            store.erase_free_space()
    assert having(7, files_of(store))


def test_a_full_disk_gets_back_what_planes_took(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = [path.read_bytes() for path in files_of(store)]
    add(store, 40, 41, 42, 43)
    monkeypatch.setattr(os, "fsync", full)
    make(store)
    assert "were not made" in caplog.text
    assert [path.read_bytes() for path in files_of(store)] == before


def test_planes_take_no_more_than_half_of_what_is_free(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9000, 0, 9000))
    (path,) = files_of(store)
    before = path.stat().st_ino
    add(store, 40, 41, 42)
    make(store)
    assert path.stat().st_ino != before
    add(store, *range(43, 100))
    make(store)
    made = planes.read(path)
    assert made is not None
    assert len(made) == 33
    assert found(store, vector_of(50)) == scanned(store, vector_of(50))


def test_what_cannot_be_made_is_not_tried_in_every_search(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []

    def fail(_: PlaneCache, key: object) -> None:
        tried.append(key)
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(PlaneCache, "_build", fail)
    add(store, *range(40, 60))
    for _ in range(80):
        make(store)
    assert len(tried) == 1
    for _ in range(40):
        make(store)
    assert len(tried) == 2


def test_a_file_grows_with_its_rows_and_not_with_their_changes(store: SqlStore) -> None:
    for _ in range(40):
        with store.write() as tx:
            for number in range(10):
                tx.episodes.set_index("w", f"e{number}", [])
                tx.episodes.set_index("w", f"e{number}", [EVERYONE])
    make(store)
    (path,) = [path for path in files_of(store) if not path.suffix]
    assert path.stat().st_size <= planes.size_of(30, DIMENSION)


def test_planes_of_a_database_that_was_replaced_meanwhile_are_none_of_the_new_one(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = planes.write
    with closing(opened(tmp_path / "other.db")) as other:
        add(other, *range(100, 130))

    def write_and_replace(
        path: Path, batches: Iterable[RowBatch], dimension: int, *, token: int, epoch: int, seq: int, most: int
    ) -> None:
        write(path, batches, dimension, token=token, epoch=epoch, seq=seq, most=most)
        for ending in ("-wal", "-shm"):
            file_of(store).with_name(f"goodbot.db{ending}").unlink(missing_ok=True)
        (tmp_path / "other.db").replace(file_of(store))

    add(store, 40, 41, 42)
    with monkeypatch.context() as patch:
        patch.setattr(planes, "write", write_and_replace)
        make(store)
    add(store, *range(130, 136))
    for _ in range(2):
        assert found(store, vector_of(3)) == scanned(store, vector_of(3))
        ready(store)


def near(number: int) -> Vector:
    """Nearly alike."""
    vector = vector_of(0) + np.float32(0.05) * vector_of(number)
    found: Vector = vector / np.linalg.norm(vector)
    return found


@pytest.mark.parametrize("include_gave_up", [True, False])
def test_the_nearest_that_are_wanted_are_found_behind_however_many_that_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, include_gave_up: bool
) -> None:
    monkeypatch.setattr(nearest, "CANDIDATES", 8)
    with closing(opened(tmp_path / "goodbot.db", 40)) as store:
        add(store, *range(1, 30))
        with store.write() as tx:
            for number in range(100, 130):
                tx.episodes.put(episode(f"e{number}", action="answer" if include_gave_up else GAVE_UP))
                tx.episodes.put_vector("w", f"e{number}", MODEL, near(number))
                tx.episodes.set_index("w", f"e{number}", [EVERYONE])
        make(store)
        with store.write() as tx:
            for number in range(100, 130) if include_gave_up else ():
                tx.episodes.set_index("w", f"e{number}", [])
        for _ in range(2):
            assert found(store, vector_of(0), 2, include_gave_up=include_gave_up) == scanned(
                store, vector_of(0), 2, include_gave_up=include_gave_up
            )


@pytest.mark.parametrize("damage", ["vector = 'abcdefghabcdefghabcdefghabcdefgh'", "episode_id = x'ff00'"])
def test_no_planes_are_made_of_a_row_of_another_kind_of_value(
    store: SqlStore, damage: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    crashes: list[object] = []
    monkeypatch.setattr(threading, "excepthook", crashes.append)
    with closing(sqlite3.connect(file_of(store))) as connection, connection:
        connection.execute(f"UPDATE recall_index SET {damage} WHERE episode_id = 'e3'")
    (key,) = cache_of(store)._ready
    cache_of(store).prepare(key)
    ready(store)
    assert crashes == []
    assert "goodbot doctor" in caplog.text


def test_what_killed_processes_and_others_left_is_erased_and_what_is_being_made_is_not(store: SqlStore) -> None:
    (path,) = files_of(store)
    left = [
        path.with_name(f"{path.name}.{ending}") for ending in ("bak", f"{os.getpid()}-abc.part", "1-a.part", "b.old")
    ]
    for each in left:
        shutil.copy(path, each)
    add(store, 40, 41, 42)
    with locked_file(path.with_name(f"{path.name}.1.part")):
        make(store)
        assert {each.suffix for each in files_of(store)} == {"", ".old", ".part"}
        assert not any(each.exists() for each in left)


def test_files_that_somebody_else_erased_are_made_again(store: SqlStore) -> None:
    (path,) = files_of(store)
    planes.erase(path)
    for _ in range(2):
        assert found(store, vector_of(9)) == scanned(store, vector_of(9))
        ready(store)
    assert files_of(store) == [path]
    assert next(iter(cache_of(store)._ready.values())).is_whole


@pytest.mark.parametrize("is_begun", [True, False])
def test_what_is_erased_while_it_is_made_is_given_up_and_what_is_valid_stays(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_begun: bool
) -> None:
    (path,) = files_of(store)
    token, write = planes.token_of(path), planes.write

    def erased(batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        cache_of(store).erase({token})
        yield from batches

    def write_erased(part: Path, batches: Iterable[RowBatch], *given: int, **named: int) -> None:
        write(part, erased(batches) if is_begun else list(erased(batches)), *given, **named)

    add(store, 40, 41, 42)
    monkeypatch.setattr(planes, "write", write_erased)
    make(store)
    assert files_of(store) == [path]
    assert planes.token_of(path) == token
    assert caplog.text == ""


def test_a_file_is_there_before_its_rows_are_looked_at(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begin: Callable[[bool], AbstractContextManager[Session]] = cache_of(store)._begin
    seen: list[list[str]] = []

    def noted(writes: bool) -> AbstractContextManager[Session]:
        seen.append([path.suffix for path in files_of(store)])
        return begin(writes)

    add(store, 40, 41, 42)
    monkeypatch.setattr(cache_of(store), "_begin", noted)
    make(store)
    assert ".part" in seen[0]


def test_a_file_that_others_may_read_is_taken_from_them(store: SqlStore) -> None:
    (path,) = files_of(store)
    path.chmod(0o644)
    with closing(opened(file_of(store))) as other:
        make(other)
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("value", [b"\xff", b"\x00"])
@pytest.mark.parametrize("is_of_vectors", [True, False])
def test_a_file_whose_rows_are_damaged_is_made_anew(store: SqlStore, value: bytes, is_of_vectors: bool) -> None:
    (path,) = files_of(store)
    store.close()
    content, head = path.read_bytes(), planes._HEADER.size
    start, size = (head + 30 * 32, 30 * 2 * DIMENSION) if is_of_vectors else (head, 30 * 32)
    path.unlink()
    path.write_bytes(content[:start] + size * value + content[start + size :])
    with closing(opened(file_of(store))) as again:
        for query in range(5):
            assert found(again, vector_of(query), 3) == scanned(again, vector_of(query), 3)
            ready(again)
        assert planes.token_of(path) != planes._HEADER.unpack_from(content)[1]


def test_a_model_that_no_row_is_of_yet_is_no_damage(store: SqlStore, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        assert nearest_in(store, "w", ["workspace"], "another", vector_of(1), 3, -1.0).hits == ()
        ready(store)
    assert caplog.text == ""
    with store.write() as tx:
        tx.episodes.put_vector("w", "e3", "another", vector_of(3))
    assert [hit.episode_id for hit in nearest_in(store, "w", ["workspace"], "another", vector_of(1), 3, -1.0).hits] == [
        "e3"
    ]


def test_a_file_that_is_cut_off_while_it_is_searched_is_made_again(store: SqlStore) -> None:
    (path,) = files_of(store)
    os.truncate(path, 100)
    for _ in range(2):
        assert found(store, vector_of(9)) == scanned(store, vector_of(9))
        ready(store)
    assert {each.suffix for each in files_of(store)} == {"", ".old"}
