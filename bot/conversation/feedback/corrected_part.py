"""Asks which part of an answer a correction is about, where several parts are still without an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.conversation.reply import NO
from bot.model import PersonCorrection
from memory.model import Episode, Incoming, Turn
from memory.model.delivery import CORRECTING
from memory.rules.retrieval.prompt import shown_line
from memory.services.teaching.correct import CORRECTION_CHARACTERS, missing_parts, open_parts

WHOLE = "All of it"
YES_LABEL, NO_LABEL = "Yes", "No"
_MOST = 6
"""The most parts that have a button, those without an answer first."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question whether a message was feedback, or of what: the answers to it, in order."""

    parts: tuple[Episode, ...]
    """The parts that a correction may be about; empty if it is only asked whether it is one."""
    is_certain: bool = False
    """It is a correction, so that "No" is no answer."""

    @classmethod
    def about(cls, nodes: Sequence[Episode], *, corrects: bool, is_certain: bool) -> "Question":
        """The question about a message that corrects an answer, or approves or refuses it."""
        parts = open_parts(nodes) if corrects else []
        missing = missing_parts(parts)
        most_wanted = sorted(parts, key=lambda each: each not in missing)[:_MOST]
        return cls(tuple(each for each in parts if each in most_wanted), is_certain)

    @property
    def answers(self) -> list[str]:
        """The labels of the answers."""
        yes = [*(shown_line(each.goal, 60) for each in self.parts), WHOLE] if self.parts else [YES_LABEL]
        return [*yes, *([] if self.is_certain else [NO_LABEL])]

    @property
    def no(self) -> int:
        """The number of the answer "No", from 1; 0 if it is none."""
        return 0 if self.is_certain else len(self.answers)

    def number(self, which: str) -> int:
        """The number of the answer that a choice names, by its number or as `no`; 0 if it is none."""
        number = int(which) if which.isdecimal() else self.no if which.lower() == NO else 0
        return number if number <= len(self.answers) else 0

    def node_id(self, number: int) -> str:
        """The id of the part that the answer with this number, from 1, names; empty for the whole."""
        return self.parts[number - 1].id if number <= len(self.parts) else ""


def which_part(correction: str, *, is_certain: bool) -> str:
    """The question. It names no part: the parts may be in the words of others, and are on the buttons only."""
    answer = f"Which part of the question is “{shown_line(correction, 120)}” the answer to?"
    return answer if is_certain else f"Was that a correction? {answer}"


def as_message(event: PersonCorrection, held_by: str) -> Incoming:
    """A correction as a message, to be kept until it is known what it corrects."""
    return Incoming(
        scope=event.scope,
        event_id=event.event_id,
        message_id=f"{CORRECTING}{event.event_id}",
        text=event.text,
        at=event.at,
        held_by=held_by,
        turn=Turn.HAS,
    )


def is_usable(event: PersonCorrection) -> bool:
    """Whether its text can be a lesson."""
    return 0 < len(event.text.strip()) <= CORRECTION_CHARACTERS
