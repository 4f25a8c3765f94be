"""The people of a benchmark: one who asks, and those who react to the answers and correct them."""

import random
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.model import PersonCommand, PersonCorrection, PersonEvent, PersonMessage, PersonReaction, PersonTeaching
from memory.model import Role, Scope
from memory.ports import Clock, NewId

CHANNEL = Scope(workspace="bench:local", channel="general", person="asker", place="#general")
"""The place everything happens in, as who asks sees it."""


class AnswerWorth(StrEnum):
    """What an answer was worth."""

    RIGHT = "right"
    TAP = "tap"
    """The bot asked, and what is right was among what it offered: one tap away."""
    WRONG = "wrong"
    NEITHER = "neither"
    """The bot asked, and what is right was not among what it offered."""
    UNKNOWN = "unknown"
    """The bot said that it does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How people react. Shares are between 0 and 1."""

    reacted: float = 1.0
    """Share of answers that get a thumb: up if the answer was right, else down."""
    tapped: float = 1.0
    """Share of questions that are tapped by the asker: what is right, else "none of these"."""
    corrected: float = 0.0
    """Share of answers that were not right that the asker corrects."""
    flipped: float = 0.0
    """Share of thumbs that are the wrong way round, for each person by chance."""
    people: int = 1
    """How many react to one answer: one is the asker; several are others than the asker."""
    role: Role = Role.MEMBER
    """What they are, all of them."""
    askers: int = 1
    """How many ask, one of them by chance each time; each reacts to what they asked where `people` is 1."""
    channels: int = 1
    """In how many channels they ask, one of them by chance each time."""


class People:
    """Makes the events of everybody in one stream. The same seed makes the same ones, whatever the habits are.

    How many questions there are depends on what was learned, so taps have chances of their own.
    """

    def __init__(self, habits: Habits, *, seed: int, clock: Clock, new_id: NewId) -> None:
        self._habits = habits
        self._chance = random.Random(f"people {seed}")
        self._tapping = random.Random(f"taps {seed}")
        self._clock = clock
        self._new_id = new_id
        self._asker = CHANNEL
        self._scopes = [
            replace(CHANNEL, person=person, channel=channel, place=f"#{channel}")
            for person in _numbered(CHANNEL.person, habits.askers)
            for channel in _numbered(CHANNEL.channel, habits.channels)
        ]
        self._others = _numbered("colleague", habits.people, start=1) if habits.people > 1 else []

    def ask(self, text: str) -> PersonMessage:
        """The next message, of somebody who asks."""
        self._next_asker()
        return self.repeat(text)

    def repeat(self, text: str) -> PersonMessage:
        """The same message once more, by who asked last."""
        name = self._new_id()
        return PersonMessage(
            event_id=name, scope=self._asker, message_id=name, text=text, at=self._clock(), role=self._habits.role
        )

    def teach(self, question: str, answer: str) -> PersonTeaching:
        """Somebody who asks teaches an answer."""
        self._next_asker()
        return PersonTeaching(
            event_id=self._new_id(),
            scope=self._asker,
            at=self._clock(),
            role=self._habits.role,
            question=question,
            answer=answer,
        )

    def _next_asker(self) -> None:
        if len(self._scopes) > 1:
            self._asker = self._chance.choice(self._scopes)

    def tap(self, run_id: str, number: int | None) -> list[PersonCommand]:
        """What the asker chooses of what a question offered, by its number; None for none of these."""
        if self._tapping.random() >= self._habits.tapped:
            return []
        return [self._command("choose", f"{run_id} {number or 'none'}")]

    def judge_part(self, node_id: str, *, is_right: bool) -> PersonCommand:
        """The asker taps what a part of an answer was worth."""
        return self._command("part", f"{node_id} {'right' if is_right else 'wrong'}")

    def _command(self, name: str, argument: str) -> PersonCommand:
        return PersonCommand(
            event_id=self._new_id(),
            scope=self._asker,
            at=self._clock(),
            role=self._habits.role,
            name=name,
            argument=argument,
        )

    def respond(self, message_id: str, answered: AnswerWorth, correction: str) -> list[PersonEvent]:
        """What people do about an answer, in this order. `correction` is what would have been right.

        A question gets no thumb (`tap`); one that offered nothing right is corrected like a wrong answer.
        """
        habits, is_right = self._habits, answered in (AnswerWorth.RIGHT, AnswerWorth.TAP)
        is_question = answered in (AnswerWorth.TAP, AnswerWorth.NEITHER)
        # Every draw is made for every answer, so that habits can be compared on the same chances.
        reacts, corrects = self._chance.random() < habits.reacted, self._chance.random() < habits.corrected
        reacting = [replace(self._asker, person=name) for name in self._others] or [self._asker]
        flips = [self._chance.random() < habits.flipped for _ in reacting]
        events: list[PersonEvent] = []
        if reacts and not is_question:
            events += [
                self._thumb(message_id, by, up=is_right is not flip) for by, flip in zip(reacting, flips, strict=True)
            ]
        if corrects and not is_right:
            events.append(
                PersonCorrection(
                    event_id=self._new_id(),
                    scope=self._asker,
                    at=self._clock(),
                    role=habits.role,
                    text=correction,
                    message_id=message_id,
                )
            )
        return events

    def _thumb(self, message_id: str, by: Scope, *, up: bool) -> PersonReaction:
        return PersonReaction(
            event_id=self._new_id(),
            scope=by,
            at=self._clock(),
            role=self._habits.role,
            message_id=message_id,
            emoji="👍" if up else "👎",
            added=True,
        )


def _numbered(name: str, count: int, start: int = 0) -> list[str]:
    """The name, and as many more with a number as are wanted: asker, asker-1, asker-2; with `start` all numbered."""
    return [f"{name}-{number}" if number else name for number in range(start, start + count)]
