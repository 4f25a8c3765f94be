"""Search over a person's own earlier messages in the same conversation."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from bot.agent.tools.registry import Tool, ToolContext, text_argument, text_schema
from bot.agent.tools.similarity import Embed, rank
from bot.errors import ToolFailed, ToolRetry
from memory.errors import MemoryFault
from memory.model import Scope
from memory.rules.retrieval.prompt import one_line

SEARCHED = 200
"""The latest messages that are searched."""
_SHOWN = 3
_MIN_SIMILARITY = 0.35
_QUOTE_CHARACTERS = 500


class ConversationHistory(Protocol):
    """The messages of a conversation."""

    async def messages(self, scope: Scope, limit: int) -> list[tuple[datetime, str]]:
        """The last messages of the scope's person in the scope's channel, newest first. Raises `MemoryFault`."""
        ...


def conversation_tool(history: ConversationHistory, embed: Embed) -> Tool:
    """The tool `search_conversation`."""

    async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
        query = text_argument(arguments, "query")
        if not query:
            raise ToolRetry("search_conversation needs a query that is not empty.")
        try:
            messages = await history.messages(context.scope, SEARCHED)
            earlier = _without(context.question, messages)
            scores = await rank(embed, query, [text for _, text in earlier])
        except MemoryFault as fault:
            raise ToolFailed("The conversation cannot be searched at the moment.") from fault
        return _quoted(earlier, scores)

    return Tool(
        name="search_conversation",
        description=(
            "Finds what this person said earlier in this conversation. "
            "For example: what did I say about the deadline?; which city did I mention before?"
        ),
        parameters=text_schema("query", "what it was about"),
        run=run,
    )


def _without(question: str, messages: list[tuple[datetime, str]]) -> list[tuple[datetime, str]]:
    """Leave out the question itself, which would match best, and the same message said again."""
    seen = {" ".join(question.casefold().split())}
    kept: list[tuple[datetime, str]] = []
    for at, text in messages:
        folded = " ".join(text.casefold().split())
        if folded and folded not in seen:
            seen.add(folded)
            kept.append((at, text))
    return kept


def _quoted(messages: list[tuple[datetime, str]], scores: list[float]) -> str:
    hits = sorted(zip(scores, messages, strict=True), key=lambda hit: (hit[0], hit[1][0]), reverse=True)[:_SHOWN]
    close = [entry for score, entry in hits if score >= _MIN_SIMILARITY]
    if not close:
        raise ToolFailed("You said nothing about that earlier in this conversation.")
    return "\n".join(
        f'On {at.day} {at:%B} {at.year} at {at:%H:%M} you said: "{one_line(text, _QUOTE_CHARACTERS)}"'
        for at, text in sorted(close)
    )
