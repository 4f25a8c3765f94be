"""The tools `remember` and `recall`: the working memory of a run."""

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.errors import ToolRetry
from memory.ports import Clock

_MAX_KEY = 100
_MAX_VALUE = 8_000
_KEYS_NAMED = 20


def remember_tool(clock: Clock) -> Tool:
    """The tool `remember`: store a value in the working memory."""
    texts = {"key": text_property("a short name", _MAX_KEY), "value": text_property("what was found", _MAX_VALUE)}

    @text_tool("remember", texts, is_informative=False)
    async def remember(context: ToolContext, key: str, value: str) -> str:
        """Notes a finding in working memory, for the rest of this run only.

        For example: note that the door code is 4711
        """
        key = " ".join(key.split())
        if not key or not value:
            raise ToolRetry("remember needs a key and a value that are not empty.")
        context.memory.store(key, value, node=context.node_path, at=clock())
        return f"Noted under {key!r} until this question is answered."

    return remember


def recall_tool() -> Tool:
    """The tool `recall`: read a value from the working memory."""

    @text_tool("recall", {"key": text_property("a key exactly as <working-memory> lists it")})
    async def recall(context: ToolContext, key: str) -> str:
        """Reads a finding from the working memory of this run, by its key.

        For example: what did you note about the door code?
        """
        wanted = " ".join(key.split())
        keys, folded = context.memory.keys(), wanted.casefold()
        same = [each for each in keys if each == wanted] or [each for each in keys if each.casefold() == folded]
        value = context.memory.recall(same[0]) if same else None
        if value is not None:
            return value
        known = ", ".join(map(repr, keys[:_KEYS_NAMED]))
        raise ToolRetry(
            f"No note under {wanted[:_MAX_KEY]!r}. " + (f"There is {known}." if keys else "There are none.")
        )

    return recall
