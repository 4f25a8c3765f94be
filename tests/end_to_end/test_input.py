"""What people type wrong: each line is answered clearly, and nothing of what was right is lost."""

from pathlib import Path

import pytest

from memory.ports import EpisodeFilter
from tests.doubles.process import WORKSPACE, Home

pytestmark = pytest.mark.process

_LIMIT = "32,000 characters"
LONGEST = "z" * 31_999 + "?"

WRONG: dict[str, tuple[bytes, str]] = {
    "unknown emoji": ("🦄".encode(), "-- 🦄 on [1]; it teaches nothing, 👍 and 👎 do"),
    "out of range": ("/react 👍 7".encode(), "-- there is no answer [7]; the only answer here is [1]"),
    "zero": (b"/why 0", "-- there is no answer [0]"),
    "not a number": ("/react 👍 two".encode(), "-- type /react EMOJI or /react EMOJI n"),
    "nothing to take back": ("/unreact 👎".encode(), "by you on [1], so nothing to take back"),
    "unknown command": (b"/frobnicate", "-- there is no command /frobnicate, so nothing was sent"),
    "misspelt command": (b"/memry", "Did you mean /memory?"),
    "empty correction": (b"/correct   ", "-- type what would have been right after /correct"),
    "long correction": (b"/correct " + b"y" * 8001, "8000 are taken"),
    "a megabyte": (b"x" * 1_000_000, f"-- line {{line}} has 1,000,000 bytes, more than the {_LIMIT}"),
    "too long": (b"y" * 32_001, "-- the message has 32,001 characters, more than the 32,000 that"),
    "not UTF-8": ("café".encode("latin-1"), "-- line {line} is not UTF-8 text"),
    "half a character": (b"\xed\xa0\xbd", "-- line {line} is not UTF-8 text"),
    "binary": (bytes(byte for byte in range(128) if byte != 10), "looks like binary data"),
    "nameless": (b"/as " + b"n" * 41, "-- a name has 1 to 40 printable characters"),
    "strange export": (b"/export lessons.exe", "-- an export's file name ends in"),
    "export nowhere": (b"/export missing/lessons.json", "give another place with /export FILE"),
}


def test_every_wrong_line_is_named_and_the_right_ones_around_it_are_answered(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lines = [b"what is 2 + 2?", *(line for line, _ in WRONG.values()), LONGEST.encode(), b"what is 3 + 4?"]
    done = home.run("chat", given=b"\n".join(lines))
    assert (done.code, done.err) == (0, "")
    said = done.out.splitlines()
    missing = [
        name
        for number, (name, (_, told)) in enumerate(WRONG.items(), start=2)
        if not any(told.format(line=number) in line for line in said)
    ]
    assert missing == []
    assert "[1] 2 + 2 = 4" in said
    assert said[-1] == "[3] 3 + 4 = 7"
    with home.memory() as memory:
        asked = memory.audit.episodes(WORKSPACE, EpisodeFilter(roots_only=True, newest_first=False))
        assert [episode.goal for episode in asked] == ["what is 2 + 2?", LONGEST, "what is 3 + 4?"]
        assert [memory.audit.run(WORKSPACE, episode.run_id).votes for episode in asked] == [(), (), ()]
    assert home.run("rebuild", "--check").code == 0


def test_an_input_without_a_word_is_no_question(tmp_path: Path) -> None:
    home = Home(tmp_path)
    done = home.run("chat", given="\ufeff\n \n\t\n\r\n\n")
    assert (done.code, done.out, done.err) == (0, f"-- Goodbot (offline model). Memory: {home.database}\n", "")


def test_a_reaction_needs_an_answer(tmp_path: Path) -> None:
    done = Home(tmp_path).run("chat", given="👍\n/why\n/correct x\n/undo\n/forget\n/export\n")
    assert (done.code, done.err) == (0, "")
    replies = done.out.split("you: ")[1:]
    assert "there is no answer on this screen yet" in replies[0]
    assert all(reply.count("\n") >= 2 for reply in replies), done.out


def test_an_empty_goal_is_refused_at_the_command_line(tmp_path: Path) -> None:
    done = Home(tmp_path).run("query", "   ")
    assert done.code == 1
    assert done.err.startswith("goodbot: ")
    assert "Traceback" not in done.err
