"""Readers of feedback in words: the narrow rule, or a language model if the first words hint at feedback."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from bot.agent.dialogue import tool_output
from bot.agent.prompts import PROMPTS
from bot.agent.textual import only_object
from bot.conversation.feedback.feedback_in_words import APPROVED, REFUSED, FeedbackReading, feedback_in, may_be_feedback
from bot.errors import ModelError
from bot.model import ModelRequest, UserTurn
from bot.ports import LanguageModel
from memory.rules.retrieval.prompt import neutralise

log = logging.getLogger(__name__)

FeedbackReader: TypeAlias = Callable[[str, str, str], Awaitable[FeedbackReading | None]]
"""Reads a message after an answer: (message, question, answer). None for an ordinary message. Never raises."""

_TIMEOUT_S = 20.0
_CHARACTERS = 4_000
"""The most characters of the question, and of the answer, in the request."""
_WORD = re.compile(r"[^\W_]+")

SYSTEM = PROMPTS["feedback"]


async def by_rule(message: str, question: str, answer: str) -> FeedbackReading | None:
    """Read by the rule."""
    return feedback_in(message, question, answer)


@dataclass(frozen=True, slots=True)
class ModelReader:
    """Asks a language model about messages that hint at feedback. If it fails, the message is an ordinary one."""

    model: LanguageModel

    async def __call__(self, message: str, question: str, answer: str) -> FeedbackReading | None:
        """Read by the model."""
        if not may_be_feedback(message) and feedback_in(message, question, answer) is None:
            return None
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                reply = await self.model.reply(request_for(message, question, answer))
        except (ModelError, TimeoutError) as error:
            log.info("possible feedback is treated as an ordinary message: %s", error)
            return None
        return feedback_in_reply(reply.turn.text, message)


def request_for(message: str, question: str, answer: str) -> ModelRequest:
    """The request for one message."""
    blocks = [
        f"<goal>\n{neutralise(question[:_CHARACTERS])}\n</goal>",
        tool_output("answer", answer[:_CHARACTERS]),
        f"<last-message>\n{neutralise(message)}\n</last-message>",
    ]
    return ModelRequest(system=SYSTEM, turns=(UserTurn(text="\n".join(blocks)),))


def feedback_in_reply(reply: str, message: str) -> FeedbackReading | None:
    """The feedback in a model's reply. None for "none", an unreadable reply, or a correction not in the message."""
    parsed = only_object(reply)
    match parsed.get("kind"), parsed.get("right"):
        case "refusal", _:
            return REFUSED
        case "approval", _:
            return APPROVED
        case "correction", str(right) if _is_in(right, message):
            return FeedbackReading(correction=right.strip())
        case _:
            return None


def _is_in(part: str, whole: str) -> bool:
    """Whether the message has these words in sequence."""
    words = " ".join(_WORD.findall(part.casefold()))
    return words != "" and f" {words} " in f" {' '.join(_WORD.findall(whole.casefold()))} "
