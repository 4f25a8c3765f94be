"""Hostile conditions: one line says what is wrong and what to do, and never a traceback."""

import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.tables.columns import metadata
from memory.errors import NotADatabase
from memory.model.evidence import Threshold
from memory.model.topic import TopicLink
from memory.ports import EpisodeFilter
from tests.doubles.process import GOODBOT, WORKSPACE, Finished, Home, begun_with, read_by
from tests.doubles.stores import open_file
from tests.memory.adapters.store_contract_topics import topic
from tests.memory.adapters.store_samples import NOW, fill

QUESTION = "what is 2 + 2?"

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


@pytest.fixture(scope="module")
def once_used(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("used"))
    assert home.run("chat", given=f"{QUESTION}\n+1\n").code == 0
    return home


@pytest.fixture
def home(once_used: Home, tmp_path: Path) -> Home:
    """A home with one answered question."""
    return once_used.copy(tmp_path)


def spoil(path: Path, table: str, column: str, value: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute(f'UPDATE "{table}" SET "{column}" = ?', [value])
        assert changed.rowcount > 0


def assert_one_line(done: Finished, *told: str, code: int = 1) -> None:
    assert done.code == code, done
    (line,) = done.err.splitlines()
    assert line.startswith("goodbot: ")
    assert "should not have happened" not in line
    assert all(part in line for part in told), line


# damaged rows -------------------------------------------------------------------------------------------------------

SPOILT = [
    ("episodes", "trajectory", "{bad", "JSONDecodeError"),
    ("episodes", "termination", "excellent", "KeyError"),
    ("episodes", "created_at", "yesterday", "str instead of int"),
    ("episodes", "created_at", 2**62, "OverflowError"),
    ("episodes", "strength", "much", "str instead of float"),
    ("events", "detail", "[1", "JSONDecodeError"),
]


@pytest.mark.process
@pytest.mark.parametrize(("table", "column", "value", "reason"), SPOILT)
def test_a_damaged_row_is_named_by_every_command_and_by_doctor(
    home: Home, table: str, column: str, value: object, reason: str
) -> None:
    spoil(home.database, table, column, value)
    commands = {
        "list": ["episodes", "list"],
        "export": ["episodes", "export", "-o", "out.json"],
        "check": ["rebuild", "--check"],
        "purge": ["purge", "--taught-by", "you", "--dry-run"],
        "doctor": ["doctor"],
    }
    done = home.run_all(commands)
    assert not [each for each in done.values() if "Traceback" in each.out + each.err]
    assert done["check"].code == 1
    for name in commands.keys() - {"doctor"}:
        if done[name].err:  # some need nothing of the damaged column
            assert_one_line(done[name], table, WORKSPACE, f"a damaged {column} ({reason}", "goodbot doctor")
    told = done["doctor"]
    assert (told.code, told.err) == (1, "")
    assert f"GB011 FAIL the row of {table} with workspace '{WORKSPACE}'" in told.out
    assert f"PRAGMA foreign_keys=ON; DELETE FROM {table} WHERE workspace =" in told.out
    assert "GB012" in told.out


@pytest.mark.process
def test_a_text_that_is_no_utf_8_is_told_without_its_words(home: Home) -> None:
    spoil(home.database, "incoming", "text", "zyzzyva")
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE incoming SET text = CAST(text || x'ff' AS TEXT)")
    done = home.run("export", "--person", "you")
    assert_one_line(done, "Could not decode to UTF-8 column 'text'", "goodbot doctor")
    told = home.run("doctor")
    assert "damaged text (bytes that are no UTF-8 text)" in told.out
    assert "zyzzyva" not in done.err + told.out


def _evidence(nearest: str = "0.5", lessons: str = "1", beliefs: str = "", weights: str = "") -> str:
    """A recall's evidence as it is stored."""
    one = f'[{{"action": "clock", "value": 0.5, "prior": 0, "weights": [{weights}]}}]'
    return f'{{"nearest": {nearest}, "lessons": {lessons}, "beliefs": {beliefs or one}}}'


SENSELESS = [
    ("incoming", "channel", "", "a scope needs"),
    ("incoming", "person", "", "a scope needs"),
    ("incoming", "workspace", "", "nothing where something must be"),
    ("episodes", "person", "", "a scope needs"),
    ("episodes", "strength", 9e999, "must be a finite number"),
    ("episodes", "goal", "a\0b", "contains a NUL"),
    ("episodes", "exemplar_ids", "[1]", "a list of texts"),
    ("episodes", "context_before", '{"a": 1}', "a list of texts"),
    ("episodes", "trajectory", '[{"kind": "act", "text": 5}]', "a list of texts"),
    ("episode_vectors", "vector", b"\x00\x7e", "finite numbers"),
    ("events", "detail", '{"weight": NaN}', "must be a finite number"),
    ("links", "to_id", "e2", "cannot be linked to itself"),
    ("reactions", "value", 7, "a reaction's value"),
    ("retrievals", "evidence", "null", "AttributeError"),
    ("retrievals", "evidence", "{}", "KeyError: 'beliefs'"),
    ("retrievals", "evidence", _evidence(beliefs="null"), "TypeError"),
    ("retrievals", "evidence", _evidence(lessons="true"), "a number of lessons"),
    ("retrievals", "evidence", _evidence(nearest='"near"'), "a number is needed"),
    ("retrievals", "evidence", _evidence(nearest="NaN"), "must be a finite number"),
    ("retrievals", "evidence", _evidence(beliefs='[{"action": 1, "value": 0, "prior": 0, "weights": []}]'), "a text"),
    ("retrievals", "evidence", _evidence(weights='["e1", 0.5]'), "TypeError"),
    ("retrievals", "evidence", _evidence(weights='["e1", 0.5, "much", true]'), "a number is needed"),
    ("retrievals", "evidence", _evidence(weights='["e1", 0.5, 0.5, 1]'), "true or false"),
    ("retrievals", "evidence", _evidence(nearest='0, "text": 1'), "TypeError"),
    ("steps", "env_pre", '{"elements": 5}', "TypeError"),
    ("topics", "partition", "", "a topic needs"),
    ("topic_links", "to_id", "t1", "cannot be linked to itself"),
    ("topic_vectors", "vector", b"", "finite numbers"),
    ("trust_records", "workspace", "", "nothing where something must be"),
]


@pytest.mark.parametrize(("table", "column", "value", "reason"), SENSELESS)
def test_a_row_of_right_types_that_makes_no_sense_is_named(
    tmp_path: Path, table: str, column: str, value: object, reason: str
) -> None:
    path = tmp_path / "db.sqlite"
    with closing(open_file(path)) as store:
        with store.write() as tx:
            fill(tx, "w")
            for name in ("t1", "t2"):
                tx.topics.put(topic(name))
                tx.topics.put_vector("w", name, "m", np.ones(2, np.float32))
            tx.topics.add_link(TopicLink(workspace="w", from_id="t1", to_id="t2", kind="of", person="ana", at=NOW))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ?', [value])
        (found,) = store.damage(limit=1)
    assert f"the row of {table} with" in found.what
    assert reason in found.what


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("incoming", "person", ""), ("episodes", "goal", b"\xff"), ("episodes", "id", b"\xff")],
)
def test_commands_that_meet_a_senseless_row_point_to_doctor_which_names_it(
    home: Home, table: str, column: str, value: object
) -> None:
    spoil(home.database, "incoming", "progress", "accepted")
    spoil(home.database, table, column, value)
    commands = {
        "list": ["episodes", "list"],
        "export": ["episodes", "export", "-o", "out.json"],
        "consolidate": ["jobs", "run", "consolidate"],
        "chat": ["chat"],
        "doctor": ["doctor"],
    }
    done = home.run_all(commands)
    assert not [each for each in done.values() if "Traceback" in each.out + each.err]
    for name in commands.keys() - {"doctor"}:
        if done[name].code:
            told = done[name].err or done[name].out
            assert f"the row of {table} with" in told or name == "consolidate"
            assert "goodbot doctor" in told
    assert done["chat" if table == "incoming" else "list"].code == 1
    assert f"GB011 FAIL the row of {table} with" in done["doctor"].out


@pytest.mark.process
def test_an_unfinished_forget_that_meets_a_damaged_row_is_told_and_doctor_names_the_row(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with closing(open_file(home.database)) as store, store.write() as tx:
        fill(tx, "w")
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE incoming SET channel = ''")
        connection.execute("INSERT INTO erasures VALUES ('w', 'x', 'ana')")
    for command in (["episodes", "list"], ["chat"]):
        assert_one_line(home.run(*command), "the row of incoming with", "goodbot doctor")
    told = home.run("doctor")
    assert (told.code, told.err) == (1, "")
    assert "GB011 FAIL the row of incoming with" in told.out
    assert "GB012" in told.out


@pytest.mark.process
def test_a_damaged_count_is_named_and_mended_by_rebuild(home: Home) -> None:
    with closing(SqlStore.open(f"sqlite:///{home.database}")) as store, store.write() as tx:
        tx.judgements.put_threshold(Threshold(workspace=WORKSPACE, budget=0.05, value=0.16))
    spoil(home.database, "thresholds", "confusion", "often")
    told = home.run("rebuild", "--check")
    assert (told.code, told.err) == (1, "")
    named, remedy = told.out.splitlines()
    assert f"in the database {home.database}, the row of thresholds with workspace '{WORKSPACE}'" in named
    assert remedy == "`goodbot rebuild` makes these what the log says."
    assert home.run("rebuild").code == 0
    assert home.run("rebuild", "--check").code == 0
    assert home.run("doctor").code == 0


@pytest.mark.process
def test_the_remedy_of_doctor_mends_the_database(home: Home) -> None:
    spoil(home.database, "episodes", "trajectory", "{bad")
    with closing(SqlStore.open(f"sqlite:///{home.database}")) as store:
        rows = store.damage(limit=99)
        statements = [row.remedy.partition(" 'PRAGMA")[2].rpartition(";'")[0] for row in rows]
    with closing(sqlite3.connect(home.database)) as connection:
        for statement in statements:
            connection.executescript(f"PRAGMA{statement};".replace("""'"'"'""", "'"))
    assert "GB011 ok" in home.run("doctor").out
    assert home.run("rebuild").code == 0
    assert home.run("doctor").code == 0


def test_every_column_of_every_table_is_looked_at(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.db", tmp_path / "spoilt.db"
    with closing(open_file(whole)) as store:
        with store.write() as tx:
            fill(tx, "w")
        assert store.damage(limit=1) == []
    seen = 0
    with (
        closing(sqlite3.connect(whole)) as original,
        closing(SqlStore.open(f"sqlite:///{path}")) as store,
        closing(sqlite3.connect(path)) as copy,
    ):
        for table in metadata.sorted_tables:
            for column in table.columns:
                original.backup(copy)
                # A blob belongs in no column but those of vectors, whose bytes come in twos and eights.
                changed = copy.execute(f'UPDATE OR IGNORE "{table.name}" SET "{column.name}" = x\'00FF0A\'')
                copy.commit()
                if changed.rowcount > 0:
                    seen += 1
                    (found,) = store.damage(limit=1)
                    assert f"the row of {table.name} with" in found.what
                    assert f"a damaged {column.name} (" in found.what
    assert seen > 150


def test_a_store_names_the_row_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    with closing(open_file(path)) as store:
        with store.write() as tx:
            fill(tx, "w")
            ids = [each.id for each in tx.episodes.search("w", EpisodeFilter(limit=None))]
        spoil(path, "episodes", "created_at", "soon")
        told = rf"the row of episodes with .*'{ids[0]}'.* damaged created_at"
        with pytest.raises(NotADatabase, match=told), store.read() as tx:
            tx.episodes.get_many("w", ids[:1])


@pytest.mark.process
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM alembic_version", "has 0 entries"),
        ("INSERT INTO alembic_version VALUES ('0001')", "has 2 entries"),
    ],
)
def test_a_database_that_does_not_say_its_version_is_told(home: Home, statement: str, told: str) -> None:
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute(statement)
    content = home.database.read_bytes()
    for command in (["stats"], ["chat"]):
        assert_one_line(home.run(*command), "does not say which schema it has", told, "Restore a backup")
    assert told in home.run("doctor").out
    assert home.database.read_bytes() == content


@pytest.mark.process
def test_a_failing_job_is_told_in_one_line_and_is_whole_in_the_log(home: Home) -> None:
    spoil(home.database, "episodes", "termination", "excellent")
    done = home.run("jobs", "run", "consolidate")
    assert (done.code, done.err) == (1, "")
    (line,) = done.out.splitlines()
    assert line.startswith(f"consolidate: FAILED: In {WORKSPACE}: In the database ")
    assert "damaged termination" in line
    assert "Traceback" in home.log.read_text(encoding="utf-8")


@pytest.mark.process
def test_what_nobody_expected_is_one_line_with_the_rest_in_the_log(home: Home) -> None:
    failing = "def fail(rows): raise ZeroDivisionError('of all things')"
    broken = f"import bot.cli.episodes as commands\n{failing}\ncommands.print_episodes = fail"
    done = home.run("episodes", "list", program=begun_with(broken))
    assert (done.code, done.out) == (1, "")
    (line,) = done.err.splitlines()
    assert "this should not have happened: ZeroDivisionError: of all things. Run `goodbot doctor`" in line
    assert str(home.log) in line
    assert "Traceback" in home.log.read_text(encoding="utf-8")


# full disks ---------------------------------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["chat"], ["slack"]])
def test_a_log_on_a_full_disk_is_told_once(home: Home, command: Sequence[str]) -> None:
    script = (
        "import logging, sys; from bot.app.processes.log_file import start_log\n"
        "from bot.app.wiring.startup import read_settings\n"
        f"start_log(read_settings(), to_stderr={command == ['slack']})\n"
        "for number in range(3): logging.getLogger('bot').error('line %d', number)\n"
    )
    done = home.run(program=(sys.executable, "-c", script), GOODBOT_LOG_FILE="/dev/full")
    complaints = [line for line in done.err.splitlines() if not line.startswith("20")]
    assert complaints == ["goodbot: lines of the log are lost: /dev/full: No space left on device"]
    assert done.code == 0


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_cannot_be_shown_ends_in_one_line(home: Home) -> None:
    for command in ("episodes list", "episodes export", "doctor", "stats"):
        told = home.run(*command.split(), program=begun_with("os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"))
        assert told.code == 1
        assert told.err == "goodbot: [Errno 28] No space left on device\n"


# streams, names, folders --------------------------------------------------------------------------------------------


def shell(home: Home, line: str, given: str = "", **settings: str) -> Finished:
    """A shell's way to start the program, which is `"$@"`."""
    return home.run(given=given, program=("sh", "-c", line, "sh", *GOODBOT), **settings)


STREAMS = ("stdin", "stdout", "stderr")


@needs_posix
@pytest.mark.process
@pytest.mark.parametrize("number", [*range(len(STREAMS)), None])
def test_a_closed_stream_is_no_fault(home: Home, number: int | None) -> None:
    """As whoever starts it closed them. With all of them closed it is a shell that does, and a new interpreter."""

    def run(command: str, given: str = "") -> Finished:
        if number is None:
            return shell(home, f'exec "$@" {command} <&- >&- 2>&-', given=given)
        program = begun_with(f"os.close({number}); sys.{STREAMS[number]} = None")
        return home.run(*command.split(), given=given, program=program)

    for command in ("chat",) if number is None else ("episodes list", "chat", "stats"):
        done = run(command, given=f"{QUESTION}\n")
        assert (done.code, done.err) == (0, "")
    done = run("forget --person you")
    assert done.code == 130
    assert "Traceback" not in done.err
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@needs_posix
@pytest.mark.process
def test_a_reader_that_leaves_is_no_fault(home: Home) -> None:
    done = home.run("episodes", "export", program=read_by("head", "-c", "1"))
    assert (done.code, done.out, done.err) == (0, "[", "")


@needs_posix
@pytest.mark.process
def test_a_persons_name_that_is_not_utf_8(home: Home) -> None:
    named = {"LOGNAME": os.fsdecode(b"\xff"), "USER": os.fsdecode(b"\xff")}
    (episode,) = home.run("episodes", "list", "--json").json()
    assert home.run("episodes", "grade", episode["id"], "failure", **named).code == 0
    with home.memory() as memory:
        votes = memory.audit.run(WORKSPACE, episode["run_id"]).votes
    assert "cli:\ufffd" in [vote.actor for vote in votes]
    assert home.run("chat", given=f"{QUESTION}\n", **named).code == 0
    for command in (("forget", "--yes", "--person"), ("episodes", "list", "--text")):
        assert_one_line(home.run(*command, os.fsdecode(b"\xff")), "is not UTF-8", "Type it again")


@needs_posix
@pytest.mark.process
def test_no_home_and_no_folder(tmp_path: Path) -> None:
    home = Home(tmp_path)
    gone = shell(home, 'mkdir gone && cd gone && rmdir ../gone && exec "$@" stats')
    assert_one_line(gone, "the folder that goodbot was started in is gone", code=2)
    nobody = home.run("stats", DATABASE_URL="sqlite:///~nobody_of_this_name/x.db")
    assert_one_line(nobody, "there is no such home folder", "Name another file")
    assert_one_line(home.run("stats", GOODBOT_LOG_FILE="~nobody_of_this_name/x"), "write the whole path", code=2)


@pytest.mark.process
@pytest.mark.parametrize(
    "text",
    [
        f"x = {'[' * 100_000}",
        f"[recall]\nfinal_k = {'9' * 10_000}",
        f"[recall]\nfinal_k = 0x{'f' * 10_000}",
        '[knowledge]\nfolder = "a\\u0000b"',
        "\0",
    ],
)
def test_a_settings_file_of_nonsense(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.toml").write_text(text, encoding="utf-8")
    done = Home(tmp_path).run("--config", "odd.toml", "stats")
    assert done.code == 2
    assert done.err.startswith("goodbot: ")
    assert "Traceback" not in done.err
    assert "should not have happened" not in done.err
