"""`goodbot learn` and what follows: a dry run, the batch, its review, and taking it back."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.process import Home

pytestmark = pytest.mark.process

FAQ = 'question;answer\n"Where is the van key?";In the blue box\n;nobody asked\nWho waters?;Ana\nwho WATERS?;ana\n'

DIES_IN_THE_MIDDLE = """
import os, signal
from bot.cli.root import main
from memory.services.batches.intake import Intake
take, calls = Intake.take, []
def dying(self, proposals):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return take(self, proposals)
Intake.take = dying
main()
"""
"""The program, killed when two parts of the file are taken in."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "faq.csv").write_bytes(b"\xef\xbb\xbf" + FAQ.encode())
    return Home(tmp_path)


def batches(home: Home) -> Any:
    return home.run("review", "list", "--json").json()


def test_from_a_file_to_answers_and_back(home: Home) -> None:
    dry = home.run("learn", "faq.csv", "--dry-run")
    assert dry.code == 0
    assert "2  would wait for review" in dry.out
    assert "line 3: it has no question" in dry.out
    assert "In the blue box" in dry.out
    assert batches(home) == []

    done = home.run("learn", "faq.csv", "--json").json()
    assert done["counts"] == {"added": 2, "joined": 1}
    known = done["batch"][-8:]
    assert home.run("learn", "faq.csv", "--json").json()["counts"] == {"known": 3}
    assert home.run("query", "where is the van key?", "--json").json()["exemplars"] == []

    shown = home.run("review", "show", known)
    assert "Where is the van key?" in shown.out
    first = home.run("review", "show", known, "--json").json()[0]["lesson"]["id"]
    assert home.run("review", "approve", known, first[-8:]).out == "1 lesson approved.\n"
    second = home.run("review", "show", known, "--json").json()[0]["lesson"]["id"]
    assert home.run("review", "edit", second[-8:], "Ben does.").code == 0
    (view,) = batches(home)
    assert (view["waiting"], view["approved"], view["rejected"]) == (0, 2, 0)
    typed = home.run("chat", given="where is the van key?\nwho waters?\n")
    assert "In the blue box" in typed.out
    assert "Ben does." in typed.out

    planned = home.run("purge", "--batch", known, "--dry-run", "--json").json()
    assert planned["lessons"] == 2
    assert home.run("purge", "--batch", known, "--yes", "--json").json() == planned
    assert batches(home) == []
    assert "In the blue box" not in home.run("chat", given="where is the van key?\n").out
    assert home.run("learn", "faq.csv", "--json").json()["counts"] == {"added": 2, "joined": 1}
    assert home.run("rebuild", "--check").code == 0


def test_all_of_a_batch_is_rejected_at_once(home: Home) -> None:
    known = home.run("learn", "faq.csv", "--json").json()["batch"][-8:]
    rejected = home.run("review", "reject", known, FORCE_COLOR="1")
    assert rejected.out == "2 lessons rejected.\n"
    assert "rejecting" in rejected.err
    assert home.run("learn", "faq.csv", "--json").json()["counts"] == {"known": 3}


def test_what_is_killed_goes_on_with_the_same_command(home: Home, tmp_path: Path) -> None:
    many = [{"question": f"what is thing number {n}?", "answer": f"answer {n}"} for n in range(3000)]
    (tmp_path / "many.jsonl").write_text("\n".join(map(json.dumps, many)), encoding="utf-8")
    killed = home.run("learn", "many.jsonl", program=(sys.executable, "-c", DIES_IN_THE_MIDDLE))
    assert killed.code == -signal.SIGKILL
    again = home.run("learn", "many.jsonl", "--json").json()
    assert again["counts"] == {"known": 500, "added": 2500}
    (view,) = batches(home)
    assert view["waiting"] == 3000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("faq.txt", b"what?", "cannot tell what"),
        ("faq.csv", "Übung,1".encode("cp1252"), "--encoding cp1252"),
        ("faq.csv", b"when,what,who\n", "columns question and answer"),
        ("export.zip", b"PK no zip", "no zip archive"),
    ],
)
def test_what_cannot_be_read_is_one_readable_line(
    home: Home, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    refused = home.run("learn", name)
    assert refused.code == 1
    assert said in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "sought"),
    [
        ("notes.md", "Just prose.", "headings with text below"),
        ("faq.csv", "question,answer", "rows with a question and an answer"),
        ("faq.jsonl", '{"what": "Who waters?"}', "objects with `question` and `answer`"),
        ("faq.json", "[]", "objects with `question` and `answer`"),
    ],
)
def test_where_nothing_is_found_it_says_what_was_looked_for(
    home: Home, tmp_path: Path, name: str, content: str, sought: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    for dry_run in ([], ["--dry-run"]):
        found = home.run("learn", name, *dry_run)
        assert f"Nothing was learned. Looked for: {sought}" in found.out


def test_one_of_two_things_is_purged(home: Home) -> None:
    assert home.run("purge").code == 2
    assert home.run("purge", "--batch", "abcdef12", "--taught-by", "ana").code == 2
    assert home.run("purge", "--batch", "abcdef12", "--yes").code == 1
