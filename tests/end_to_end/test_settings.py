"""Wrong settings stop every command before it touches anything, and are named with what was meant or allowed."""

from pathlib import Path

import pytest

from tests.doubles.process import Home

pytestmark = pytest.mark.process

_FILE = """\
[recal]
final_k = 3

[recall]
min_similarty = 0.5
final_k = "three"

[agent]
max_depth = 11
"""


def test_a_misspelt_variable_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_RECAL_MIN_SIMILARITY="0.7", GOODBOT_RECALL_FINAL_K="99")
    for command in (("chat",), ("episodes", "list")):
        done = home.run(*command)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines() == [
            "goodbot: the settings are wrong, so nothing was started:",
            "- GOODBOT_RECAL_MIN_SIMILARITY (environment variable): there is no such setting; "
            "did you mean GOODBOT_RECALL_MIN_SIMILARITY?",
            "- recall.final_k (environment variable GOODBOT_RECALL_FINAL_K): allowed is a whole number from 1 to 50; "
            "found 99",
        ]
    assert not home.database.exists()


def test_everything_wrong_in_a_file_is_named_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    file = tmp_path / "wrong.toml"
    file.write_text(_FILE, encoding="utf-8")
    done = home.run("--config", str(file), "chat")
    assert (done.code, done.out) == (2, "")
    _, *problems = done.err.splitlines()
    assert [problem.partition(" (in ")[0] for problem in problems] == [
        "- [recal]", "- recall.min_similarty", "- agent.max_depth", "- recall.final_k",
    ]  # fmt: skip
    assert "did you mean recall?" in problems[0]
    assert "did you mean recall.min_similarity?" in problems[1]
    assert "allowed is a whole number from 1 to 50; found 'three'" in problems[3]
    assert "to 10; found 11" in problems[2]
    assert not home.database.exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"this is = = no", "is not valid TOML"),
        (b"[model]\nname = 'caf\xe9'", "is not UTF-8 text"),
        (None, "does not exist"),
    ],
    ids=["no TOML", "no UTF-8", "no file"],
)
def test_a_settings_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, told: str) -> None:
    home = Home(tmp_path)
    file = tmp_path / "goodbot.toml"
    if content is not None:
        file.write_bytes(content)
    done = home.run("--config", str(file), "episodes", "list")
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert str(file) in line
    assert told in line


def test_a_settings_file_in_the_folder_is_used_and_the_environment_wins(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "goodbot.toml").write_text('[terminal]\nperson = "ana"\nchannel = "kitchen"\n', encoding="utf-8")
    done = home.run("chat", given="what is 2 + 2?", GOODBOT_TERMINAL_PERSON="ben")
    assert (done.code, done.err) == (0, "")
    assert "ben: what is 2 + 2?" in done.out
    (episode,) = home.run("episodes", "list", "--json").json()
    assert (episode["person"], episode["channel"]) == ("ben", "kitchen")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("offlin", "did you mean offline?"),
        ("acme:large", "the provider 'acme' is not known"),
        ("openai:m", "OPENAI_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_used_is_named_before_anything_is_asked(tmp_path: Path, name: str, told: str) -> None:
    done = Home(tmp_path, GOODBOT_MODEL=name).run("chat", given="hello")
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert "hello" not in done.out


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    home = Home(tmp_path, OPENAI_API_KEY="sk-canary", DATABASE_URL="postgresql://u:canary@host/db")
    for command in (("chat",), ("doctor",), ("episodes", "list")):
        done = home.run(*command)
        assert done.code != 0
        assert "canary" not in done.out + done.err
    assert not home.log.exists() or "canary" not in home.log.read_text(encoding="utf-8")


def test_a_log_that_cannot_be_written_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = Home(tmp_path, GOODBOT_LOG_FILE=str(tmp_path / "file" / "goodbot.log")).run("chat", given="what is 2 + 2?")
    assert done.code == 0
    assert done.err.startswith("goodbot: no log is written: ")
    assert len(done.err.splitlines()) == 1
    assert "2 + 2 = 4" in done.out
