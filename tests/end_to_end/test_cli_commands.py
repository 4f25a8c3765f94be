"""Every command of the real `goodbot` on one small memory: exit codes, tables for people, JSON for programs."""

import csv
import io
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from memory.model import Episode
from memory.ports import EpisodeFilter
from memory.rules.retrieval.config import RetrievalConfig
from tests.doubles.process import WORKSPACE, Finished, Home, begun_with, read_by

pytestmark = pytest.mark.process

TWO_PARTS = "what time is it in Tokyo and what is 15% of 80?"
UNKNOWN = "who waters the plants?"
LESSON = "Ana waters them."
_EPISODE_FIELDS = {field.name for field in fields(Episode)}
_RUN_FIELDS = {"nodes", "votes", "events", "recalls", "lessons", "links", "ledger", "incoming", "grades"}


@dataclass(frozen=True, kw_only=True)
class Memories:
    """A home after a short chat: a liked answer of two parts, a corrected one, and one that used the lesson."""

    home: Home
    liked: str
    wrong: str
    lesson: str
    reminded: str


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Memories:
    """To be read only."""
    home = Home(tmp_path_factory.mktemp("read"))
    typed = f"{TWO_PARTS}\n👍\n{UNKNOWN}\n👎\n/correct {LESSON}\n{UNKNOWN}\n"
    assert home.run("chat", given=typed).code == 0
    with home.memory() as memory:
        reminded, lesson, wrong, liked = (
            each.id for each in memory.audit.episodes(WORKSPACE, EpisodeFilter(roots_only=True))
        )
    return Memories(home=home, liked=liked, wrong=wrong, lesson=lesson, reminded=reminded)


@pytest.fixture
def mine(memories: Memories, tmp_path: Path) -> Memories:
    """To be changed."""
    return replace(memories, home=memories.home.copy(tmp_path))


@pytest.fixture(scope="module")
def looks(memories: Memories) -> Mapping[str, Finished]:
    """What every command that only looks says, also with `--json`."""
    commands = {
        "list": ("episodes", "list"),
        "show": ("episodes", "show", memories.liked),
        "why": ("episodes", "why", memories.reminded),
        "export": ("episodes", "export"),
        "query": ("query", f"{UNKNOWN} please", "--person", "you"),
        "stats": ("stats",),
        "gaps": ("gaps",),
        "doctor": ("doctor",),
        "migrate": ("migrate",),
        "check": ("rebuild", "--check"),
    }
    with_json = {f"{name} --json": (*command, "--json") for name, command in commands.items()}
    more = {
        "list nodes --json": ("episodes", "list", "--nodes", "--status", "success", "--json"),
        "list none": ("episodes", "list", "--text", "nothing like it"),
        "list filtered --json": ("episodes", "list", "--person", "you", "--text", "TOKYO", "--limit", "9", "--json"),
        "list one --json": ("episodes", "list", "--limit", "1", "--workspace", WORKSPACE, "--json"),
        "why lesson": ("episodes", "why", memories.lesson[-8:]),
        "why lesson --json": ("episodes", "why", memories.lesson[:20], "--json"),
        "query nothing": ("query", "something else entirely"),
    }
    return memories.home.run_all(commands | with_json | more)


def test_commands_that_look_succeed_silently_and_speak_json(looks: Mapping[str, Finished]) -> None:
    assert {name: (done.code, done.err) for name, done in looks.items()} == dict.fromkeys(looks, (0, ""))
    for name, done in looks.items():
        assert done.out.strip(), name
        if name.endswith("--json"):
            done.json()


def test_list_shows_one_line_for_each_answer_newest_first(looks: Mapping[str, Finished]) -> None:
    header, *rows = looks["list"].out.splitlines()
    assert header.split() == ["ID", "WHEN", "WHO", "VERDICT", "STATUS", "QUESTION", "ANSWER"]
    assert [next(part for part in (TWO_PARTS, UNKNOWN) if part in row) for row in rows] == [*[UNKNOWN] * 3, TWO_PARTS]
    assert [row.split()[4] for row in rows] == ["pending", "success", "failure", "success"]
    listed = looks["list --json"].json()
    assert [row.split()[0] for row in rows] == [each["id"][-8:] for each in listed]
    assert all(_EPISODE_FIELDS - {"verdict"} <= set(each) for each in listed)


def test_list_narrows(looks: Mapping[str, Finished]) -> None:
    assert {each["node_path"] for each in looks["list nodes --json"].json()} == {"0", "0.0", "0.1"}
    assert (
        looks["list none"].out
        == "No such episodes. If there are none at all, talk with `goodbot chat`, then look again.\n"
    )
    assert [each["goal"] for each in looks["list filtered --json"].json()] == [TWO_PARTS]
    assert len(looks["list one --json"].json()) == 1


def test_show_prints_the_tree_the_votes_and_the_history(looks: Mapping[str, Finished], memories: Memories) -> None:
    shown = looks["show"].out
    head, votes, history = (part.splitlines() for part in _split(shown, "votes\n", "history\n"))
    assert head[0].startswith("run ")
    assert head[0].endswith("in terminal:local #terminal, asked by you")
    nodes = [line.strip() for line in head if "“" in line]
    assert [line[:6].split()[:2] for line in nodes] == [["*", "0"], ["-", "0.0"], ["-", "0.1"]]
    assert f"“{TWO_PARTS}”  [{memories.liked[-8:]}]" in nodes[0]
    told = "\n".join(head)
    assert "ended expand; status expand; verdict: personal success, channel pending" in told
    assert "· expand into parallel: " in told
    assert "· act calculator(" in told
    assert "= 15% of 80 = 12" in told
    assert [line.split(",")[0] for line in votes] == ["  you (member) +1"]
    assert [line.split()[3] for line in history] == ["created"] * 3 + ["linked", "voted"] + ["graded"] * 3
    view = looks["show --json"].json()
    assert set(view) == _RUN_FIELDS
    assert [node["node_path"] for node in view["nodes"]] == ["0", "0.0", "0.1"]
    assert [vote["value"] for vote in view["votes"]] == [1]
    assert all(node["trajectory"] for node in view["nodes"])


def _split(text: str, *marks: str) -> list[str]:
    parts = []
    for mark in marks:
        part, _, text = text.partition(mark)
        parts.append(part)
    return [*parts, text]


def test_why_names_the_lessons_and_where_a_lesson_was_shown(looks: Mapping[str, Finished], memories: Memories) -> None:
    assert f"REPEAT “{UNKNOWN}” by you" in looks["why"].out
    assert f"approved for “{UNKNOWN}”" in looks["why"].out
    assert memories.lesson in looks["why --json"].json()["lessons"]
    (recall,) = looks["why --json"].json()["recalls"]
    assert recall["retrieval"]["evidence"]["beliefs"][0]["weights"][0]["episode_id"] == memories.lesson
    assert "shown as a lesson" in looks["why lesson"].out
    assert "used" in looks["why lesson"].out.rpartition("shown as a lesson")[2]
    explained = looks["why lesson --json"].json()
    assert set(explained) == {"recalls", "lessons", "votes", "exemplar"}
    assert len(explained["exemplar"]["uses"]) == 1


def test_export_holds_every_node(looks: Mapping[str, Finished], memories: Memories) -> None:
    whole = looks["export"].json()
    assert whole == looks["export --json"].json()
    assert {each["id"] for each in whole} >= {memories.liked, memories.wrong, memories.lesson, memories.reminded}
    assert len(whole) == 6
    assert all(each["trajectory"] for each in whole if each["origin"] == "run")


def test_query_finds_the_lesson_and_counts_the_stages(looks: Mapping[str, Finished], memories: Memories) -> None:
    assert f"→ {LESSON}" in looks["query"].out
    found = looks["query --json"].json()
    assert set(found) == {"retrieval_id", "goal", "exemplars", "counts", "rules", "evidence"}
    assert found["exemplars"][0]["episode"]["id"] == memories.lesson
    assert found["counts"]["selected"] >= 1
    assert f"speaks for “{LESSON}” (belief 0." in looks["query"].out
    [best, *_] = found["evidence"]["beliefs"]
    assert best["weights"][0]["episode_id"] == memories.lesson
    assert "Nothing is near enough" in looks["query nothing"].out


def test_stats_doctor_migrate_and_check(looks: Mapping[str, Finished], memories: Memories) -> None:
    counts = looks["stats --json"].json()[WORKSPACE]
    assert (counts["episodes"], counts["answers"], counts["origin.correction"]) == (6, 3, 1)
    assert (counts["decisions"]["questions"], counts["decisions"]["budget"]) == (3, 0.05)
    assert looks["stats"].out.startswith(f"{WORKSPACE}\n  answered ")
    findings = looks["doctor --json"].json()
    assert [finding["code"] for finding in findings] == [
        *(f"GB00{number}" for number in range(1, 9)), "GB010", "GB011", "GB012", "GB020", "GB030",
    ]  # fmt: skip
    assert all(set(finding) == {"code", "what", "ok", "remedy"} and finding["ok"] for finding in findings)
    assert [line.split()[:2] for line in looks["doctor"].out.splitlines()] == [
        [finding["code"], "ok"] for finding in findings
    ]
    assert looks["migrate --json"].json() == {"database": str(memories.home.database), "up_to_date": True}
    assert looks["check --json"].json() == {"differences": [], "repaired": 0}


def test_what_cannot_be_found_is_told(memories: Memories) -> None:
    common = memories.liked[:6]
    done = memories.home.run_all(
        {
            "unknown": ("episodes", "show", "ffffffffffff"),
            "short": ("episodes", "grade", "ab", "success"),
            "ambiguous": ("episodes", "why", common, "--json"),
            "verdict": ("episodes", "grade", memories.liked, "excellent"),
            "status": ("episodes", "list", "--status", "odd"),
            "command": ("episode", "list"),
            "nobody": ("forget", "--person", "zed", "--yes", "--json"),
            "no text": ("episodes", "correct", memories.liked, " "),
        }
    )
    codes = {name: each.code for name, each in done.items()}
    assert codes == {
        "unknown": 1, "short": 1, "ambiguous": 1, "verdict": 2, "status": 2, "command": 2, "nobody": 0, "no text": 1,
    }  # fmt: skip
    assert "no episode with an id like 'ffffffffffff'; `goodbot episodes list`" in done["unknown"].err
    assert "too short for an id" in done["short"].err
    assert "several ids; give more of it" in done["ambiguous"].err
    assert "'excellent' is not one of 'success', 'failure', 'pending'" in done["verdict"].err
    assert "'odd' is not one of" in done["status"].err
    assert "No such command 'episode'. Did you mean 'episodes'?" in done["command"].err
    assert done["nobody"].json() == {"episodes": 0, "derived": 0, "messages": 0, "reactions": 0, "kept": 0}
    assert "a correction needs a text" in done["no text"].err
    assert all(each.out == "" for name, each in done.items() if name != "nobody")
    assert not any("Traceback" in each.err for each in done.values())


def _act(home: Home, *words: str) -> dict[str, Any]:
    done = home.run(*words, "--json")
    assert (done.code, done.err) == (0, ""), done
    episode = done.json()
    assert isinstance(episode, dict)
    return episode


def test_commands_that_teach_change_what_is_recalled(mine: Memories) -> None:
    home = mine.home

    def recalled() -> set[str]:
        with home.memory() as memory:
            with memory.store.read() as tx:
                (asked,) = tx.deliveries.messages_of(WORKSPACE, "terminal", "you", 1)
            found = memory.recalling.recall(asked.scope, UNKNOWN, config=RetrievalConfig(env_threshold=0.0))
        return {exemplar.episode.id for exemplar in found.exemplars}

    assert recalled() == {mine.lesson, mine.wrong}
    assert _act(home, "episodes", "archive", mine.lesson[:20])["archived_at"]
    assert mine.lesson not in recalled()
    assert home.run("episodes", "restore", mine.lesson[-8:]).out.startswith(f"{mine.lesson}: restored; verdict success")
    assert mine.lesson in recalled()
    assert _act(home, "episodes", "grade", mine.liked, "failure", "--reason", "stale")["outcome_reason"] == "stale"
    assert _act(home, "episodes", "grade", mine.liked, "pending")["verdicts"]["personal"] == "success"
    assert _act(home, "episodes", "promote", mine.lesson, "workspace")["promoted"] == "workspace"
    corrected = _act(home, "episodes", "correct", mine.liked, "It is late.")
    assert (corrected["output"], corrected["origin"]) == ("It is late.", "correction")
    with home.memory() as memory:
        assert memory.audit.check() == []


def test_rebuild_finds_and_mends_what_the_log_does_not_say(mine: Memories) -> None:
    with closing(sqlite3.connect(mine.home.database)) as connection:
        connection.execute("UPDATE episodes SET strength = 0.123 WHERE id = ?", (mine.lesson,))
        connection.commit()
    told = mine.home.run("rebuild", "--check")
    assert told.code == 1
    assert told.out.startswith(f"{WORKSPACE} {mine.lesson} strength: stored 0.123, the log says 0.")
    doctor = mine.home.run("doctor")
    assert doctor.code == 1
    assert "GB003 FAIL 1 stored values are not what the event log says" in doctor.out
    assert "→ run `goodbot rebuild`" in doctor.out
    mended = mine.home.run("rebuild", "--json").json()
    assert mended["repaired"] == 1
    assert set(mended["differences"][0]) == {"workspace", "episode_id", "what", "stored", "expected"}
    assert mine.home.run("rebuild", "--check").code == 0


def test_forget_asks_first_and_leaves_nothing(mine: Memories) -> None:
    asked = mine.home.run("forget", "--person", "you")
    assert asked.code == 130
    assert "Erase 3 messages, 6 remembered answers, " in asked.out
    assert len(mine.home.run("episodes", "list", "--json").json()) == 4
    erased = mine.home.run("forget", "--person", "you", "--yes", "--json").json()
    assert (erased["messages"], erased["episodes"]) == (3, 6)
    assert mine.home.run("episodes", "list", "--json").json() == []
    assert LESSON.encode() not in b"".join(path.read_bytes() for path in mine.home.folder.glob("goodbot.db*"))


def test_purge_counts_asks_and_leaves_no_lesson_but_every_word(mine: Memories) -> None:
    home = mine.home
    counted = home.run("purge", "--person", "you", "--dry-run")
    told = "Taught by you in terminal:local: 2 votes, 1 correction; and 1 other lesson that rested on it "
    assert (counted.code, counted.out.startswith(told)) == (0, True)
    asked = home.run("purge", "--taught-by", "you")
    assert (asked.code, "Take all of it back?" in asked.out) == (130, True)
    assert home.run("purge", "--taught-by", "you", "--dry-run").out == counted.out
    purged = home.run("purge", "--taught-by", "you", "--yes", "--json").json()
    assert (purged["votes"], purged["corrections"], purged["unlearned"]) == (2, 1, 1)
    assert home.run("rebuild", "--check").code == 0
    assert home.run("purge", "--taught-by", "you", "--yes").out == (
        "Nothing that you in terminal:local taught still counts.\n"
    )
    shown = home.run("episodes", "show", mine.lesson)
    assert LESSON in shown.out
    assert "purge=" in shown.out
    with home.memory() as memory:
        stats = memory.audit.statistics(WORKSPACE)[0]
    assert (stats.get("verdict.success", 0), stats.get("verdict.failure", 0), stats["archived"]) == (0, 0, 1)


def test_export_writes_files_that_other_programs_read(memories: Memories, tmp_path: Path) -> None:
    table, lessons, nowhere = tmp_path / "all.csv", tmp_path / "lessons.txt", tmp_path / "none" / "all.csv"
    done = memories.home.run_all(
        {
            "csv": ("episodes", "export", "--format", "csv", "--output", str(table)),
            "prompt": ("episodes", "export", "--format", "prompt", "--output", str(lessons)),
            "nowhere": ("episodes", "export", "--output", str(nowhere)),
            "screen": ("episodes", "export", "--format", "csv"),
        }
    )
    assert {name: each.code for name, each in done.items()} == {"csv": 0, "prompt": 0, "nowhere": 1, "screen": 0}
    assert done["csv"].out == f"6 episodes written to {table}\n"
    content = table.read_bytes().decode()
    assert "\r\r\n" not in content
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert {row["goal"] for row in rows} >= {TWO_PARTS, UNKNOWN}
    assert done["screen"].out.replace("\r\n", "\n").strip() == content.replace("\r\n", "\n").strip()
    assert f"REPEAT: [#terminal] answer: '{UNKNOWN}'" in lessons.read_text(encoding="utf-8")
    assert done["nowhere"].err.startswith(f"goodbot: cannot write {nowhere}: ")


def test_a_gap_is_a_question_nobody_could_answer_until_its_answer_is_taught(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("chat", given=f"{UNKNOWN}\n{UNKNOWN}\n")
    (gap,) = home.run("gaps", "--json").json()[WORKSPACE]
    assert (gap["question"], gap["asked"], gap["like"]) == (UNKNOWN, 2, [UNKNOWN])
    assert f"2  [{gap['id'][-8:]}]  “{UNKNOWN}”" in home.run("gaps").out
    home.run("chat", given=f"{UNKNOWN}\n👎\n/correct {LESSON}\n")
    assert home.run("gaps").out == "Every question was answered, as far as is known.\n"


def test_help_and_version_are_there_for_every_command(memories: Memories) -> None:
    groups = {"all": ("--help",), "episodes": ("episodes", "--help"), "version": ("--version",), "none": ()}
    done = memories.home.run_all(groups)
    assert {name: each.code for name, each in done.items()} == {"all": 0, "episodes": 0, "version": 0, "none": 2}
    for word in ("chat", "doctor", "episodes", "forget", "gaps", "migrate", "purge", "query", "rebuild", "stats"):
        assert f"\n  {word} " in done["all"].out
    for word in ("list", "show", "why", "grade", "correct", "archive", "restore", "export"):
        assert f"\n  {word} " in done["episodes"].out
    assert done["version"].out.startswith("goodbot")


def test_json_is_whole_in_a_terminal_that_knows_no_emoji(memories: Memories) -> None:
    ascii_only = begun_with("sys.stdout.reconfigure(encoding='ascii')")
    done = memories.home.run("episodes", "show", memories.wrong, "--json", program=ascii_only)
    assert (done.code, done.err) == (0, "")
    sources = {vote["source"] for vote in json.loads(done.out)["votes"]}
    assert any(source.startswith(("emoji:👎", "correction:")) for source in sources)
    table = memories.home.run("episodes", "show", memories.wrong, program=ascii_only)
    assert (table.code, table.err) == (0, "")


def test_a_reader_that_leaves_early_hears_no_complaint(memories: Memories) -> None:
    commands = {
        "table": ("episodes", "list"),
        "json": ("episodes", "export"),
        "tree": ("episodes", "show", memories.liked),
    }
    done = memories.home.run_all(commands, program=read_by("head", "-n", "1"))
    assert {name: (each.code, each.err) for name, each in done.items()} == dict.fromkeys(commands, (0, ""))
    assert all(len(each.out.splitlines()) == 1 for each in done.values())
