"""Functions of other packages as tools: what their authors write, what goes wrong with them, and what that costs."""

import asyncio
import concurrent.futures
import logging
import re
import sys
import threading
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from bot.adapters.tools.plugins import found_tools, tool_from
from bot.agent.tools.plugin import ENTRY_POINTS, tool
from bot.agent.tools.registry import ToolContext, ToolRegistry
from tests import CHECKOUT
from tests.bot.agent.test_tools_registry import CONTEXT
from tests.doubles.model import tool_call


def ticket_status(number: Annotated[int, Field(ge=1)], verbose: bool = False) -> str:
    """Tells the status of a support ticket. For example: what is the status of ticket 4711?

    Args:
        number: the ticket's number
        verbose: whether to tell more

    """
    return f"Ticket {number} is open." + (" Nobody has it." if verbose else "")


@tool(effects=True, name="close")
async def close_ticket(number: int, context: ToolContext) -> dict[str, Any]:
    """Closes a ticket."""
    return {"closed": number, "by": context.scope.person}


def test_annotations_are_the_schema_and_the_docstring_is_the_description() -> None:
    made = tool_from(ticket_status)
    assert made.name == "ticket_status"
    assert made.description == ("Tells the status of a support ticket. For example: what is the status of ticket 4711?")
    properties: Any = made.parameters["properties"]
    assert properties["number"] == {"description": "the ticket's number", "minimum": 1, "type": "integer"}
    assert made.parameters["required"] == ["number"]
    assert not made.has_side_effects
    assert made.is_outside


async def test_a_function_is_run_with_what_it_asks_for() -> None:
    registry = ToolRegistry([tool_from(ticket_status), tool_from(close_ticket)])
    told = await registry.run(tool_call("ticket_status", number=7, verbose=True), CONTEXT)
    assert (told.content, told.is_outside) == ("Ticket 7 is open. Nobody has it.", True)
    assert tool_from(close_ticket).has_side_effects
    assert "context" not in str(tool_from(close_ticket).parameters)
    closed = await registry.run(tool_call("close", number=7), CONTEXT, is_approved=True)
    assert closed.content == '{"closed":7,"by":"ana"}'
    wrong = await registry.run(tool_call("ticket_status", number=0), CONTEXT)
    assert wrong.is_mistake


def nothing_said(number: int) -> str:
    return str(number)


@tool(name="not a name")
def misnamed() -> str:
    """Has a name that models do not take."""
    return ""


def failing() -> str:
    """Fails."""
    raise KeyError("secret detail")


_HUNG = threading.Event()


def hanging() -> str:
    """Never returns."""
    _HUNG.wait(30)
    return "late"


async def test_what_a_function_raises_is_one_failed_observation(caplog: pytest.LogCaptureFixture) -> None:
    result = await ToolRegistry([tool_from(failing)]).run(tool_call("failing"), CONTEXT)
    assert (result.content, result.is_error, result.is_outside) == ("failing failed: KeyError.", True, True)
    assert "secret detail" in caplog.text


def searching() -> str:
    """Finds nothing."""
    return next(each for each in ("a", "b") if each == "c")


def cancelling() -> str:
    """Waits for what another one cancelled."""
    raise concurrent.futures.CancelledError


def interrupting() -> str:
    """Waits for what its own event loop cancelled."""
    raise asyncio.CancelledError


def leaving() -> str:
    """Ends the program."""
    sys.exit("no configuration")


async def leaving_later() -> str:
    """Ends the program."""
    sys.exit("no configuration")


async def waiting() -> str:
    """Waits for what it cancelled itself."""
    task = asyncio.ensure_future(asyncio.Event().wait())
    task.cancel()
    return str(await task)


@pytest.mark.parametrize("function", [searching, cancelling, interrupting, leaving, leaving_later, waiting])
async def test_what_ends_an_iteration_a_wait_or_a_program_is_a_failure_like_any_other(
    function: Callable[[], object],
) -> None:
    name = function.__name__
    result = await ToolRegistry([tool_from(function)], timeout_s=5).run(tool_call(name), CONTEXT)
    assert result.is_error
    assert result.content.startswith(f"{name} failed: ")


async def test_a_function_that_hangs_costs_its_time_alone() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(tick())
    result = await ToolRegistry([tool_from(hanging)], timeout_s=0.05).run(tool_call("hanging"), CONTEXT)
    beside.cancel()
    assert result.content == "hanging took longer than 0.05 seconds."
    assert ticks > 1
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "tool hanging")
    _HUNG.set()


def _point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=f"{__name__}:{value}", group=ENTRY_POINTS)


SEVERAL = [ticket_status, close_ticket]


def test_a_broken_plugin_is_told_of_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    points = [
        _point("a", "nothing_said"),
        _point("b", "no_such_function"),
        _point("c", "misnamed"),
        EntryPoint(name="d", value="no_such_package:x", group=ENTRY_POINTS),
        _point("e", "SEVERAL"),
        _point("f", "ticket_status"),
        _point("g", "CONTEXT"),
    ]
    with caplog.at_level(logging.WARNING):
        assert [each.name for each in found_tools(points)] == ["ticket_status", "close"]
    told = [record.getMessage() for record in caplog.records]
    assert [re.findall(r"entry point (\w)", line)[0] for line in told] == ["a", "b", "c", "d", "f", "g"]
    assert "no docstring" in told[0]
    assert "uninstall the package" in told[3]


def _example() -> tuple[str, str]:
    """The example of the README for engineers: a module, and the entry point in its package's pyproject.toml."""
    text = (CHECKOUT / "bot" / "README.md").read_text(encoding="utf-8")
    section = text.partition("### A tool of your own")[2]
    module, points = re.findall(r"```(?:python|toml)\n(.*?)```", section, re.DOTALL)[:2]
    return module, points


async def test_the_example_in_the_readme_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, points = _example()
    found = re.findall(r"^(\w+) = \"(.*)\"$", points, re.MULTILINE)
    (tmp_path / "acme_tools.py").write_text(module, encoding="utf-8")
    about = tmp_path / "acme-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        "\n".join([f"[{ENTRY_POINTS}]", *(f"{name} = {value}" for name, value in found)]), encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = ToolRegistry(found_tools())
    sys.modules.pop("acme_tools", None)
    status = await registry.run(tool_call("ticket_status", number=4711), CONTEXT)
    assert status.content == "Ticket 4711 is open."
    closing = registry.get("close_ticket")
    assert closing is not None
    assert closing.has_side_effects
    assert len([line for line in module.splitlines() if line.strip()]) <= 12
