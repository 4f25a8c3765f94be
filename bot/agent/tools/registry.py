"""The registry of tools: their definition, and the one place where they are run.

Whatever goes wrong in a way a tool can foresee comes back as an observation the model may react to.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.errors import ToolFailed, ToolRetry
from bot.model import ToolCall, ToolSpec
from memory.library.working_memory import WorkingMemory
from memory.model import Role, Scope

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """For whom and where in the run a tool works."""

    scope: Scope
    run_id: str
    node_path: str
    question: str
    """The message the run answers."""
    memory: WorkingMemory
    role: Role = Role.MEMBER
    """In what role the person chose that it runs; as a member where nobody chose."""
    credit: Callable[[Iterable[str]], None] = lambda people: None
    """Notes whose words a result repeats, so that forgetting them finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the agent can do."""

    name: str
    description: str
    """What it does, with an example of what people say: a model may choose by the similarity of the two."""
    parameters: Mapping[str, object]
    """A JSON schema of type object. The first property is the main argument."""
    run: Callable[[Mapping[str, object], ToolContext], Awaitable[str]]
    """Takes arguments that fit the schema. Returns a plain sentence or a short passage, fit to be an answer.

    Raises `ToolRetry` (other arguments may do) or `ToolFailed`.
    """
    has_side_effects: bool = False
    """Changes something outside the run; needs a person's approval."""
    is_informative: bool = True
    """Whether its result can be the answer, as opposed to a note the agent takes for itself."""

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)

    def main_argument(self, arguments: Mapping[str, object]) -> str:
        """The text of the schema's first property that was given; empty when none was."""
        properties = self.parameters.get("properties", {})
        if not isinstance(properties, Mapping):
            return ""
        return next((str(arguments[name]) for name in properties if name in arguments), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call."""

    content: str
    is_error: bool = False
    is_mistake: bool = False
    """The call itself was wrong (unknown tool, bad arguments): better arguments may do."""


Approve = Callable[[Tool, Mapping[str, object], ToolContext], Awaitable[bool]]
"""Asks a person whether a tool with side effects may run now."""


class ToolRegistry:
    """The tools of one bot. Checks arguments, asks for approval, limits the time."""

    def __init__(self, tools: Sequence[Tool] = (), *, timeout_s: float = 30.0, approve: Approve | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if not _NAME.match(tool.name):
                raise ValueError(f"a tool's name is 1 to 64 letters, digits, _ or -, got {tool.name!r}")
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name!r}")
            self._tools[tool.name] = tool
        self.actions = tuple(tool.spec.as_action for tool in tools)
        """The tools as evidence is weighed for them."""
        self._timeout_s = timeout_s
        self._approve = approve

    @property
    def names(self) -> tuple[str, ...]:
        """Every tool's name, in the order they were given."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them."""
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool, or None."""
        return self._tools.get(name)

    def needs_question(self, name: str) -> bool:
        """Whether a tool changes something and nobody else is there to approve of that: the person is asked first."""
        tool = self._tools.get(name)
        return tool is not None and tool.has_side_effects and self._approve is None

    async def run(self, call: ToolCall, context: ToolContext, *, is_approved: bool = False) -> ToolResult:
        """Run one call. Only a fault in a tool's own code is raised; everything else is an observation.

        `is_approved`: the person chose just this call.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return _mistake(f"There is no tool named {call.name[:64]!r}. The tools are: {known}.")
        if call.arguments is None:
            return _mistake(f"The arguments of {tool.name} were not a JSON object: {call.raw[:200]}")
        problem = await asyncio.to_thread(_schema_problem, tool.parameters, call.arguments)
        if problem:
            return _mistake(f"{tool.name} cannot take these arguments: {problem}")
        try:
            if not is_approved and not await self._may_run(tool, call.arguments, context):
                return ToolResult(content=f"{tool.name} was not approved, and did not run.", is_error=True)
            async with asyncio.timeout(self._timeout_s):
                return ToolResult(content=await tool.run(call.arguments, context))
        except ToolRetry as retry:
            return _mistake(str(retry))
        except ToolFailed as failure:
            return ToolResult(content=str(failure), is_error=True)
        except TimeoutError:
            return ToolResult(content=f"{tool.name} took longer than {self._timeout_s:g} seconds.", is_error=True)

    async def _may_run(self, tool: Tool, arguments: Mapping[str, object], context: ToolContext) -> bool:
        if not tool.has_side_effects:
            return True
        return self._approve is not None and await self._approve(tool, arguments, context)


def text_schema(name: str, description: str, *, required: bool = True) -> dict[str, object]:
    """The schema of a tool with one text argument."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name] if required else [],
        "additionalProperties": False,
    }


def text_argument(arguments: Mapping[str, object], name: str) -> str:
    """A text argument without outer spaces; empty when it was not given."""
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""


def _mistake(content: str) -> ToolResult:
    return ToolResult(content=content, is_error=True, is_mistake=True)


def _schema_problem(schema: Mapping[str, object], arguments: Mapping[str, object]) -> str:
    """What is wrong with the arguments, in one line; empty when nothing is. References are never fetched."""
    from jsonschema import Draft202012Validator  # 60 ms that most starts need not pay
    from referencing import Registry

    validator = Draft202012Validator(dict(schema), registry=Registry())
    errors = sorted(validator.iter_errors(dict(arguments)), key=lambda error: list(map(str, error.path)))
    return "; ".join(f"{error.json_path.removeprefix('$.')}: {error.message[:200]}" for error in errors[:3])
