"""Makes tools of functions that installed packages offer as entry points.

The schema comes from a function's annotations, the description from its docstring (read by pydantic-ai). A broken entry
point is logged and left out.
"""

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_type_hints

from pydantic import ValidationError
from pydantic_core import to_json

from bot.agent.tools.plugin import ENTRY_POINTS, MARK, ToolMark
from bot.agent.tools.registry import Tool, ToolContext, is_name
from bot.errors import ToolError, ToolFailed, ToolRetry

log = logging.getLogger(__name__)

Function = Callable[..., Any]


def found_tools(points: Iterable[EntryPoint] | None = None) -> list[Tool]:
    """The tools of all installed packages, sorted by entry point, without broken ones. Blocking."""
    found: dict[str, Tool] = {}
    for point in sorted(entry_points(group=ENTRY_POINTS) if points is None else points, key=lambda each: each.name):
        for tool in _loaded(point):
            if tool.name in found:
                log.warning("tool %s of the entry point %s is left out: there is one already", tool.name, point.name)
            found.setdefault(tool.name, tool)
    return list(found.values())


def _loaded(point: EntryPoint) -> list[Tool]:
    try:
        named = point.load()
        functions = [named] if callable(named) else list(named)
        return [tool_from(function) for function in functions]
    except Exception as error:  # noqa: BLE001 - whatever another package's import raises must not stop the start
        log.warning(
            "the tools of the entry point %s (%s) are left out, mend or uninstall the package: %s: %s",
            point.name,
            point.value,
            type(error).__name__,
            error,
        )
        return []


def tool_from(function: Function) -> Tool:
    """A tool made of a function. Raises `ValueError` for no docstring or a bad name, and what reading it raises."""
    from pydantic_ai import Tool as FunctionSchema  # takes 0.6 s, which a bot without plugins does not need

    marked: ToolMark = getattr(function, MARK, ToolMark())
    plain, context_name = _without_context(function)
    read = FunctionSchema(plain, takes_ctx=False)
    name = marked.name or read.name
    if not read.description:
        raise ValueError(f"{name} has no docstring that says what it does, with an example of what people say")
    if not is_name(name):
        raise ValueError(f"a tool's name is 1 to 64 letters, digits, _ or -, got {name!r}")
    schema = read.function_schema

    async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
        try:
            values = schema.validator.validate_python(dict(arguments))
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
            raise ToolRetry(f"{name} cannot take these arguments: {problems}") from error
        if context_name:
            values[context_name] = context
        try:
            return _as_text(await _called(partial(function, **values), name))
        except ToolError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # a function that leaves must not end the bot
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            log.exception("tool %s failed", name)
            raise ToolFailed(f"{name} failed: {type(error).__name__}.") from error

    return Tool(
        name=name,
        description=" ".join(read.description.split()),
        parameters=schema.json_schema,
        run=run,
        has_side_effects=marked.effects,
        is_informative=not marked.notes,
        is_outside=True,
    )


def _without_context(function: Function) -> tuple[Function, str]:
    """The function without its `ToolContext` parameter, for the schema, and the parameter's name; empty if none."""
    signature, hints = inspect.signature(function), get_type_hints(function, include_extras=True)
    name = next((each for each in signature.parameters if hints.get(each) is ToolContext), "")
    if not name:
        return function, ""

    def shown(**_: object) -> None:
        """Has the function's signature without the context, for reading its schema."""

    shown.__name__, shown.__doc__, shown.__module__ = function.__name__, function.__doc__, function.__module__
    rest = [each for each in signature.parameters.values() if each.name != name]
    shown.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # functions may have one
    shown.__annotations__ = {each: hint for each, hint in hints.items() if each != name}
    return shown, name


def _as_text(result: object) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, Sequence | Mapping | None):
        return to_json(result, fallback=str).decode()
    return str(result)


async def _called(call: Callable[[], Any], name: str) -> object:
    """Call a function. A synchronous one runs in a daemon thread, so that it cannot keep the process alive."""
    if inspect.iscoroutinefunction(call.func if isinstance(call, partial) else call):
        return await call()
    done: Future[tuple[object, BaseException | None]] = Future()
    done.set_running_or_notify_cancel()  # the thread goes on when nobody waits for it any more

    def work() -> None:
        try:
            done.set_result((call(), None))
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            done.set_result((None, error))

    threading.Thread(target=work, name=f"tool {name}", daemon=True).start()
    # The error comes as a value, because futures refuse a StopIteration and take others for a cancellation.
    result, error = await asyncio.wrap_future(done)
    if error is not None:
        raise error if isinstance(error, Exception | SystemExit) else RuntimeError(repr(error))
    return result
