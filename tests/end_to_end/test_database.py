"""A database that cannot be used: each case has a message that says what to do, and the file stays as it was."""

import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memory.adapters.sql.engines.schema import HEAD_REVISION
from memory.model import Verdict
from memory.ports import EpisodeFilter
from tests.doubles.process import GOODBOT, WORKSPACE, Home, begun_with, full_after

pytestmark = pytest.mark.process

QUESTION = "what is 2 + 2?"

# A read-only file stops root only without this capability (linux/capability.h).
_OBEY_PERMISSIONS = """
import ctypes
VERSION_3, CAP_DAC_OVERRIDE, EFFECTIVE, PERMITTED = 0x20080522, 1, 0, 1
if os.geteuid() == 0:
    system, thread, sets = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(VERSION_3, 0), (ctypes.c_uint32 * 6)()
    assert system.capget(thread, sets) == 0
    for number in (EFFECTIVE, PERMITTED):
        sets[number] &= ~(1 << CAP_DAC_OVERRIDE)
    assert system.capset(thread, sets) == 0
"""
OBEDIENT = begun_with(_OBEY_PERMISSIONS)
"""`goodbot` as a process that file permissions hold for, whoever runs the tests."""


def write(home: Home, statement: str) -> None:
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.fixture(scope="module")
def once_used(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("used"))
    assert home.run("chat", given=QUESTION).code == 0
    return home


@pytest.fixture
def home(once_used: Home, tmp_path: Path) -> Home:
    """A home with one answered question."""
    return once_used.copy(tmp_path)


def assert_refused(home: Home, *told: str, program: Sequence[str] = GOODBOT) -> None:
    """A chat and a command end with one line that says all of this."""
    done = home.run_all({"chat": ("chat",), "list": ("episodes", "list")}, program=program)
    for each in done.values():
        assert (each.code, each.out) == (1, ""), each
        (line,) = each.err.splitlines()
        assert line.startswith("goodbot: ")
        assert str(home.database.parent) in line
        assert all(part in line for part in told), line


def goals(home: Home) -> list[str]:
    with home.memory() as memory:
        assert memory.audit.check() == []
        return [episode.goal for episode in memory.audit.episodes(WORKSPACE, EpisodeFilter())]


def test_a_database_of_a_newer_version_is_left_alone(home: Home) -> None:
    write(home, "UPDATE alembic_version SET version_num = '9999'")
    before = home.database.read_bytes()
    assert_refused(home, "newer Goodbot (schema 9999)", "upgrade Goodbot")
    done = home.run_all({"migrate": ("migrate",), "rebuild": ("rebuild",)})
    assert [each.code for each in done.values()] == [1, 1]
    assert home.database.read_bytes() == before
    write(home, f"UPDATE alembic_version SET version_num = '{HEAD_REVISION}'")
    assert goals(home) == [QUESTION]


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.database.write_text("Dear diary, this is no database.\n" * 100, encoding="utf-8")
    before = home.database.read_bytes()
    assert_refused(home, "is not a Goodbot database", "Set DATABASE_URL to another file")
    assert home.database.read_bytes() == before


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(home, "CREATE TABLE diary (day TEXT)")
    before = home.database.read_bytes()
    assert_refused(home, "is another program's database")
    assert home.database.read_bytes() == before


def test_a_database_that_was_cut_off_is_damaged(home: Home) -> None:
    whole = home.database.read_bytes()
    home.database.write_bytes(whole[: len(whole) // 3])
    assert_refused(home, "is damaged", "Restore it from a backup")
    home.database.write_bytes(whole)
    assert goals(home) == [QUESTION]


def test_damage_found_while_talking_is_told_and_logged(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'incoming'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(home.database.read_bytes())
    content[(page - 1) * size : page * size] = b"Z" * size
    home.database.write_bytes(content)
    done = home.run("chat", given=f"{QUESTION}\n")
    assert "Traceback" not in done.out + done.err
    assert "damaged" in done.err + home.log.read_text(encoding="utf-8")
    assert "Sorry, I could not work on that just now" in done.out or done.code == 1


def test_a_folder_in_the_databases_place_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.database.mkdir()
    assert_refused(home, "is not a file")


def test_a_place_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    home.database = tmp_path / "file" / "data" / "goodbot.db"
    assert_refused(home, "cannot be created", "Set DATABASE_URL")


@contextmanager
def read_only(path: Path) -> Iterator[None]:
    """Take the right to write away, where that stops an obedient process."""
    mode = path.stat().st_mode
    path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        path.chmod(mode)


@pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and sys.platform != "linux"), reason="root may write everything here"
)
@pytest.mark.parametrize("what", ["file", "folder", "empty folder"])
def test_what_cannot_be_written_is_told(once_used: Home, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    home = once_used.copy(folder) if what != "empty folder" else Home(folder)
    home.log = tmp_path / "goodbot.log"
    home.folder = tmp_path
    with read_only(home.database if what == "file" else folder):
        assert_refused(home, "cannot be written", "Change the permissions, or set DATABASE_URL", program=OBEDIENT)
    assert goals(home) == ([] if what == "empty folder" else [QUESTION])


@pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit")
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    import resource

    home = Home(tmp_path)
    with home.chat() as chat:
        chat.ask(QUESTION, "2 + 2 = 4")
        chat.ask("👍", "became a lesson")
        size = (tmp_path / "goodbot.db-wal").stat().st_size
        resource.prlimit(chat.pid, resource.RLIMIT_FSIZE, (size, size))
        chat.ask("what is 3 + 3?", "Sorry, I could not work on that just now")
        chat.ask("👎", "Sorry, I could not work on that just now")
        done = chat.end()
    assert (done.code, done.err) == (0, "")
    assert "Traceback" not in done.out + home.log.read_text(encoding="utf-8")
    assert "disk" in home.log.read_text(encoding="utf-8")
    again = home.run("chat", given="what is 3 + 3?")
    assert "[1] 3 + 3 = 6\n" in again.out
    assert goals(home) == ["what is 3 + 3?", QUESTION]
    with home.memory() as memory:
        (lesson,) = memory.audit.episodes(WORKSPACE, EpisodeFilter(verdict=Verdict.SUCCESS))
    assert lesson.goal == QUESTION


@pytest.mark.skipif(os.name != "posix", reason="needs limits of processes")
def test_a_disk_that_is_full_from_the_start_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert_refused(home, "disk", program=full_after(4096))
    assert goals(home) == []
