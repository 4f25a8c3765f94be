"""Files that hold what people said are their user's alone, from the first moment on, and whole or not there."""

import errno
import logging
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bot.app.processes.log_file import LogFile
from memory.adapters import private_files
from memory.adapters.private_files import is_open_to_others, is_plain_file, make_folder, write_whole
from memory.adapters.sql import SqlStore
from tests.doubles.process import Home, python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no such modes there")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> dict[str, str]:
    """Every file and folder below this one that another user can look into."""
    return {each.name: oct(mode_of(each)) for each in folder.rglob("*") if mode_of(each) & 0o077}


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@contextmanager
def creation_mask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture(autouse=True)
def everybody_may_read_new_files() -> Iterator[None]:
    with creation_mask(0):
        yield


@pytest.mark.process
def test_whatever_a_chat_writes_is_for_its_user_alone(tmp_path: Path) -> None:
    home = Home(tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/a/b/memory.db", GOODBOT_LOG_FILE=f"{tmp_path}/c/log")
    with home.chat() as chat:
        chat.ask("what is 2 + 2?", "2 + 2 = 4")
        chat.ask("👍", "became a lesson")
        chat.ask("/export mine.json", "saved to")
        beside = names(tmp_path / "a" / "b")
        assert open_to_others(tmp_path) == {}
        assert chat.end().code == 0
    (report,) = {name for name in beside if name.endswith(".life")}
    assert beside == ["memory.db", "memory.db-shm", "memory.db-wal", report, "memory.db.chat.lock"]
    assert home.run("episodes", "export", "-o", "all.json").code == 0
    assert open_to_others(tmp_path) == {}


def test_files_of_an_earlier_version_are_narrowed_and_folders_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    path, log = folder / "goodbot.db", folder / "goodbot.log"
    SqlStore.open(f"sqlite:///{path}").close()
    for each in (path, log, Path(f"{path}-wal"), Path(f"{path}-shm"), Path(f"{log}.1")):
        each.touch()
        each.chmod(0o644)
    folder.chmod(0o755)
    with closing(SqlStore.open(f"sqlite:///{path}")), closing(LogFile(log)):
        assert open_to_others(tmp_path) == {"ours": "0o755"}


def test_no_file_is_ever_wider_than_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever could open it before it was narrowed could read it for good."""
    monkeypatch.setattr(private_files, "narrow", lambda path: None)
    monkeypatch.setattr("memory.adapters.sql.engines.sqlite_file.narrow", lambda path: None)
    with closing(SqlStore.open(f"sqlite:///{tmp_path}/a/memory.db")) as store, closing(LogFile(tmp_path / "b" / "log")):
        assert store.workspaces() == []
        write_whole(tmp_path / "export.json", b"[]")
        assert open_to_others(tmp_path) == {}


def test_a_link_to_a_database_that_is_not_there_makes_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    SqlStore.open(f"sqlite:///{tmp_path}/link.db").close()
    assert mode_of(tmp_path / "real.db") == 0o600


def test_a_file_of_somebody_else_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    path.touch(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    private_files.narrow(path)
    assert mode_of(path) == 0o644


def test_a_rotated_log_stays_private(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "log")
    log.maxBytes = 10
    for number in range(5):
        log.emit(logging.makeLogRecord({"msg": f"a line of more than ten characters, {number}"}))
    log.close()
    assert names(tmp_path) == ["log", "log.1", "log.2", "log.3"]
    assert open_to_others(tmp_path) == {}


def test_a_folder_is_made_with_what_is_missing_above_it(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert [mode_of(tmp_path / "a"), mode_of(tmp_path / "a" / "b")] == [0o700, 0o700]
    (tmp_path / "file").touch()
    for impossible in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match="Not a directory"):
            make_folder(impossible)


# whole or not at all ------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_whole_and_a_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_bytes(b"before")
    link.symlink_to(real)
    write_whole(link, b"after")
    assert (link.is_symlink(), real.read_bytes(), mode_of(real)) == (True, b"after", 0o600)
    assert names(tmp_path) == ["link.json", "real.json"]


@pytest.mark.parametrize("fails", ["fsync", "rename"])
def test_what_fails_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "export.json"
    path.write_bytes(b"before")
    if fails == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"after")
    assert (path.read_bytes(), names(tmp_path)) == (b"before", ["export.json"])


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"


_KILLED = """
import os, sys
from pathlib import Path
from memory.adapters.private_files import write_whole
def hang(descriptor):
    print("written", flush=True)
    sys.stdin.read()
os.fsync = hang
write_whole(Path(sys.argv[1]), b"half")
"""


def test_a_kill_leaves_the_old_content_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(b"before")
    process = python(_KILLED, str(path))
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    write_whole(path, b"another")  # while the first one works
    assert len(names(tmp_path)) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate(b"", timeout=60)
    assert (path.read_bytes(), len(names(tmp_path))) == (b"another", 2)
    write_whole(path, b"after")
    assert (path.read_bytes(), names(tmp_path)) == (b"after", ["export.json"])


@pytest.mark.process
def test_an_export_goes_to_a_pipe_or_a_stream_as_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.run("chat", given="what is 2 + 2?").code == 0
    assert home.run("episodes", "export", "-o", "/dev/stdout").json()[0]["goal"] == "what is 2 + 2?"
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE) as reader:
        assert home.run("episodes", "export", "-o", "pipe").code == 0
        assert b"what is 2 + 2?" in reader.communicate()[0]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert not is_plain_file(tmp_path / "pipe")
    assert not is_plain_file(Path("/dev/stdout"))
    assert is_plain_file(Path("/dev/shm/goodbot.db"))


# doctor -------------------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_doctor_says_what_others_can_look_into_and_how_to_close_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert "GB012 ok" in home.run("doctor").out
    tmp_path.chmod(0o755)
    (tmp_path / "goodbot.log.old").touch(0o644)
    told = home.run("doctor")
    assert told.code == 0
    assert f"GB012 warn other users of this machine can look into {home.log}.old, {tmp_path}" in told.out
    assert f"→ run chmod 600 {home.log}.old; run chmod 700 {tmp_path}, or use a folder for Goodbot alone" in told.out


def test_what_is_meant_for_everybody_is_no_finding(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    assert not is_open_to_others(shared)
    assert not is_open_to_others(Path(os.devnull))
    assert not is_open_to_others(tmp_path / "none")
    shared.chmod(0o755)
    assert is_open_to_others(shared)


@pytest.mark.process
def test_an_export_never_takes_the_place_of_the_database(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.run("migrate").code == 0
    before = home.database.read_bytes()
    refused = home.run("episodes", "export", "-o", str(home.database))
    assert refused.code == 1
    assert "belongs to the bot" in refused.err
    assert home.database.read_bytes() == before
