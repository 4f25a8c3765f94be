"""The tools `remember` and `recall`: the working memory of a run."""

from collections.abc import Mapping

from bot.agent.tools.registry import Tool, ToolContext, text_argument, text_schema, texts_schema
from bot.errors import ToolRetry
from memory.ports import Clock

_MAX_KEY = 100
_MAX_VALUE = 8_000
_KEYS_NAMED = 20


def remember_tool(clock: Clock) -> Tool:
    """The tool `remember`: store a value in the working memory."""

    async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
        key = " ".join(text_argument(arguments, "key").split())
        value = text_argument(arguments, "value")
        if not key or not value:
            raise ToolRetry("remember needs a key and a value that are not empty.")
        context.memory.store(key, value, node=context.node_path, at=clock())
        return f"Noted under {key!r} until this question is answered."

    return Tool(
        name="remember",
        description=(
            "Notes a finding in working memory, for the rest of this run only. "
            "For example: note that the door code is 4711"
        ),
        parameters=texts_schema(key=("a short name", _MAX_KEY), value=("what was found", _MAX_VALUE)),
        run=run,
        is_informative=False,
    )


def recall_tool() -> Tool:
    """The tool `recall`: read a value from the working memory."""

    async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
        wanted = " ".join(text_argument(arguments, "key").split())
        keys, folded = context.memory.keys(), wanted.casefold()
        same = [key for key in keys if key == wanted] or [key for key in keys if key.casefold() == folded]
        value = context.memory.recall(same[0]) if same else None
        if value is not None:
            return value
        known = ", ".join(repr(key) for key in keys[:_KEYS_NAMED])
        raise ToolRetry(
            f"No note under {wanted[:_MAX_KEY]!r}. " + (f"There is {known}." if keys else "There are none.")
        )

    return Tool(
        name="recall",
        description=(
            "Reads a finding from the working memory of this run, by its key. "
            "For example: what did you note about the door code?"
        ),
        parameters=text_schema("key", "a key exactly as <working-memory> lists it"),
        run=run,
    )
