"""The simulated people of a benchmark: askers, and those who react to answers and correct them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from bot.model import PersonCommand, PersonCorrection, PersonEvent, PersonMessage, PersonReaction, PersonTeaching
from memory.model import Role, Scope
from memory.ports import Clock, NewId

E = TypeVar("E", bound=PersonEvent)

CHANNEL = Scope(workspace="bench:local", channel="general", person="asker", place="#general")
"""The scope of the asker, in the channel where everything happens."""


class AnswerWorth(StrEnum):
    """The worth of an answer."""

    RIGHT = "right"
    TAP = "tap"
    """The bot asked back, and the right answer was among the options."""
    WRONG = "wrong"
    NEITHER = "neither"
    """The bot asked back, and the right answer was not among the options."""
    UNKNOWN = "unknown"
    """The bot said that it does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How people react. Shares are between 0 and 1."""

    reacted: float = 1.0
    """Share of answers that get a thumb: up if the answer was right, else down."""
    tapped: float = 1.0
    """Share of the bot's questions that the asker answers by a tap: the right option, else "none of these"."""
    corrected: float = 0.0
    """Share of answers that were not right that the asker corrects."""
    flipped: float = 0.0
    """Share of thumbs that are the wrong way round, drawn for each person."""
    people: int = 1
    """How many people react to one answer: one is the asker, several are people other than the asker."""
    role: Role = Role.MEMBER
    """The role of all of them."""
    askers: int = 1
    """The number of askers, one drawn each time; each reacts to the answers to their questions if `people` is 1."""
    channels: int = 1
    """The number of channels in which they ask, one drawn each time."""


class People:
    """Makes the events of all people in one stream, the same for the same seed whatever the habits.

    Taps are drawn from a random sequence of their own, because the number of questions depends on what was learned.
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
        """The next message, by one of the askers."""
        self._next_asker()
        return self.repeat(text)

    def repeat(self, text: str) -> PersonMessage:
        """The same message again, by the last asker."""
        name = self._new_id()
        return PersonMessage(
            event_id=name, scope=self._asker, message_id=name, text=text, at=self._clock(), role=self._habits.role
        )

    def teach(self, question: str, answer: str) -> PersonTeaching:
        """One of the askers teaches an answer."""
        self._next_asker()
        return self._event(PersonTeaching, question=question, answer=answer)

    def _next_asker(self) -> None:
        if len(self._scopes) > 1:
            self._asker = self._chance.choice(self._scopes)

    def tap(self, run_id: str, number: int | None) -> list[PersonCommand]:
        """The asker's choice of an option by its number; None for "none of these"."""
        if self._tapping.random() >= self._habits.tapped:
            return []
        return [self._event(PersonCommand, name="choose", argument=f"{run_id} {number or 'none'}")]

    def judge_part(self, node_id: str, *, is_right: bool) -> PersonCommand:
        """The asker's tap on whether a part of an answer was right."""
        return self._event(PersonCommand, name="part", argument=f"{node_id} {'right' if is_right else 'wrong'}")

    def respond(self, message_id: str, answered: AnswerWorth, correction: str) -> list[PersonEvent]:
        """What people do about an answer, in order. `correction` is what would have been right.

        A question of the bot's gets no thumb (`tap`); one without the right option is corrected like a wrong answer.
        """
        habits, is_right = self._habits, answered in (AnswerWorth.RIGHT, AnswerWorth.TAP)
        is_question = answered in (AnswerWorth.TAP, AnswerWorth.NEITHER)
        # All random numbers are drawn for every answer, so that habits are compared on the same ones.
        reacts, corrects = self._chance.random() < habits.reacted, self._chance.random() < habits.corrected
        reacting = [replace(self._asker, person=name) for name in self._others] or [self._asker]
        flips = [self._chance.random() < habits.flipped for _ in reacting]
        events: list[PersonEvent] = []
        if reacts and not is_question:
            for by, flip in zip(reacting, flips, strict=True):
                emoji = "👍" if is_right is not flip else "👎"
                events.append(self._event(PersonReaction, by, message_id=message_id, emoji=emoji, added=True))
        if corrects and not is_right:
            events.append(self._event(PersonCorrection, text=correction, message_id=message_id))
        return events

    def _event(self, kind: Callable[..., E], by: Scope | None = None, **fields: object) -> E:
        """An event of this kind, by the asker if nobody is named."""
        role, scope = self._habits.role, by or self._asker
        return kind(event_id=self._new_id(), scope=scope, at=self._clock(), role=role, **fields)


def _numbered(name: str, count: int, start: int = 0) -> list[str]:
    """`count` names: asker, asker-1, asker-2; with `start` all are numbered."""
    return [f"{name}-{number}" if number else name for number in range(start, start + count)]
