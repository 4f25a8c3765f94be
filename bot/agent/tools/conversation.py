"""The tool `search_conversation`: searches a person's own earlier messages in the channel."""

from collections.abc import Awaitable, Callable, Sequence

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.agent.tools.similarity import Embed, rank
from bot.errors import ToolFailed, ToolRetry
from memory.errors import MemoryFault
from memory.model import Incoming, Scope
from memory.rules.retrieval.prompt import one_line

SEARCHED = 200
"""How many of the latest messages are searched."""
_SHOWN = 3
_MIN_SIMILARITY = 0.35
_QUOTE_CHARACTERS = 500


History = Callable[[Scope, int], Awaitable[Sequence[Incoming]]]
"""The person's latest messages in a channel, at most that many, newest first. Raises `MemoryFault`."""


def conversation_tool(history: History, embed: Embed) -> Tool:
    """The tool `search_conversation`."""

    @text_tool("search_conversation", {"query": text_property("what it was about")})
    async def search(context: ToolContext, query: str) -> str:
        """Finds what this person said earlier in this conversation.

        For example: what did I say about the deadline?; which city did I mention before?
        """
        if not query:
            raise ToolRetry("search_conversation needs a query that is not empty.")
        try:
            earlier = _without(context.question, await history(context.scope, SEARCHED))
            scores = await rank(embed, query, [message.text for message in earlier])
        except MemoryFault as fault:
            raise ToolFailed("The conversation cannot be searched at the moment.") from fault
        return _quoted(earlier, scores)

    return search


def _without(question: str, messages: Sequence[Incoming]) -> list[Incoming]:
    """The messages without the question itself, which would match best, and without duplicates."""
    by_text: dict[str, Incoming] = {}
    for message in messages:
        by_text.setdefault(_folded(message.text), message)
    return [message for text, message in by_text.items() if text not in ("", _folded(question))]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _quoted(messages: Sequence[Incoming], scores: Sequence[float]) -> str:
    hits = sorted(zip(scores, messages, strict=True), key=lambda hit: (hit[0], hit[1].at), reverse=True)[:_SHOWN]
    close = [message for score, message in hits if score >= _MIN_SIMILARITY]
    if not close:
        raise ToolFailed("You said nothing about that earlier in this conversation.")
    return "\n".join(
        f"On {each.at.day} {each.at:%B} {each.at.year} at {each.at:%H:%M} "
        f'you said: "{one_line(each.text, _QUOTE_CHARACTERS)}"'
        for each in sorted(close, key=lambda message: (message.at, message.text))
    )
