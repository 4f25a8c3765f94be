"""The definition of tools, and the registry that runs them.

Foreseeable failures of a tool are returned as observations, so that the model can react.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from bot.config.tool_rules import ToolRule, is_allowed
from bot.errors import ToolFailed, ToolRetry
from bot.model import ToolCall, ToolSpec
from memory.library.working_memory import WorkingMemory
from memory.model import Permission, Role, Scope
from memory.model.evidence import ActionText
from memory.rules.retrieval.prompt import replace_unstorable

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The run, node and person that a tool is called for."""

    scope: Scope
    run_id: str
    node_path: str
    question: str
    """The message that the run answers."""
    goal: str = ""
    """The node's goal."""
    memory: WorkingMemory
    role: Role = Role.MEMBER
    """The role of the person who chose the call; member if nobody chose it."""
    credit: Callable[[Iterable[str]], None] = lambda people: None
    """Notes the ids of people whose words the result repeats, so that it is found when they are forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the agent."""

    name: str
    description: str
    """What it does, with an example of what people write: a model may choose tools by similarity to it."""
    parameters: Mapping[str, object]
    """A JSON schema of type object. The first property is the main argument."""
    run: Callable[[Mapping[str, object], ToolContext], Awaitable[str]]
    """Takes arguments that match the schema. Returns a sentence or short passage that can be an answer.

    Raises `ToolRetry` (other arguments may work) or `ToolFailed`.
    """
    has_side_effects: bool = False
    """Whether it changes something outside the run, and so needs a permission."""
    is_informative: bool = True
    """Whether its result can be the answer; a note of the agent cannot."""
    is_outside: bool = False
    """Whether its result comes from outside the bot, so that the episode marks it as untrusted."""

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)

    def main_argument(self, arguments: Mapping[str, object]) -> str:
        """The value, as text, of the first property in the schema that is given; empty if there is none."""
        properties = self.parameters.get("properties", {})
        if not isinstance(properties, Mapping):
            return ""
        return next((str(arguments[name]) for name in properties if name in arguments), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a tool call."""

    content: str
    is_error: bool = False
    is_outside: bool = False
    """Whether it comes from outside the bot."""
    is_mistake: bool = False
    """Whether the call was wrong (unknown tool, bad arguments), so that another one may succeed."""

    def __post_init__(self) -> None:
        """Remove characters that cannot be stored: after the call's effects it is too late to refuse them."""
        object.__setattr__(self, "content", replace_unstorable(self.content))


Permit = Callable[[Tool, Mapping[str, object], ToolContext], Coroutine[Any, Any, Permission | None]]
"""Finds the permission of a call with effects; None if a person must be asked."""


async def _nothing_permitted(_: Tool, __: Mapping[str, object], ___: ToolContext) -> Permission | None:
    return None


class ToolRegistry:
    """The tools of a bot. Runs them: checks arguments, permissions and time limits."""

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        *,
        timeout_s: float = 30.0,
        permit: Permit = _nothing_permitted,
        rules: Sequence[ToolRule] = (),
    ) -> None:
        for tool in tools:
            if not is_name(tool.name):
                raise ValueError(f"a tool's name is 1 to 64 letters, digits, _ or -, got {tool.name!r}")
        if doubled := [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]:
            raise ValueError(f"two tools are named {doubled[0]!r}")
        self._sources: dict[str, tuple[Tool, ...]] = {"": tuple(tools)}
        self._tools: dict[str, Tool] = {}
        self.known_names: list[str] = []
        """The names of all tools. The same list object, updated as tools are added and removed."""
        self.specs: tuple[ToolSpec, ...] = ()
        """The tools as the model sees them."""
        self.actions: tuple[ActionText, ...] = ()
        """The tools as actions that evidence is weighed for."""
        self.elements: frozenset[str] = frozenset()
        """The tools as context elements of nodes."""
        self._timeout_s = timeout_s
        self.permit = permit
        self._rules = tuple(rules)
        self._gather()

    def put(self, source: str, tools: Sequence[Tool]) -> None:
        """Replace the tools of a source, such as a server. Tools with an invalid or taken name are left out."""
        self._sources[source] = tuple(tool for tool in tools if is_name(tool.name))
        self._gather()

    def _gather(self) -> None:
        gathered: dict[str, Tool] = {}
        for tool in chain.from_iterable(self._sources.values()):
            gathered.setdefault(tool.name, tool)
        self._tools = gathered
        self.known_names[:] = gathered
        self.specs = tuple(tool.spec for tool in gathered.values())
        self.actions = tuple(spec.as_action for spec in self.specs)
        self.elements = frozenset(f"tool:{name}" for name in gathered)

    @property
    def asks_for_role(self) -> bool:
        """Whether any rule depends on a person's role."""
        return any(rule.roles is not None for rule in self._rules)

    def within(self, scope: Scope, role: Role) -> "ToolRegistry":
        """A registry of the tools that a person in a role may use in a place."""
        if not self._rules:
            return self
        allowed = [tool for tool in self._tools.values() if is_allowed(tool.name, self._rules, scope, role)]
        return ToolRegistry(allowed, timeout_s=self._timeout_s, permit=self.permit)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools, in the order they were added."""
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        """The tool of this name, or None."""
        return self._tools.get(name)

    async def problem(self, call: ToolCall) -> str:
        """What is wrong with a call, for the model; empty if nothing is."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return f"There is no tool named {call.name[:64]!r}. The tools are: {known}."
        if call.arguments is None:
            return f"The arguments of {tool.name} were not a JSON object: {call.raw[:200]}"
        if _are_wanted_texts(tool.parameters, call.arguments):
            return ""
        problem = await asyncio.to_thread(_schema_problem, tool.parameters, call.arguments)
        return f"{tool.name} cannot take these arguments: {problem}" if problem else ""

    async def run(self, call: ToolCall, context: ToolContext, *, is_approved: bool = False) -> ToolResult:
        """Run a call. Failures become results; other exceptions of the tool are raised.

        `is_approved`: this call is permitted to have its effects.
        """
        tool = self._tools.get(call.name)
        problem = await self.problem(call)
        if tool is None or call.arguments is None or problem:
            return _mistake(problem)
        if tool.has_side_effects and not is_approved:
            return ToolResult(content=f"{tool.name} was not approved, and did not run.", is_error=True)
        try:
            async with asyncio.timeout(self._timeout_s):
                return ToolResult(content=await tool.run(call.arguments, context), is_outside=tool.is_outside)
        except ToolRetry as retry:
            return _mistake(str(retry), is_outside=tool.is_outside)
        except ToolFailed as failure:
            return ToolResult(content=str(failure), is_error=True, is_outside=tool.is_outside)
        except TimeoutError:
            late = f"{tool.name} took longer than {self._timeout_s:g} seconds."
            return ToolResult(content=f"{late} {MAY_HAVE_HAPPENED}" if tool.has_side_effects else late, is_error=True)


MAY_HAVE_HAPPENED = "It may have happened all the same: look before it is done again, and say so."


def is_name(name: str) -> bool:
    """Whether this is a valid name of a tool."""
    return _NAME.match(name) is not None


def object_schema(properties: Mapping[str, object], *required: str) -> dict[str, object]:
    """The schema of a tool with these arguments and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def text_property(description: str, longest: int | None = None) -> dict[str, object]:
    """The schema of a text argument."""
    limit = {} if longest is None else {"maxLength": longest}
    return {"type": "string", "description": description, **limit}


def text_tool(
    name: str,
    texts: Mapping[str, object],
    *,
    are_optional: bool = False,
    has_side_effects: bool = False,
    is_informative: bool = True,
    is_outside: bool = False,
) -> Callable[[Callable[..., Awaitable[str]]], Tool]:
    """Make a tool of a function that takes the context and these texts, which get no outer spaces.

    `texts` are the schemas of the arguments by name. The function's docstring is the tool's description.
    """

    def make(function: Callable[..., Awaitable[str]]) -> Tool:
        async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
            return await function(context, **{each: text_argument(arguments, each) for each in texts})

        return Tool(
            name=name,
            description=" ".join((function.__doc__ or "").split()),
            parameters=object_schema(texts, *(() if are_optional else texts)),
            run=run,
            has_side_effects=has_side_effects,
            is_informative=is_informative,
            is_outside=is_outside,
        )

    return make


def text_argument(arguments: Mapping[str, object], name: str) -> str:
    """A text argument without outer spaces; empty if it was not given."""
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""


def _mistake(content: str, *, is_outside: bool = False) -> ToolResult:
    return ToolResult(content=content, is_error=True, is_outside=is_outside, is_mistake=True)


def _are_wanted_texts(schema: Mapping[str, object], arguments: Mapping[str, object]) -> bool:
    """Whether arguments are valid for a schema of plain texts, as most are: this saves the validator and its thread."""
    if schema.get("type") != "object" or not schema.keys() <= object_schema({}).keys():
        return False
    match schema:
        case {"properties": dict() as known}:
            required = schema.get("required", [])
        case _:
            return False
    return (
        isinstance(required, list)
        and all(isinstance(name, str) and name in arguments for name in required)
        and all(_is_text(known.get(name)) and isinstance(value, str) for name, value in arguments.items())
    )


def _is_text(schema: object) -> bool:
    """Whether a schema is that of any text."""
    match schema:
        case {"type": "string", **rest}:
            return rest.keys() <= {"description"}
        case _:
            return False


def _schema_problem(schema: Mapping[str, object], arguments: Mapping[str, object]) -> str:
    """What is wrong with the arguments, in one line; empty if nothing is. References are never fetched."""
    from jsonschema import Draft202012Validator  # takes 60 ms, which most starts do not need
    from referencing import Registry

    validator = Draft202012Validator(dict(schema), registry=Registry())
    errors = sorted(validator.iter_errors(dict(arguments)), key=lambda error: list(map(str, error.path)))
    return "; ".join(f"{error.json_path.removeprefix('$.')}: {error.message[:200]}" for error in errors[:3])
