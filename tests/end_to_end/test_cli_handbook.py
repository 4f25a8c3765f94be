"""`goodbot handbook`: out as an FAQ, and in again elsewhere without loss."""

from pathlib import Path

import pytest

from tests.doubles.process import Home

pytestmark = pytest.mark.process

FAQ = (
    "question,answer,audience,channel,visibility,place\n"
    '"How do I build?","```sh\n# make it\nmake\n```\n\n### And then\n\nRun it.",workspace,,,\n'
    "=1+1?,-2,workspace,,,\n"
    "Who waters?,Ana,channel,plants,public,#plants\n"
    "What do we pay?,A hundred,channel,board,private,#board\n"
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    (tmp_path / "faq.csv").write_text(FAQ, encoding="utf-8")
    learn(home, "faq.csv")
    return home


def learn(home: Home, file: str) -> None:
    known = home.run("learn", file, "--json").json()["batch"]
    assert home.run("review", "approve", known[-8:]).code == 0


@pytest.mark.parametrize("name", ["out.csv", "out.md"])
def test_what_leaves_comes_back_without_loss(home: Home, tmp_path: Path, name: str) -> None:
    assert home.run("handbook", "-o", name).out == f"3 answers written to {name}\n"
    (tmp_path / "elsewhere").mkdir()
    other = Home(tmp_path / "elsewhere")
    learn(other, str(tmp_path / name))
    assert other.run("handbook", "-o", name).code == 0
    assert (other.folder / name).read_bytes() == (home.folder / name).read_bytes()


def test_a_file_that_promises_another_form_is_not_written(home: Home, tmp_path: Path) -> None:
    refused = home.run("handbook", "-o", "out.pdf")
    assert refused.code == 2
    assert "out.pdf ends in neither .md nor .csv; name it so, or say --format" in refused.err
    assert not (tmp_path / "out.pdf").exists()
    assert home.run("handbook", "-o", "out.txt", "--format", "md").code == 0


def test_a_private_channel_is_written_down_by_itself(home: Home) -> None:
    assert "A hundred" not in home.run("handbook").out
    board = home.run("handbook", "--channel", "board")
    assert "A hundred" in board.out
    assert "Ana" not in board.out


def test_an_empty_one_says_why(tmp_path: Path) -> None:
    empty = Home(tmp_path).run("handbook")
    assert (empty.code, empty.out) == (0, "# What terminal:local taught\n")
    assert "Nothing that people taught counts for the workspace or a public channel yet" in empty.err


def test_authors_are_named_where_the_setting_says_so(home: Home) -> None:
    author = home.run("handbook", "--json").json()[0]["lesson"]["author"]
    assert author not in home.run("handbook").out
    assert f"*Taught by {author}*" in home.run("handbook", GOODBOT_TEACHING_NAME_AUTHORS="true").out


def test_the_database_is_not_written_over(home: Home) -> None:
    refused = home.run("handbook", "-o", str(home.database))
    assert refused.code == 1
    assert "belongs to the bot" in refused.err
