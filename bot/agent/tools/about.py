"""The tool `about_me`: answers greetings and thanks, and says what the bot can do, by examples of its tools."""

from collections.abc import Callable, Sequence

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.model import ToolSpec
from memory.model import Role, Scope

ToolsFor = Callable[[Scope, Role], Sequence[ToolSpec]]
"""The tools that a person in a role may use in a place."""

NAME = "about_me"
_SHOWN = 8
_EXAMPLE = "For example: "
_REPLIES = {"thanks": "You are welcome.", "goodbye": "Goodbye!", "consent": "All right."}


def about_tool(tools_for: ToolsFor) -> Tool:
    """The tool `about_me`."""

    @text_tool(NAME, {"courtesy": text_property("what the message is: hello, thanks, goodbye, consent, or abilities")})
    async def about(context: ToolContext, courtesy: str) -> str:
        """Says what I am and what I can do, and answers a greeting, thanks or a goodbye.

        For example: what can you do?; who are you?; hello; thank you
        """
        courtesy = courtesy.casefold()
        if courtesy in _REPLIES:
            return _REPLIES[courtesy]
        examples = [each for spec in tools_for(context.scope, context.role) if (each := _example(spec))]
        if courtesy == "hello":
            return f"Hello! Ask me something{f', like “{examples[0]}”' if examples else ''}, or “what can you do?”"
        asked = "\n".join(f"- {each}" for each in examples[:_SHOWN])
        listed = f" You can ask me, for example:\n\n{asked}\n\n" if asked else " "
        return (
            f"I answer with what people here taught me, and with my tools.{listed}"
            "Put 👍 on an answer that is right. Put 👎 on one that is wrong and say what would have been right: "
            "I know it the next time. The command `help` lists the rest."
        )

    return about


def _example(spec: ToolSpec) -> str:
    """The first example in a tool's description; empty for `about_me` itself."""
    example = spec.description.partition(_EXAMPLE)[2].partition(";")[0].strip(" .")
    return "" if spec.name == NAME else example
