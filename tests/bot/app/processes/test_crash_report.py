"""The report that a process leaves: what was in work, whether it crashed, and that it is told once."""

import os
import stat
import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from bot.app.processes import crash_report
from bot.app.processes.crash_report import CrashReport, abnormal_exits, last_report, open_report
from memory.model import AbnormalExit, Incoming
from tests.doubles.memory_world import START, scope


def message(event_id: str, workspace: str = "terminal:w") -> Incoming:
    return Incoming(
        scope=scope(workspace=workspace), event_id=event_id, message_id=event_id, text="a secret of ana's", at=START
    )


def die(report: CrashReport, *messages: Incoming, trace: bytes = b"") -> None:
    """What is left when a process ends in the middle of working on these."""
    with ExitStack() as working:
        for each in messages:
            working.enter_context(report.record_in_progress(each))
        os.write(report.trace, trace)
        left = report.path.read_bytes()
    report.close()
    report.path.write_bytes(left)


def told(database: Path) -> list[AbnormalExit]:
    with abnormal_exits(database) as found:
        return list(found)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "good[bot].db"


def test_an_orderly_end_leaves_nothing(database: Path) -> None:
    report = open_report(database, "life1")
    with report.record_in_progress(message("e1")):
        (file,) = database.parent.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    report.close()
    assert list(database.parent.iterdir()) == []


def test_a_death_is_told_with_what_was_in_work_and_taken_away(database: Path) -> None:
    report = open_report(database, "life1")
    with report.record_in_progress(message("e1")), report.record_in_progress(message("e2")):
        pass
    die(report, message("e3"), message("e 4", "slack:Ü"))
    (file,) = database.parent.iterdir()
    assert "secret" not in file.read_text()
    assert told(database) == [
        AbnormalExit(id="life1", in_work=(("terminal:w", "e3"), ("slack:Ü", "e 4")), is_crash=False)
    ]
    assert told(database) == []
    assert list(database.parent.iterdir()) == []


def test_a_traceback_makes_it_a_crash_and_stays(database: Path) -> None:
    for number in (1, 2):
        die(open_report(database, f"life{number}"), message("e1"), trace=b"Timeout %d!\n  File ...\n" % number)
        assert [death.is_crash for death in told(database)] == [True]
        assert f"Timeout {number}!" in last_report(database).read_text()
    assert list(database.parent.iterdir()) == [last_report(database)]


def test_the_report_of_a_living_process_is_left_alone(database: Path) -> None:
    report = open_report(database, "life1")
    other = open_report(database.with_name("other.db"), "life2")
    assert told(database) == []
    die(report)
    die(other)
    assert [death.id for death in told(database)] == ["life1"]


def test_what_could_not_be_counted_is_told_again(database: Path) -> None:
    die(open_report(database, "life1"), message("e1"), trace=b"Fatal Python error\n")
    with pytest.raises(ZeroDivisionError), abnormal_exits(database):
        raise ZeroDivisionError
    assert [death.id for death in told(database)] == ["life1"]


def test_two_starts_at_once_do_not_tell_the_same_death(database: Path) -> None:
    die(open_report(database, "life1"), message("e1"))
    with abnormal_exits(database) as first, abnormal_exits(database) as second:
        assert (len(first), len(second)) == (1, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that opens but cannot be read")
def test_an_unreadable_report_is_named_and_keeps_nobody_from_the_others(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken, looping, folder = (database.with_name(f"{database.name}.{name}.life") for name in "abc")
    broken.symlink_to("/proc/self/mem")  # reading its beginning is an I/O error
    looping.symlink_to(looping)
    folder.mkdir()
    die(open_report(database, "life1"), message("e1"))
    assert [death.id for death in told(database)] == ["life1"]
    assert [str(path) in caplog.text for path in (broken, looping, folder)] == [True, True, False]
    assert told(database) == []


def test_a_report_that_cannot_be_taken_away_is_named_and_the_others_go(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    last_report(database).mkdir()  # so that no file can be put in its place
    die(open_report(database, "life1"), message("e1"), trace=b"Fatal Python error\n")
    die(open_report(database, "life2"), message("e2"))
    assert [death.id for death in told(database)] == ["life1", "life2"]
    assert "life1" in caplog.text
    assert [death.id for death in told(database)] == ["life1"]


def test_what_a_kill_left_before_it_had_its_name_is_swept(database: Path) -> None:
    left, other = (database.with_name(f"{name}.life1.life.new") for name in (database.name, "other.db"))
    for path in (left, other):
        path.write_bytes(b"")
    assert told(database) == []
    assert list(database.parent.iterdir()) == [other]


def test_a_start_whose_file_is_swept_before_it_is_locked_makes_it_again(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = crash_report._lock
    swept: list[Path] = []

    def lock_late(file: int, *, waits: bool = False) -> None:
        if waits and not swept:
            swept.extend(database.parent.iterdir())
            assert told(database) == []
            assert list(database.parent.iterdir()) == []
        lock(file, waits=waits)
        if waits and swept:
            # From here on it is left alone.
            during = sorted(database.parent.iterdir())
            assert told(database) == []
            assert sorted(database.parent.iterdir()) == during

    monkeypatch.setattr(crash_report, "_lock", lock_late)
    report = open_report(database, "life1")
    assert len(swept) == 1
    assert list(database.parent.iterdir()) == [report.path]
    die(report, message("e1"))
    assert [death.id for death in told(database)] == ["life1"]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=30), st.integers(0, 24))
def test_what_is_noted_is_exactly_what_is_in_work(steps: list[tuple[bool, int]], cut: int) -> None:
    """Whatever begins and ends in whatever order; a last line that was cut off is no message."""
    with TemporaryDirectory() as folder:
        database = Path(folder) / "goodbot.db"
        report = open_report(database, "life1")
        working: dict[int, AbstractContextManager[None]] = {}
        for begins, number in steps:
            if begins and number not in working:
                working[number] = report.record_in_progress(message(f"e{number}"))
                working[number].__enter__()
            elif not begins and number in working:
                working.pop(number).__exit__(None, None, None)
        os.write(report.trace, b'["terminal:w", "cut off"]'[:cut])
        left = report.path.read_bytes()
        for each in working.values():
            each.__exit__(None, None, None)
        report.close()
        report.path.write_bytes(left)
        (death,) = told(database)
    assert sorted(death.in_work) == [("terminal:w", f"e{number}") for number in sorted(working)]
    assert not death.is_crash


@pytest.mark.parametrize("line", [r'["a\u0000b", "x"]', r'["\ud800", "x"]', "[" * 100_000, '["one"]', "[1, 2, 3]"])
def test_a_damaged_line_of_a_report_is_passed_over(tmp_path: Path, line: str) -> None:
    database = tmp_path / "goodbot.db"
    (tmp_path / "goodbot.db.life1.life").write_text(f'{line}\n["terminal:w", "e1"]\n', encoding="utf-8")
    (death,) = told(database)
    assert death.in_work == (("terminal:w", "e1"),)
