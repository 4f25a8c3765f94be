"""Several processes on one database file: each sees what the others wrote, and nothing is lost or locked."""

import json
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import cycle, islice
from pathlib import Path

import pytest

from memory.model import EventKind, Incoming, Origin, Progress, Scope
from memory.ports import EpisodeFilter
from memory.services import Memory
from tests.doubles.process import WORKSPACE, Chat, Finished, Home

pytestmark = pytest.mark.process

_EVERY = EpisodeFilter(roots_only=True, include_archived=True, limit=None)


def assert_whole(home: Home) -> None:
    """What must hold whatever happened."""
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert home.run("rebuild", "--check").code == 0
    log = home.log.read_text(encoding="utf-8")
    assert "locked" not in log
    assert "Traceback" not in log


def test_the_next_question_sees_what_another_process_graded(tmp_path: Path) -> None:
    home = Home(tmp_path)
    question, lesson = "who waters the plants in the office?", "Ana waters them on Mondays."
    with home.chat() as chat:
        chat.ask(question, "I don't know that.")
        chat.ask(f"/correct {lesson}", "Saved as")
        listed = home.run("episodes", "list", "--json").json()
        lesson_id, mistake_id = (
            next(each["id"] for each in listed if each["origin"] == origin) for origin in ("correction", "run")
        )
        # Without the mistake, whose link would bring its correction back into sight.
        assert home.run("episodes", "archive", mistake_id).code == 0
        for verdict in ("failure", "success", "pending", "success"):
            graded = home.run("episodes", "grade", lesson_id, verdict)
            assert (graded.code, graded.err) == (0, "")
            reply = chat.ask("who waters the office plants?", "] ")
            assert (lesson in reply) == (verdict in ("success", "pending")), (verdict, chat.told())
        done = chat.end()
    assert (done.code, done.err) == (0, "")
    with home.memory() as memory:
        (root,) = [each for each in memory.audit.episodes(WORKSPACE, _EVERY) if each.id == lesson_id]
        events = memory.audit.run(WORKSPACE, root.run_id).events
    assert sum(event.kind in (EventKind.VOTED, EventKind.UNVOTED) for event in events) == 5
    assert_whole(home)


def test_two_chats_and_two_administrators_write_at_the_same_time(tmp_path: Path) -> None:
    home = Home(tmp_path)
    rounds = 10
    with home.chat() as first:
        first.ask("what is 1 + 1?", "1 + 1 = 2")
        (seed,) = home.run("episodes", "list", "--json").json()
        with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
            second = stack.enter_context(home.chat())
            talks = [pool.submit(_talk, chat, start, rounds) for chat, start in ((first, 1000), (second, 2000))]
            grades = list(pool.map(lambda verdict: _grade(home, seed["id"], verdict), _alternating(4)))
            for talk in talks:
                talk.result()
            ended = [first.end(), second.end()]
    assert [(done.code, done.err) for done in (*ended, *grades)] == [(0, "")] * (2 + len(grades))
    expected = {f"what is {start + number} + 1?" for start in (1000, 2000) for number in range(rounds)}
    with home.memory() as memory:
        asked = [each for each in memory.audit.episodes(WORKSPACE, _EVERY) if each.origin is Origin.RUN]
        assert Counter(each.goal for each in asked) == Counter(expected | {"what is 1 + 1?"})
        views = {each.goal: memory.audit.run(WORKSPACE, each.run_id) for each in asked}
        assert {view.incoming.progress for view in views.values() if view.incoming} == {Progress.DELIVERED}
        for goal in expected:
            assert [vote.source for vote in views[goal].votes] == ["emoji:👍"]
            assert len(views[goal].ledger) == 1
        graded = [event for event in views["what is 1 + 1?"].events if event.detail.get("source") == "grade"]
        assert len(graded) == len(grades)
    assert_whole(home)


def _talk(chat: Chat, start: int, rounds: int) -> None:
    for number in range(rounds):
        chat.ask(f"what is {start + number} + 1?", f"{start + number} + 1 = {start + number + 1}")
        chat.ask("👍", "became a lesson")


def _alternating(count: int) -> list[str]:
    return list(islice(cycle(["success", "failure"]), count))


def _grade(home: Home, episode_id: str, verdict: str) -> Finished:
    return home.run("episodes", "grade", episode_id, verdict, "--json")


def test_processes_that_open_a_fresh_database_at_once_all_succeed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    commands = {"chat": ("chat",), "migrate": ("migrate",), "list": ("episodes", "list", "--json"), "stats": ("stats",)}
    with ThreadPoolExecutor(len(commands)) as pool:
        done = list(pool.map(lambda command: home.run(*command, given="what is 2 + 2?"), commands.values()))
    assert [(each.code, each.err) for each in done] == [(0, "")] * len(commands)
    assert "2 + 2 = 4" in done[0].out
    (episode,) = json.loads(home.run("episodes", "list", "--json").out)
    assert episode["goal"] == "what is 2 + 2?"
    assert_whole(home)


def test_a_second_chat_leaves_the_first_ones_messages_alone(tmp_path: Path) -> None:
    """Only the chat that is alone on a database finishes what a killed one left."""
    home = Home(tmp_path)
    with home.chat() as first:
        first.ask("what is 1 + 1?", "1 + 1 = 2")
        with home.memory() as memory:
            unanswered = _accept(memory, "what is 5 + 5?")
        second = home.run("chat", given="what is 2 + 2?")
        assert "5 + 5" not in second.out
        assert first.end().code == 0
    with home.memory() as memory:
        assert [each.incoming.event_id for each in memory.recording.unfinished()] == [unanswered]
    assert "[1] 5 + 5 = 10" in home.run("chat").out


def _accept(memory: Memory, question: str) -> str:
    """A message as another process accepts it."""
    event_id = memory.new_id()
    scope = Scope(workspace=WORKSPACE, channel="terminal", person="you", place="#terminal")
    accepted = memory.recording.accept(
        Incoming(scope=scope, event_id=event_id, message_id=memory.new_id(), text=question, at=memory.clock())
    )
    assert accepted
    return event_id
