"""`goodbot bench` as it is typed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli.root import goodbot
from memory.errors import InvalidInput
from tests.bot.app.bench.sets import ROWS, write
from tests.doubles.process import Home


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path, {"test": ROWS, "train": ROWS, "oos_test": [["zzz qqq", "none of them"]]})


def run(data: Path, *arguments: str) -> Result:
    command, *options = arguments
    home = Home(data.parent)
    return CliRunner(env=home.environment({})).invoke(goodbot, ["bench", command, "--data", str(data), *options])


def test_learning_prints_a_table_and_writes_numbers_and_a_picture(data: Path, tmp_path: Path) -> None:
    numbers, picture = tmp_path / "numbers.json", tmp_path / "curve.svg"
    options = ["--choose", "--seeds", "0-1", "--baseline", "--json", str(numbers), "--plot", str(picture)]
    done = run(data, "learning", *options)
    assert done.exit_code == 0, done.output
    begins = [line.split()[0] for line in done.stdout.splitlines()]
    assert begins[:11] == ["SHUFFLE", "0", "last", "1", "last", "mean", "last", "no", "last", "right", "no"]
    assert begins[11] == "CONFIDENCE"
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert (found["messages"], found["embedder"], found["arm"]["must_choose"]) == (6, "hashing-384", True)
    assert [len(shuffle["outcomes"]) for shuffle in found["shuffles"]] == [6, 6]
    assert [shuffle["worst_window"] is None for shuffle in found["no_reactions"]] == [True, True]
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert not (tmp_path / "goodbot.db").exists()  # the memory that people talk to is left alone


def test_answers_are_taught_by_corrections(data: Path) -> None:
    done = run(data, "learning", "--answers", "--corrected", "1", "--messages", "4", "--people", "2", "--teachers")
    assert done.exit_code == 0, done.output


def test_what_is_taught_first_is_known_and_nothing_is_right_for_what_is_outside(data: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    first = ["--answers", "--reacted", "0", "--lessons", "2", "--taught", "train", "--outside", "oos_test"]
    done = run(data, "learning", *first, "--json", str(numbers))
    assert done.exit_code == 0, done.output
    mean = json.loads(numbers.read_text(encoding="utf-8"))["mean"]
    assert (mean["overall"]["right"], mean["outside"]["unknown"], mean["wrong_of_answered"]) == (1.0, 1.0, 0.0)
    assert any(line.split()[0] == "outside" for line in done.stdout.splitlines())


def test_retrieval_prints_what_was_found(data: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    done = run(data, "retrieval", "--outside", "oos_test", "--messages", "4", "--json", str(numbers))
    assert done.exit_code == 0, done.output
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert (found["lessons"], found["messages"], found["outside"], found["hit_at_1"]) == (6, 4, 1, 1.0)
    assert done.stdout.splitlines()[0].split()[:5] == ["LESSONS", "ASKED", "HIT@1", "MRR", "AUROC"]


THINGS = {
    "parking permit": "where do I apply for a parking permit, number",
    "front door key": "who has another key of our front door, if",
    "lunch menu": "please show me what is on the lunch menu today and",
}
ATTACKED = [[f"{question} {number}", thing] for thing, question in THINGS.items() for number in range(16)]


@pytest.fixture
def attacked(tmp_path: Path) -> Path:
    return write(tmp_path, {"test": [row for row in ATTACKED if row[0].endswith("15")], "train": ATTACKED})


@pytest.mark.parametrize(
    "options", [["--attackers", "2"], ["--newcomers"], ["--everywhere"], ["--refuse", "--attackers", "2"]]
)
def test_attack_prints_what_victims_meet_before_and_after(attacked: Path, tmp_path: Path, options: list[str]) -> None:
    numbers = tmp_path / "numbers.json"
    done = run(attacked, "attack", "--labels", "2", "--json", str(numbers), *options)
    assert done.exit_code == 0, done.output
    (found,) = json.loads(numbers.read_text(encoding="utf-8"))["attacks"]
    assert found["before"]["right"] == 1
    assert (found["before"]["poison"], found["before"]["in_prompt"]) == (0, 0)
    assert (found["after"]["in_prompt"], found["after"]["called_wrong"], found["after"]["given"]) == (0, 0, 0)
    if "--newcomers" in options:
        assert found["after"] == found["before"]


def test_an_attack_on_more_labels_than_there_are_is_refused(attacked: Path) -> None:
    done = run(attacked, "attack", "--labels", "4")
    assert isinstance(done.exception, InvalidInput)
    assert "needs as many labels" in str(done.exception)


@pytest.mark.parametrize("seeds", ["", "a", "3-1", "1,1", "0-", "0-999999999999"])
def test_wrong_seeds_are_refused_with_an_example(data: Path, seeds: str) -> None:
    done = run(data, "learning", "--seeds", seeds)
    assert done.exit_code == 2
    assert "give 0,1,2 or 0-4" in done.stderr


def test_what_could_not_be_written_at_the_end_is_refused_at_the_beginning(data: Path, tmp_path: Path) -> None:
    done = run(data, "learning", "--plot", str(tmp_path / "none" / "curve.svg"))
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr


def test_more_messages_than_there_are_and_broken_files_are_refused(data: Path) -> None:
    for command in ("learning", "retrieval"):
        many = run(data, command, "--messages", "7")
        assert isinstance(many.exception, InvalidInput)
        assert "give --messages 6 or fewer" in str(many.exception)
    data.write_text('{"test": [["a"]]}', encoding="utf-8")
    broken = run(data, "learning")
    assert isinstance(broken.exception, InvalidInput)
    assert "row 1 of 'test' is a list of 1" in str(broken.exception)


def test_tasks_prints_a_row_for_each_arm_and_writes_numbers_and_a_picture(tmp_path: Path) -> None:
    numbers, picture = tmp_path / "numbers.json", tmp_path / "tasks.svg"
    options = ["--tasks", "3", "--rounds", "1", "--json", str(numbers), "--plot", str(picture)]
    done = CliRunner(env=Home(tmp_path).environment({})).invoke(goodbot, ["bench", "tasks", *options])
    assert done.exit_code == 0, done.output
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["tree"] * 4 + ["flat"] * 4
    assert len(json.loads(numbers.read_text(encoding="utf-8"))) == 8
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
