"""The clock, the calculator and the notes."""

import contextlib
import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, strategies as st

from bot.agent.tools.calculator import calculate, calculator_tool
from bot.agent.tools.clock import clock_tool
from bot.agent.tools.notes import recall_tool, remember_tool
from bot.agent.tools.registry import ToolContext, ToolRegistry
from bot.agent.tools.time_zones import find_place, find_places
from bot.errors import ToolRetry
from memory.library.working_memory import Observation, WorkingMemory
from memory.model import Scope
from tests.doubles.model import NOW, SCOPE, tool_call

SATURDAY = "Saturday 21 November 2026"


def context(memory: WorkingMemory | None = None) -> ToolContext:
    return ToolContext(scope=SCOPE, run_id="R", node_path="0.1", question="Q", memory=memory or WorkingMemory())


async def say(place: str | None, now: datetime = NOW) -> str:
    registry = ToolRegistry([clock_tool(lambda: now)])
    call = tool_call("clock") if place is None else tool_call("clock", place=place)
    return (await registry.run(call, context())).content


# Clock ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("Europe/Berlin", f"It is 11:00 on {SATURDAY} (Europe/Berlin, UTC+1)."),
        ("Etc/UTC", f"It is 10:00 on {SATURDAY} (UTC)."),
    ],
)
async def test_without_a_place_the_time_is_that_of_who_asks(zone: str, said: str) -> None:
    async def zone_of(scope: Scope) -> str:
        return zone if scope == SCOPE else "Asia/Tokyo"

    result = await ToolRegistry([clock_tool(lambda: NOW, zone_of)]).run(tool_call("clock"), context())
    assert result.content == said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (None, f"It is 10:00 on {SATURDAY} (UTC)."),
        ("", f"It is 10:00 on {SATURDAY} (UTC)."),
        ("utc", f"It is 10:00 on {SATURDAY} (UTC)."),
        ("Tokyo", f"It is 19:00 on {SATURDAY} in Tokyo (Asia/Tokyo, UTC+9)."),
        ("in tokyo?", f"It is 19:00 on {SATURDAY} in Tokyo (Asia/Tokyo, UTC+9)."),
        ("Tokyo, Japan", f"It is 19:00 on {SATURDAY} in Tokyo (Asia/Tokyo, UTC+9)."),
        ("asia/tokyo", f"It is 19:00 on {SATURDAY} in Tokyo (Asia/Tokyo, UTC+9)."),
        ("Japan", f"It is 19:00 on {SATURDAY} in Japan (Asia/Tokyo, UTC+9)."),
        ("new york", f"It is 05:00 on {SATURDAY} in New York (America/New_York, UTC-5)."),
        ("Sao Paulo", f"It is 07:00 on {SATURDAY} in Sao Paulo (America/Sao_Paulo, UTC-3)."),
        ("São Paulo", f"It is 07:00 on {SATURDAY} in Sao Paulo (America/Sao_Paulo, UTC-3)."),
        ("Mumbai", f"It is 15:30 on {SATURDAY} in Mumbai (Asia/Kolkata, UTC+5:30)."),
        ("Munich", f"It is 11:00 on {SATURDAY} in Munich (Europe/Berlin, UTC+1)."),
        ("the Netherlands", f"It is 11:00 on {SATURDAY} in Netherlands (Europe/Amsterdam, UTC+1)."),
        ("UK", f"It is 10:00 on {SATURDAY} in Britain (Europe/London, UTC)."),
        ("South Korea", f"It is 19:00 on {SATURDAY} in South Korea (Asia/Seoul, UTC+9)."),
        ("Calcutta", f"It is 15:30 on {SATURDAY} in Calcutta (Asia/Calcutta, UTC+5:30)."),
        ("UTC+5:45", f"It is 15:45 on {SATURDAY} in UTC+5:45."),
        ("gmt -3", f"It is 07:00 on {SATURDAY} in GMT-3."),
        ("UTC-12", "It is 22:00 on Friday 20 November 2026 in UTC-12."),
        ("UTC+14", "It is 00:00 on Sunday 22 November 2026 in UTC+14."),
        (
            "Tokyo, Mumbai and in the UK",
            f"It is 19:00 on {SATURDAY} in Tokyo (Asia/Tokyo, UTC+9).\n"
            f"It is 15:30 on {SATURDAY} in Mumbai (Asia/Kolkata, UTC+5:30).\n"
            f"It is 10:00 on {SATURDAY} in Britain (Europe/London, UTC).",
        ),
        ("Tokyo & tokyo", f"It is 19:00 on {SATURDAY} in Tokyo (Asia/Tokyo, UTC+9)."),
        (
            "Bosnia and Herzegovina",
            f"It is 11:00 on {SATURDAY} in Bosnia & Herzegovina (Europe/Sarajevo, UTC+1).",
        ),
        ("Kiritimati", "It is 00:00 on Sunday 22 November 2026 in Kiritimati (Pacific/Kiritimati, UTC+14)."),
    ],
)
async def test_the_time_anywhere(place: str | None, said: str) -> None:
    assert await say(place) == said


async def test_summer_time() -> None:
    july = datetime(2026, 7, 1, 10, 0, tzinfo=UTC)
    assert await say("Berlin", july) == "It is 12:00 on Wednesday 1 July 2026 in Berlin (Europe/Berlin, UTC+2)."


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("Tokio", "I know no place named 'Tokio'. Did you mean Tokyo?"),
        ("Tokyo and Utopia", "I know no place named 'Utopia'."),
        ("Utopia", "I know no place named 'Utopia'. Name a large city, a country or a zone (Europe/Paris)."),
        ("USA", "United States has several time zones. Name a city, for example New York, Chicago"),
        *((offset, "offsets go from") for offset in ("UTC+20", "UTC-12:01", "UTC-13", "UTC+14:30", "UTC+5:75")),
        ("../../etc/passwd", "I know no place"),
        ("\0", "I know no place"),
        ("x" * 10_000, "I know no place"),
    ],
)
async def test_an_unknown_place_is_told_with_suggestions(place: str, told: str) -> None:
    result = await ToolRegistry([clock_tool(lambda: NOW)]).run(tool_call("clock", place=place), context())
    assert told in result.content
    assert result.is_mistake
    assert len(result.content) < 300


@given(st.sampled_from(sorted(available_timezones())))
def test_every_zone_name_is_found(zone: str) -> None:
    found = find_place(zone)
    now = datetime(2026, 11, 21, tzinfo=UTC)
    assert now.astimezone(found.zone).utcoffset() == now.astimezone(ZoneInfo(zone)).utcoffset()


@given(st.text())
def test_no_place_breaks_the_clock(text: str) -> None:
    with contextlib.suppress(ToolRetry):
        assert find_place(text).label
    with contextlib.suppress(ToolRetry):
        assert find_places(text)


# Calculator -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("2+2", "2 + 2 = 4"),
        ("What is 2+2?", "2 + 2 = 4"),
        ("2+2=", "2 + 2 = 4"),
        ("15% of 80", "15% of 80 = 12"),
        ("200 + 10%", "200 + 10% = 220"),
        ("100 - 25%", "100 - 25% = 75"),
        ("100 * (1 + 19%)", "100 * (1 + 19%) = 119"),
        ("10 % 3", "10 % 3 = 1"),
        ("sqrt(2)", "sqrt(2) = 1.41421356237"),
        ("3 × 4 ÷ 2 − 1", "3 × 4 ÷ 2 − 1 = 5"),
        ("2^10", "2 ^ 10 = 1024"),
        ("2 ** -1", "2 ** -1 = 0.5"),
        ("1,234,567 + 1", "1,234,567 + 1 = 1,234,568"),
        ("1 000 000 * 2", "1 000 000 * 2 = 2000000"),
        ("max(1, 234)", "max(1, 234) = 234"),
        ("round(2.567, 2)", "round(2.567, 2) = 2.57"),
        ("0.1+0.2", "0.1 + 0.2 = 0.3"),
        ("1e-5*2", "1e-5 * 2 = 2e-05"),
        ("12 divided by 4", "12 divided by 4 = 3"),
        ("5 plus 3", "5 plus 3 = 8"),
        ("3x4", "3x4 = 12"),
        ("-3+-4", "-3 + -4 = -7"),
        ("7/2", "7 / 2 = 3.5"),
        ("sin(pi/2)", "sin(pi / 2) = 1"),
        ("factorial(20)", "factorial(20) = 2432902008176640000"),
        ("round(1250, -2)", "round(1250, -2) = 1200"),
        ("round(5, -500)", "round(5, -500) = 0"),
        ("round(5.25, 500)", "round(5.25, 500) = 5.25"),
    ],
)
async def test_calculations(typed: str, said: str) -> None:
    result = await ToolRegistry([calculator_tool()]).run(tool_call("calculator", expression=typed), context())
    assert (result.content, result.is_error) == (said, False)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "nothing to calculate"),
        ("???", "nothing to calculate"),
        ("1/0", "Division by zero"),
        ("5 % 0", "Division by zero"),
        ("9**9**9", "too large"),
        ("9999**99999999", "too large"),
        ("factorial(1000)", "too large"),
        ("2e400", "too large"),
        ("10**300 * 10**60", "too large"),
        ("exp(1000)", "too large"),
        ("(-8)**0.5", "not real"),
        ("log(-1)", "no result"),
        ("factorial(2.5)", "whole number"),
        ("1" * 201, "at most 200 characters"),
        ("two plus two", "cannot calculate"),
        ("2+", "cannot calculate"),
        ("()", "cannot calculate"),
        ("2pi", "cannot calculate"),
        ("5(3)", "cannot calculate"),
        ("1or 2", "cannot calculate"),
        ("1 == 1", "cannot calculate"),
        ("x = 3", "cannot calculate"),
        ("'a' * 3", "cannot calculate"),
        ("[1][0]", "cannot calculate"),
        ("lambda: 3", "cannot calculate"),
        ("min()", "cannot calculate"),
        ("__import__('os').system('true')", "cannot calculate"),
        ("sqrt.__class__", "cannot calculate"),
        ("(1).__class__", "cannot calculate"),
        ("1; 2", "cannot calculate"),
        ("(" * 150, "cannot calculate"),
    ],
)
async def test_what_cannot_be_calculated_is_told(typed: str, told: str) -> None:
    result = await ToolRegistry([calculator_tool()]).run(tool_call("calculator", expression=typed), context())
    assert told in result.content
    assert result.is_mistake


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.sampled_from("+-*"))
def test_whole_numbers_are_exact(a: int, b: int, sign: str) -> None:
    expected = {"+": a + b, "-": a - b, "*": a * b}[sign]
    assert calculate(f"({a}) {sign} ({b})").rpartition(" = ")[2] == str(expected)


pieces = st.sampled_from(
    ["1", "2.5", "e", "pi", "sqrt(", "(", ")", "+", "-", "*", "/", "**", "%", " of ", ",", "max(", ".", "x", " "]
)


@given(st.text(max_size=60) | st.lists(pieces, max_size=20).map("".join))
def test_no_expression_breaks_the_calculator(text: str) -> None:
    with contextlib.suppress(ToolRetry):
        value = calculate(text).rpartition(" = ")[2]
        assert math.isfinite(float(value.replace(",", "")))


# Notes ------------------------------------------------------------------------------------------------------------


async def test_what_is_remembered_is_recalled_by_any_node() -> None:
    board = WorkingMemory()
    registry = ToolRegistry([remember_tool(lambda: NOW), recall_tool()])
    noted = await registry.run(tool_call("remember", key=" door  code ", value="4711"), context(board))
    assert noted.content == "Noted under 'door code' until this question is answered."
    assert board.entries() == [Observation(key="door code", value="4711", node="0.1", at=NOW)]
    assert (await registry.run(tool_call("recall", key="Door Code"), context(board))).content == "4711"


async def test_an_unknown_key_is_told_with_the_known_ones() -> None:
    board = WorkingMemory()
    registry = ToolRegistry([recall_tool()])
    missing = await registry.run(tool_call("recall", key="door"), context(board))
    assert missing.content == "No note under 'door'. There are none."
    board.store("window", "open")
    missing = await registry.run(tool_call("recall", key="door"), context(board))
    assert missing.content == "No note under 'door'. There is 'window'."
    assert missing.is_mistake


@pytest.mark.parametrize(("key", "value"), [(" ", "v"), ("k", " "), ("k" * 101, "v"), ("k", "v" * 8_001)])
async def test_empty_and_huge_notes_are_refused(key: str, value: str) -> None:
    board = WorkingMemory()
    registry = ToolRegistry([remember_tool(lambda: NOW)])
    result = await registry.run(tool_call("remember", key=key, value=value), context(board))
    assert result.is_mistake
    assert board.keys() == []


def test_a_note_is_never_the_answer() -> None:
    assert not remember_tool(lambda: NOW).is_informative
    assert recall_tool().is_informative


def test_every_built_in_says_what_people_say() -> None:
    for tool in (clock_tool(lambda: NOW), calculator_tool(), remember_tool(lambda: NOW), recall_tool()):
        assert "For example: " in tool.description
