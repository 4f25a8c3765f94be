"""A small office: people, projects, rooms, suppliers, things, and the sixteen tools of its systems (`office.toml`).

Every use of a tool is recorded, so that an outcome is judged by what was done.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import cycle

from pydantic import TypeAdapter

from bot.agent.tools.registry import Tool, ToolContext, object_schema
from bot.errors import ToolFailed

_OFFICE = tomllib.loads((files(__package__) / "office.toml").read_text(encoding="utf-8"))
_KINDS = TypeAdapter(Mapping[str, tuple[str, ...]]).validate_python(_OFFICE["kinds"])
"""All things in the office, by kind."""
PEOPLE, ROOMS = _KINDS["person"], _KINDS["room"]
TAKEN = ROOMS[:4]
"""Rooms that are taken already."""

Act = tuple[str, str]
"""A tool and the thing that it was used on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One tool of the office, and how people ask for what it does."""

    tool: str
    description: str
    of: str
    """The kind of its argument: `person`, `project`, `room`, `supplier` or `thing`."""
    tells: str
    """The text of its result, with `{of}` and `{value}`."""
    values: tuple[str, ...]
    asked_as: tuple[str, ...]
    """How people ask for it, with `{of}`."""
    has_effects: bool = False
    names_person: bool = False
    """Whether its result names a person, to whom a later part may refer by "that person"."""

    @property
    def options(self) -> tuple[str, ...]:
        """Everything it can be used on."""
        return _KINDS[self.of]

    def result(self, of: str) -> str:
        """The result for one thing."""
        of_each = dict(zip(self.options, cycle(self.values), strict=False))
        return self.tells.format(of=of, value=of_each[of])


OPERATIONS = TypeAdapter(tuple[Operation, ...]).validate_python(_OFFICE["operations"])
BY_TOOL = {each.tool: each for each in OPERATIONS}


@dataclass(slots=True)
class Office:
    """The office during one task, with a record of what was done."""

    acts: list[Act] = field(default_factory=list[Act])
    """The successful uses of tools, in order."""
    attempts: int = 0
    """The number of all uses."""

    def begin(self) -> None:
        """Clear the record, for another task."""
        self.acts.clear()
        self.attempts = 0

    def tools(self) -> list[Tool]:
        """The tools of its systems. Those with side effects are always permitted."""
        return [self._tool(each) for each in OPERATIONS]

    def _tool(self, operation: Operation) -> Tool:
        async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
            self.attempts += 1
            of = str(arguments[operation.of])
            if operation.tool == "fac_hold" and of in TAKEN:
                raise ToolFailed(f"{of} is taken.")
            self.acts.append((operation.tool, of))
            return operation.result(of)

        return Tool(
            name=operation.tool,
            description=operation.description,
            parameters=object_schema({operation.of: {"type": "string", "enum": list(operation.options)}}, operation.of),
            run=run,
            has_side_effects=operation.has_effects,
        )
