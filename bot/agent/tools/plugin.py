"""How engineers mark a function of theirs as a tool: `@tool(effects=True)`. Without the mark it only reads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.agent.tools.registry import ToolContext as ToolContext

F = TypeVar("F", bound=Callable[..., Any])

MARK = "goodbot_tool"
"""The attribute of a function that holds its `Marked`."""
ENTRY_POINTS = "goodbot.tools"
"""The group of entry points that such functions are found through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What the decorator adds to a tool's annotations and docstring."""

    effects: bool = False
    """It changes something outside the bot, so that it waits for approval."""
    name: str = ""
    """The function's own if empty."""
    notes: bool = False
    """Its result is a note for the agent, and no answer by itself."""


def tool(*, effects: bool = False, name: str = "", notes: bool = False) -> Callable[[F], F]:
    """Mark a function as a tool (`Marked` says what each word means)."""

    def mark(function: F) -> F:
        setattr(function, MARK, Marked(effects=effects, name=name, notes=notes))
        return function

    return mark
