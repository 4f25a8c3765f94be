"""A backup is the database at one moment, for its user alone, and whole; an earlier one stays until the new one is."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies.backup import back_up
from memory.errors import InvalidInput, NotADatabase
from tests.doubles.memory_world import World, scope


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "goodbot.db"
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        teach(World(store), range(3))
    return path


def teach(world: World, numbers: range) -> None:
    for number in numbers:
        world.clock.tick(hours=number)  # ids follow the clock, and another world's begin at the same time
        world.react(world.ask(f"where is key {number}?", f"in drawer {number}"))


def recalled(world: World) -> str:
    return world.memory.recalling.recall(scope("ana"), "where is key 2?").exemplars[0].episode.output


def made(database: Path, file: Path) -> int:
    return back_up(database, file, lambda done, total: None)


def goals(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM episodes").fetchone()
    return int(count)


def test_it_is_restored_by_putting_it_there(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "backups.db"
    steps: list[tuple[int, int]] = []
    size = back_up(database, file, lambda done, total: steps.append((done, total)))
    assert size == file.stat().st_size > 0
    assert steps[-1][0] == steps[-1][1] > 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.glob("backups.db*")) == ["backups.db"]
    file.rename(tmp_path / "restored.db")
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'restored.db'}")) as store:
        world = World(store)
        assert world.memory.audit.check() == []
        assert recalled(world) == "in drawer 2"


def test_it_is_one_moment_while_others_write(database: Path, tmp_path: Path) -> None:
    over = threading.Event()

    def write() -> None:
        with closing(SqlStore.open(f"sqlite:///{database}")) as store:
            world, number = World(store), 10
            while not over.is_set():
                teach(world, range(number, number + 1))
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(4):
            file = tmp_path / f"{number}.copy"
            made(database, file)
            with closing(SqlStore.open(f"sqlite:///{file}")) as store:
                assert World(store).memory.audit.check() == []
    finally:
        over.set()
        writer.join()


def test_an_earlier_backup_is_replaced(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    made(database, file)
    with closing(SqlStore.open(f"sqlite:///{database}")) as store:
        teach(World(store), range(3, 4))
    made(database, file)
    assert goals(file) == 4


@pytest.mark.parametrize(
    "name", ["goodbot.db", "goodbot.db-wal", "link", "letter.txt", "other.db", "used.db", "folder"]
)
def test_what_is_no_backup_is_left_alone(database: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(database)
    (tmp_path / "letter.txt").write_text("Dear Ana,")
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    (tmp_path / "used.db-wal").write_bytes(b"")
    before = {each: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()}
    with pytest.raises(InvalidInput, match=r"Name another file\."):
        made(database, tmp_path / name)
    assert {each: each.read_bytes() for each in tmp_path.iterdir() if each in before} == before


def test_a_folder_that_is_not_there_is_told(database: Path, tmp_path: Path) -> None:
    for file in (tmp_path / "none" / "copy", tmp_path / ("n" * 300)):
        with pytest.raises(InvalidInput, match="cannot be written"):
            made(database, file)


def test_a_damaged_database_replaces_no_backup(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    made(database, file)
    before = file.read_bytes()
    content = bytearray(database.read_bytes())
    content[4096 * 4 : 4096 * 8] = b"\xff" * (4096 * 4)
    database.write_bytes(content)
    with pytest.raises(NotADatabase, match="damaged"):
        made(database, file)
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".goodbot")] == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit")
def test_a_full_disk_leaves_the_earlier_backup(database: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:  # more than SQLite writes without a journal
        connection.execute("CREATE TABLE more AS SELECT randomblob(8000000) AS much")
    file = tmp_path / "copy"
    made(database, file)
    before = file.read_bytes()
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from memory.adapters.sql.copies.backup import back_up\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (40960, 40960))\n"
        "back_up(Path(sys.argv[1]), Path(sys.argv[2]), lambda done, total: None)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, database, file], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "memory.errors.Store" in done.stderr
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".goodbot")] == []
