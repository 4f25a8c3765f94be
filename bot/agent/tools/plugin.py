"""The decorator that marks a plugin's function as a tool: `@tool(effects=True)`. An unmarked function only reads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.agent.tools.registry import ToolContext as ToolContext

F = TypeVar("F", bound=Callable[..., Any])

MARK = "goodbot_tool"
"""The attribute of a function that holds its `ToolMark`."""
ENTRY_POINTS = "goodbot.tools"
"""The entry point group of plugins' functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMark:
    """What the decorator adds to a function's annotations and docstring."""

    effects: bool = False
    """Whether it changes something outside the bot, and so needs approval."""
    name: str = ""
    """The tool's name; empty for the function's."""
    notes: bool = False
    """Whether its result is a note for the agent, which cannot be the answer."""


def tool(*, effects: bool = False, name: str = "", notes: bool = False) -> Callable[[F], F]:
    """Mark a function as a tool; the arguments are the fields of `ToolMark`."""

    def mark(function: F) -> F:
        setattr(function, MARK, ToolMark(effects=effects, name=name, notes=notes))
        return function

    return mark
