"""`goodbot move`, `goodbot backup` and `goodbot reembed` as an administrator gives them."""

import asyncio
import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.doubles.postgres import new_database
from tests.doubles.process import Finished, Home, begun_with, full_after
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack_workspaces_driver import install_beforehand, installations

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """To be read only."""
    home = Home(tmp_path_factory.mktemp("taught"))
    typed = "what is 2 + 2?\n👍\nwho waters the plants?\n👎\n/correct Ana waters them.\n"
    assert home.run("chat", given=typed).code == 0
    return home


def exported(home: Home, database: Path) -> str:
    """All episodes; the event log agrees with them."""
    done = home.run("rebuild", "--check", DATABASE_URL=f"sqlite:///{database}")
    assert (done.code, done.out) == (0, "Everything stored is what the event log says.\n")
    return home.run("episodes", "export", DATABASE_URL=f"sqlite:///{database}").out


def told(done: Finished, code: int, *parts: str) -> None:
    assert done.code == code
    assert "Traceback" not in done.err
    assert all(part in done.out + done.err for part in parts), done


def test_a_moved_memory_is_the_same(taught: Home, tmp_path: Path) -> None:
    target = tmp_path / "new.db"
    told(taught.run("move", "--to", f"sqlite:///{target}", "--dry-run"), 0, "episodes ", "Nothing was created")
    assert not target.exists()
    told(taught.run("move", "--to", f"sqlite:///{target}"), 0, "episodes ", "Set DATABASE_URL to it")
    assert exported(taught, target) == exported(taught, taught.database)
    told(taught.run("move", "--to", f"sqlite:///{target}"), 1, "The target is not empty")
    tables = taught.run("move", "--to", f"sqlite:///{tmp_path / 'json.db'}", "--json").json()["tables"]
    count = len(json.loads(exported(taught, target)))
    assert next(each for each in tables if each["name"] == "episodes")["rows"] == count > 0


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("letter", "--to is not an address"),
        ("mysql://localhost/goodbot", "--to names a mysql database"),
        ("sqlite:////dev/full/x.db", "cannot be created"),
        ("", "--to is not an address"),
    ],
)
def test_what_is_no_address_of_a_database_is_told(taught: Home, url: str, part: str) -> None:
    told(taught.run("move", "--to", url), 1, part)


def test_a_move_that_met_a_full_disk_is_gone_on_with(taught: Home, tmp_path: Path) -> None:
    target = tmp_path / "new.db"
    told(taught.run("move", "--to", f"sqlite:///{target}", program=full_after(450 * 1024)), 1, "disk")
    told(taught.run("move", "--to", f"sqlite:///{target}"), 0, "Set DATABASE_URL to it")
    assert exported(taught, target) == exported(taught, taught.database)


def test_a_backup_restored_is_the_same(taught: Home, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    told(taught.run("backup", str(file)), 0, "MiB written to")
    assert file.stat().st_mode & 0o777 == 0o600
    assert exported(taught, file) == exported(taught, taught.database)
    told(taught.run("backup", str(taught.log)), 1, "Name another file.")
    told(taught.run("backup", str(taught.database)), 1, "Name another file.")
    told(Home(tmp_path).run("backup", "copy2"), 1, "There is no database")


def test_another_embedder_is_told_by_doctor_and_brought_by_one_command(taught: Home, tmp_path: Path) -> None:
    home = taught.copy(tmp_path)
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE episode_vectors SET model = 'an earlier one'")
        connection.execute("UPDATE recall_index SET model = 'an earlier one', seq = seq + 100")
    found = {each["code"]: each for each in home.run("doctor", "--json").json()}
    assert "goodbot reembed" in found["GB005"]["remedy"]
    told(home.run("reembed"), 0, "embedded by hashing-384")
    assert {each["code"]: each["ok"] for each in home.run("doctor", "--json").json()}["GB005"]
    told(home.run("reembed"), 0, "0 episodes and 0 topics embedded")
    assert exported(home, home.database) == exported(taught, taught.database)


DIES_HALF_WAY = begun_with(
    "import signal\n"
    "from memory.services.upkeep import reembedding\n"
    "reembedding.BATCH, batch = 1, reembedding.Reembedding._episodes\n"
    "def dying(self, *given):\n"
    "    batch(self, *given)\n"
    "    os.kill(os.getpid(), signal.SIGKILL)\n"
    "reembedding.Reembedding._episodes = dying"
)


def test_lessons_of_both_models_are_found_after_a_kill_half_way_and_the_same_command_goes_on(
    taught: Home, tmp_path: Path
) -> None:
    home = taught.copy(tmp_path)
    with home.memory(256) as before:
        every = before.reembedding.run().episodes

    def found() -> list[list[str]]:
        questions = ("what is 2 + 2?", "who waters the plants?")
        answers = [home.run("query", question, "--json").json() for question in questions]
        return [sorted(each["episode"]["id"] for each in answer["exemplars"]) for answer in answers]

    expected = found()
    assert all(expected)
    assert home.run("reembed", program=DIES_HALF_WAY).code == -signal.SIGKILL
    assert found() == expected
    told(home.run("reembed"), 0, f"{every - 1} episodes and 0 topics embedded by hashing-384")
    assert found() == expected
    assert exported(home, home.database) == exported(taught, taught.database)


def test_a_move_that_cannot_bring_tokens_is_gone_on_with(taught: Home, tmp_path: Path) -> None:
    home, target = taught.copy(tmp_path), tmp_path / "new.db"
    command = ("move", "--to", f"sqlite:///{target}")
    beside = tmp_path / "goodbot-slack.db"
    beside.write_bytes(b"not a database at all" * 100)
    told(home.run(*command), 1, "goodbot-slack.db cannot be used")
    assert not target.exists()
    beside.unlink()
    with SlackThread() as slack:
        asyncio.run(install_beforehand(beside, slack.server.workspace))
    (tmp_path / "new-slack.db").mkdir()
    told(home.run(*command), 2, "but the tokens of Slack workspaces", "new-slack.db cannot be used", "same command")
    told(home.run("stats", DATABASE_URL=f"sqlite:///{target}"), 1, "move")
    (tmp_path / "new-slack.db").rmdir()
    told(home.run(*command), 0, "and so are the tokens of 1 Slack workspace. Set")
    assert exported(home, target) == exported(taught, taught.database)


def test_a_move_brings_what_workspaces_installed(taught: Home, tmp_path: Path) -> None:
    home, url = taught.copy(tmp_path), new_database()
    with SlackThread() as slack:
        acme = slack.server.workspace
    asyncio.run(install_beforehand(tmp_path / "goodbot-slack.db", acme))
    told(home.run("move", "--to", url, "--dry-run"), 0, "and the tokens of 1 Slack workspace. Nothing")
    told(home.run("move", "--to", url), 0, "and so are the tokens of 1 Slack workspace. Set")
    there = installations(url)
    found = asyncio.run(there.of("T0001"))
    there.close()
    assert found is not None
    assert found.token == acme.bot_token
    moved = home.run("move", "--to", f"sqlite:///{tmp_path / 'back.db'}", "--json", DATABASE_URL=url).json()
    assert moved["slack_workspaces"] == 1
    back = asyncio.run(installations(tmp_path / "back-slack.db").of("T0001"))
    assert back == found
