"""The whole loop in the real process, fed through a pipe: ask, react, correct, be reminded, undo, forget."""

import re
from pathlib import Path

import pytest

from memory.model import Termination, Verdict
from memory.ports import EpisodeFilter
from tests.doubles.process import WORKSPACE, Finished, Home

pytestmark = pytest.mark.process

QUESTION = "who waters the plants in the office?"
PARAPHRASE = "who waters the office plants?"
LESSON = "Ana waters them on Mondays."
TWO_PARTS = "what time is it in Tokyo and what is 15% of 80?"
UNKNOWN = "I don't know that."
TYPED = f"""\
{QUESTION}
👎
/correct {LESSON}
{PARAPHRASE}
/why
/undo
/undo
{PARAPHRASE}
{TWO_PARTS}
👍
/memory
/quit
"""

_NOISE = re.compile(r"\x1b|\r|Traceback|[Ww]arning|it/s|%\|")
"""Colours and cursor movements, tracebacks, warnings, progress bars."""


def conversation(transcript: str) -> list[tuple[str, str]]:
    """What was typed, each with all that was said until the next line."""
    parts = re.split(r"^you: (.*)\n", transcript, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def assert_taught_and_forgotten(done: Finished, home: Home) -> None:
    """What must be seen, whatever the embedder."""
    assert (done.code, done.err) == (0, "")
    assert not _NOISE.search(done.out), done.out
    greeting, *_ = done.out.splitlines()
    assert str(home.database) in greeting
    replies = conversation(done.out)
    assert [typed for typed, _ in replies] == TYPED.splitlines()[: len(replies)]
    asked, disliked, corrected, paraphrased, why, undone, undone_too, asked_again, two_parts, liked, memory = (
        reply for _, reply in replies
    )
    assert UNKNOWN in asked
    assert "👎 on [1]" in disliked
    assert "/correct" in disliked
    assert "/undo" in corrected
    assert paraphrased.startswith(f"[2] {LESSON}\n    used lesson: “{QUESTION}”")
    assert f"REPEAT “{QUESTION}”" in why
    assert "used" in why
    assert QUESTION in undone
    assert QUESTION in undone_too
    assert UNKNOWN in asked_again
    assert LESSON not in asked_again
    assert "used lesson" not in asked_again
    assert "Tokyo" in two_parts
    assert "12" in two_parts
    assert "🧠" in liked
    assert TWO_PARTS in memory
    assert LESSON not in memory


def test_the_loop_as_a_newcomer_types_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert_taught_and_forgotten(home.run("chat", given=TYPED), home)
    listed = home.run("episodes", "list", "--verdict", "success")
    assert (listed.code, listed.err) == (0, "")
    _, row = listed.out.splitlines()
    assert TWO_PARTS in row
    assert "success" in row
    with home.memory() as memory:
        (lesson,) = memory.audit.episodes(WORKSPACE, EpisodeFilter(verdict=Verdict.SUCCESS, roots_only=True))
        nodes = memory.audit.run(WORKSPACE, lesson.run_id).nodes
        assert memory.audit.check() == []
    assert [node.node_path for node in nodes] == ["0", "0.0", "0.1"]
    assert [node.termination for node in nodes] == [Termination.EXPAND, Termination.SUCCESS, Termination.SUCCESS]
    assert all(node.verdicts.personal is Verdict.SUCCESS for node in nodes)
    assert not home.log.read_text(encoding="utf-8")


@pytest.mark.model
def test_the_loop_with_the_embedder_that_is_installed_with_it(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_EMBEDDER_NAME="packaged")
    assert_taught_and_forgotten(home.run("chat", given=TYPED), home)


def test_lessons_outlive_the_process_and_reach_others_only_from_a_teacher(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = home.run("chat", given=f"{QUESTION}\n/correct {LESSON}\n/as ben\n{PARAPHRASE}\n")
    assert "Did you mean this?" in first.out.rpartition(f"ben: {PARAPHRASE}")[2]  # it is ana's, so a proposal
    second = home.run("chat", "--teacher", given=f"{PARAPHRASE}\n/correct Ana and Ben.\n/as ben\n{PARAPHRASE}\n")
    assert f"[1] {LESSON}\n    used lesson:" in second.out
    assert "] Ana and Ben.\n    used lesson:" in second.out.rpartition(f"ben: {PARAPHRASE}")[2]


def test_what_a_person_forgot_is_gone_and_what_they_exported_is_whole(tmp_path: Path) -> None:
    home = Home(tmp_path)
    typed = f"{QUESTION}\n/correct {LESSON}\n/export mine.json\n/forget\n/forget yes\n{PARAPHRASE}\n/quit\n"
    done = home.run("chat", given=typed)
    assert (done.code, done.err) == (0, "")
    assert UNKNOWN in done.out.rpartition(PARAPHRASE)[2]
    assert LESSON in (tmp_path / "mine.json").read_text(encoding="utf-8")
    left = b"".join(path.read_bytes() for path in tmp_path.glob("goodbot.db*"))
    assert LESSON.encode() not in left
    assert home.run("rebuild", "--check").code == 0
