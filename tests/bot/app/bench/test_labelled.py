"""Reading a labelled set: what is right comes out, what is broken is named with its row and a remedy."""

import re
from pathlib import Path

import pytest

from bot.app.bench.labelled import read_split
from memory.errors import InvalidInput
from tests.bot.app.bench.sets import ROWS, messages, write


def test_labels_become_tools_words_and_texts_that_are_told_apart(tmp_path: Path) -> None:
    labels = {message.label.label: message.label for message in messages(tmp_path)}
    assert [(label.tool, label.words) for label in labels.values()] == [
        ("lamp_on", "lamp on"),
        ("oven_heat", "oven heat"),
        ("music", "music"),
    ]
    assert len({label.text for label in labels.values()}) == 3


def test_names_that_tools_cannot_have_are_changed(tmp_path: Path) -> None:
    found = messages(tmp_path, [["a", "fail"], ["b", "reverted payment?"], ["c", "???"]])
    assert [message.label.tool for message in found] == ["fail_label", "reverted_payment", "label_1"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([ROWS], "holds a list; give an object"),
        ({"train": ROWS}, "has no list 'test'; it has train"),
        ({"test": []}, "'test' is empty; give rows"),
        ({"test": [ROWS[0], "a text"]}, "row 2 of 'test' is a text; make it a pair"),
        ({"test": [ROWS[0], ["a", "b", "c"]]}, "row 2 of 'test' is a list of 3; make it a pair"),
        ({"test": [ROWS[0], ROWS[2], ["a", None]]}, "row 3 of 'test': the label is null; make it a text"),
        ({"test": [["  ", "music"]]}, "row 1 of 'test': the message is empty; fill it in"),
        ({"test": ROWS[:2]}, "every message has the label 'lamp_on'; give at least two"),
        ({"test": [["a", "x y"], ["b", "x_y"]]}, "'x y' and 'x_y' would both be the tool 'x_y'; rename one"),
    ],
)
def test_what_is_broken_is_named_with_a_remedy(tmp_path: Path, content: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        read_split(write(tmp_path, content), "test")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"test": [\n  ["a", "b"]\n  ["c", "d"]]}', "is no JSON: .* in line 3, column 3; mend it"),
        (b'{"test": "\xff"}', "is no UTF-8 text; save it"),
        (b"[" * 100_000, "is nested too deeply|is no JSON"),
    ],
)
def test_what_is_no_json_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "set.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_split(path, "test")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read .*: No such file"):
        read_split(tmp_path / "none.json", "test")
