"""`kill -9` at random moments: whatever the screen confirmed is in the database, once, and the next start finishes."""

import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memory.model import Event, EventKind, Incoming, Origin, Progress
from memory.ports import EpisodeFilter
from memory.services import Memory, RunView
from tests.doubles.process import WORKSPACE, Chat, Home

pytestmark = pytest.mark.process

_KILLS, _SEEDS = 13, (1, 2)
_EVERY = EpisodeFilter(roots_only=True, include_archived=True, limit=None)
_SUM = re.compile(r"\[(\d+)\] (\d+ \+ \d+) = \d+$")
_FOLLOWS = ("you: ", "-- 🧠", "Saved as", "Noted")
_ANSWERED = re.compile(r"\[(\d+)\] ")
_THUMBS = ("👍", "👎")
_REACTED = re.compile(r"-- (👍|👎) (on|is already on|taken off) \[(\d+)\]$")


@dataclass
class Life:
    """One process from its start to its end, as the screen told it."""

    screen: list[str]

    def is_done(self, typed: str) -> bool:
        """Whether what was typed was taken in: a further line was read, or something was said that follows from it."""
        start = next((number for number, line in enumerate(self.screen) if line == f"you: {typed}"), len(self.screen))
        return any(line.startswith(_FOLLOWS) for line in self.screen[start + 1 :])

    def answers(self) -> dict[str, str]:
        """The sum behind each answer's number."""
        found = (_SUM.match(line) for line in self.screen)
        return {match[1]: match[2] for match in found if match}

    def reactions(self) -> Iterator[tuple[str, str, bool, bool]]:
        """(sum, emoji, whether put on, whether it was surely taken in) in order.

        The screen confirms a reaction once it is stored: the last one may have been stored without a word.
        """
        answers, standing = self.answers(), dict[str, list[str]]()
        last, typed, about, is_sure = "", "", "", False
        for line in self.screen:
            if answered := _ANSWERED.match(line):
                last = answered[1]
            elif line.startswith("you: "):
                typed, about, is_sure = line.removeprefix("you: "), last, False
            elif match := _REACTED.match(line):
                emoji, how, number = match.groups()
                _react_on(standing.setdefault(number, []), emoji, how)
                typed = ""
                if number in answers:
                    yield answers[number], emoji, how != "taken off", True
            is_sure = is_sure or line.startswith(_FOLLOWS[1:])
        emoji = (standing.get(about) or [""])[-1] if typed == "/unreact" else typed
        if emoji in _THUMBS and about in answers:
            yield answers[about], emoji, typed != "/unreact", is_sure


def _react_on(standing: list[str], emoji: str, how: str) -> None:
    """Keep the emoji of one answer as the chat does."""
    if how == "on":
        standing.append(emoji)
    elif how == "taken off":
        standing.remove(emoji)


@dataclass
class Person:
    """Types at random and kills the process at random; every question is asked once."""

    home: Home
    chance: random.Random
    lives: list[Life] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    taught: list[str] = field(default_factory=list)

    def live(self) -> None:
        """Start the chat, do a few things, and kill it."""
        with self.home.chat() as chat:
            if self.chance.random() < 0.15:
                self._hesitate(1.5)  # killed while it starts
            else:
                chat.wait_for("-- Goodbot")
                for _ in range(self.chance.randrange(4)):
                    self._act(chat, waits=True)
                self._act(chat, waits=False)
                self._hesitate(0.05)
            self.lives.append(Life(chat.kill()))

    def finish(self) -> None:
        """Start it once more with nothing to say."""
        done = self.home.run("chat")
        assert (done.code, done.err) == (0, "")
        self.lives.append(Life(done.out.splitlines()))

    def _hesitate(self, seconds: float) -> None:
        # Nothing is waited for: this is the random moment.
        time.sleep(self.chance.uniform(0, seconds) if self.chance.random() < 0.9 else 0)

    def _act(self, chat: Chat, *, waits: bool) -> None:
        act = self.chance.choice([self._ask, self._ask, self._react, self._react, self._correct])
        act(chat, waits)

    def _ask(self, chat: Chat, waits: bool) -> None:
        left, right = 100 + len(self.asked), self.chance.randrange(100, 1000)
        question = f"what is {left} + {right}?"
        self.asked.append(question)
        _type(chat, question, f"] {left} + {right} = " if waits else "")

    def _react(self, chat: Chat, waits: bool) -> None:
        if not any(line.startswith("[") for line in chat.screen):
            self._ask(chat, waits=True)
        typed = self.chance.choice(["👍", "👎", "/unreact"])
        _type(chat, typed, "-- " if waits else "")

    def _correct(self, chat: Chat, waits: bool) -> None:
        """Ask what cannot be answered but by a lesson, and teach it."""
        number = len(self.asked)
        question, lesson = f"who keeps the key of room {number}?", f"Person {number} keeps it."
        self.asked.append(question)
        chat.ask(question, "] ")
        self.taught.append(lesson)
        _type(chat, f"/correct {lesson}", "Saved as" if waits else "")


def _type(chat: Chat, line: str, part: str) -> None:
    if part:
        chat.ask(line, part)
    else:
        chat.say(line)


# What must hold afterwards ------------------------------------------------------------------------------------------


def said(memory: Memory) -> list[Incoming]:
    """What was typed, without the choices by 👍 of what the bot asked ("Did you mean this?")."""
    return [message for message in stored(memory) if message.tap is None]


def stored(memory: Memory) -> list[Incoming]:
    with memory.store.read() as tx:
        return tx.deliveries.messages_of(WORKSPACE, "", "you", 1_000_000)


def runs(memory: Memory) -> dict[str, RunView]:
    """Every answer to what was typed, by its question; fails if a question has two."""
    chosen = {message.run_id for message in stored(memory) if message.tap is not None}
    every = [each for each in memory.audit.episodes(WORKSPACE, _EVERY) if each.origin is Origin.RUN]
    episodes = [each for each in every if each.run_id not in chosen]
    assert max(Counter(episode.goal for episode in episodes).values()) == 1
    return {episode.goal: memory.audit.run(WORKSPACE, episode.run_id) for episode in episodes}


def assert_messages(person: Person, memory: Memory) -> None:
    accepted = said(memory)
    assert set(Counter(message.text for message in accepted).values()) == {1}
    assert {message.text for message in accepted} <= set(person.asked)
    assert {message.progress for message in stored(memory)} == {Progress.DELIVERED}
    assert memory.recording.unfinished() == []
    answered = runs(memory)
    assert {message.text: message.run_id for message in accepted} == {
        goal: view.root.run_id for goal, view in answered.items()
    }
    for view in answered.values():
        assert [entry.part for entry in view.ledger] == [1]
    for question in person.asked:
        if any(life.is_done(question) for life in person.lives):
            assert question in answered
    shown = {f"what is {total}?" for life in person.lives for total in life.answers().values()}
    assert shown == {goal for goal in answered if goal.startswith("what is ")}


def assert_no_answer_is_shown_twice(person: Person) -> None:
    """But for the last one of a killed process: whether it reached the screen, only the screen knows."""
    before: set[str] = set()
    for life in person.lives:
        shown = list(life.answers().values())
        assert len(set(shown)) == len(shown)
        assert before.isdisjoint(shown)
        before.update(shown[:-1])


def assert_reactions(person: Person, memory: Memory) -> None:
    """Reactions on sums, whose answers the screen tells apart."""
    acts: dict[str, list[tuple[str, bool, bool]]] = {}
    for life in person.lives:
        for total, emoji, added, confirmed in life.reactions():
            acts.setdefault(total, []).append((f"emoji:{emoji}", added, confirmed))
    for goal, view in runs(memory).items():
        if not goal.startswith("what is "):
            continue
        done = acts.pop(goal.removeprefix("what is ").removesuffix("?"), [])
        stored = [(str(e.detail["source"]), e.kind is EventKind.VOTED) for e in view.events if _is_vote(e)]
        sure = [(source, added) for source, added, confirmed in done if confirmed]
        assert stored in (sure, [(source, added) for source, added, _ in done])
        standing = {source for source, added in dict(stored).items() if added}
        assert {vote.source for vote in view.votes} <= standing
        assert len(view.votes) == min(1, len(standing))
    assert acts == {}


def _is_vote(event: Event) -> bool:
    source = str(event.detail.get("source", ""))
    return event.kind in (EventKind.VOTED, EventKind.UNVOTED) and source.startswith("emoji:")


def assert_lessons(person: Person, memory: Memory) -> None:
    made = Counter(
        episode.output for episode in memory.audit.episodes(WORKSPACE, _EVERY) if episode.origin is Origin.CORRECTION
    )
    assert set(made.values()) <= {1}
    assert set(made) <= set(person.taught)
    for lesson in person.taught:
        if any(life.is_done(f"/correct {lesson}") for life in person.lives):
            assert made[lesson] == 1


def live_and_die(folder: Path, seed: int) -> Person:
    """Several lives of one database, each ended by force, then one that ends well."""
    folder.mkdir()
    person = Person(Home(folder), random.Random(seed))
    for _ in range(_KILLS):
        person.live()
        with person.home.memory() as memory:
            assert memory.audit.check() == []
    person.finish()
    return person


@pytest.mark.slow
def test_what_was_confirmed_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        people = list(pool.map(lambda seed: live_and_die(tmp_path / f"seed-{seed}", seed), _SEEDS))
    for person in people:
        with person.home.memory() as memory:
            assert_messages(person, memory)
            assert_no_answer_is_shown_twice(person)
            assert_reactions(person, memory)
            assert_lessons(person, memory)
        assert person.home.run("rebuild", "--check").code == 0
    assert sum(len(person.lives) - 1 for person in people) == _KILLS * len(_SEEDS)
