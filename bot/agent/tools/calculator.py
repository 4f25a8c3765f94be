"""The tool `calculator`: arithmetic as people type it, evaluated by simpleeval (no `eval`, only the names below)."""

import math
import operator
import re
import sys
from ast import Add, Div, FloorDiv, Mod, Mult, Pow, Sub, UAdd, USub
from collections.abc import Callable

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.errors import ToolRetry

MAX_CHARACTERS = 200
_MAX_DIGITS = 300
"""The most digits of a whole number, close to the limit of floats (about 1.8e308)."""
_MAX_FACTORIAL = 150
_MAX_PLACES = 400
"""Rounding to more places, before or after the point, has no further effect."""

_SYMBOLS = str.maketrans({"×": "*", "·": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "π": "pi", "’": "'"})
_WORDS = {
    r"plus": "+",
    r"minus": "-",
    r"times|multiplied by": "*",
    r"divided by|over": "/",
    r"to the power of": "**",
}
_LEAD = re.compile(r"^(?:please\s+)?(?:what\s+is|what's|how\s+much\s+is|calculate|compute|evaluate)\s+", re.IGNORECASE)
_NUMBER = r"\d+(?:\.\d+)?"
_SEVERAL_ARGUMENTS = re.compile(r"\b(?:min|max|round|log|pow)\s*\(")
_ALLOWED = re.compile(r"[0-9a-z_.,+\-*/%() ]*")
_STICKY = re.compile(r"\d(?!e[+-]?\d)[a-z_]|\)\s*[\da-z(]", re.IGNORECASE)


class _TooLarge(ValueError):
    """The result would have more than `_MAX_DIGITS` digits."""


def _power(base: float, exponent: float) -> float:
    if abs(base) > 1 and exponent * math.log10(abs(base)) > _MAX_DIGITS:
        raise _TooLarge
    result: float | complex = base**exponent
    if isinstance(result, complex):
        raise ValueError("an even root of a negative number is not real")
    return result


def _product(one: float, other: float) -> float:
    result = one * other
    if isinstance(result, int) and result.bit_length() > _MAX_DIGITS * 4:
        raise _TooLarge
    return result


def _factorial(number: float) -> int:
    if number > _MAX_FACTORIAL:
        raise _TooLarge
    if number != int(number):
        raise ValueError("factorial needs a whole number")
    return math.factorial(int(number))


def _round(number: float, digits: float = 0) -> float:
    # Python computes 10 to the power of any number of places.
    places = int(max(-_MAX_PLACES, min(_MAX_PLACES, digits)))
    return round(number, places) if places else round(number)


_OPERATORS: dict[type, Callable[..., float]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mult: _product,
    Div: operator.truediv,
    FloorDiv: operator.floordiv,
    Mod: operator.mod,
    Pow: _power,
    USub: operator.neg,
    UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "exp": math.exp,
    "factorial": _factorial,
    "floor": math.floor,
    "ln": math.log,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": max,
    "min": min,
    "pow": _power,
    "round": _round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}
_NAMES = {"pi": math.pi, "e": math.e, "tau": math.tau}


def calculator_tool() -> Tool:
    """The tool `calculator`."""

    @text_tool("calculator", {"expression": text_property("the arithmetic alone, for example 15% of 80")})
    async def calculator(_: ToolContext, expression: str) -> str:
        """Calculates: + - * / ^, percentages, parentheses, sqrt, round, log, sin and the like.

        For example: what is 2+2?; how much is 15% of 80?; calculate sqrt(2) * 12
        """
        return calculate(expression)

    return calculator


def calculate(text: str) -> str:
    """Question and result: `2 + 2 = 4`. Raises `ToolRetry` if it is no arithmetic, undefined or too large."""
    question = _LEAD.sub("", " ".join(text.split())).rstrip(" =?!.")
    if not question:
        raise ToolRetry("There is nothing to calculate. Give the arithmetic alone, for example 15% of 80.")
    if len(question) > MAX_CHARACTERS:
        raise ToolRetry(f"I calculate at most {MAX_CHARACTERS} characters at once.")
    return f"{_spaced(question)} = {_shown(_evaluated(_expression(question)), question)}"


def _expression(question: str) -> str:
    """The arithmetic that people typed, in Python's syntax."""
    text = question.translate(_SYMBOLS).casefold()
    for words, symbol in _WORDS.items():
        text = re.sub(rf"(?<=[\d)%])\s+(?:{words})\s+(?=[\d(.-])", f" {symbol} ", text)
    text = re.sub(r"(?<=[\d)])\s*x\s*(?=[\d(])", "*", text).replace("^", "**")
    text = re.sub(r"(?<=\d)['_ ](?=\d{3}(?!\d))", "", text)
    if not _SEVERAL_ARGUMENTS.search(text):
        text = re.sub(r"\b\d{1,3}(?:,\d{3})+(?!\d)", lambda match: match[0].replace(",", ""), text)
    # "200 + 10%" adds a tenth of 200, as every pocket calculator does.
    text = re.sub(rf"^(.+?)\s*([+-])\s*({_NUMBER})\s*%$", r"(\1) * (1 \2 \3/100)", text)
    text = re.sub(rf"({_NUMBER})\s*%\s*of\s+", r"(\1/100) * ", text)
    return re.sub(rf"({_NUMBER})\s*%(?=\s*(?:[-+*/)]|$))", r"(\1/100)", text)


def _evaluated(expression: str) -> float:
    from simpleeval import InvalidExpression, SimpleEval

    if not _ALLOWED.fullmatch(expression) or _STICKY.search(expression):
        raise ToolRetry(_not_arithmetic(expression))
    evaluator = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=_NAMES)
    try:
        value = evaluator.eval(expression)
    except ZeroDivisionError as error:
        raise ToolRetry("Division by zero has no result.") from error
    except (_TooLarge, OverflowError) as error:
        raise ToolRetry(f"The result is too large: I calculate up to {_MAX_DIGITS} digits.") from error
    except ValueError as error:
        raise ToolRetry(f"This has no result: {error}.") from error
    except (InvalidExpression, SyntaxError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ToolRetry(_not_arithmetic(expression)) from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolRetry(_not_arithmetic(expression))
    if not abs(value) <= sys.float_info.max:  # NaN fails this, too
        raise ToolRetry(f"The result is too large: I calculate up to {_MAX_DIGITS} digits.")
    return value


def _not_arithmetic(expression: str) -> str:
    return f"I cannot calculate {expression!r}. Give the arithmetic alone, for example 15% of 80 or sqrt(2) * 3."


def _shown(value: float, question: str) -> str:
    """A number with 12 significant digits; grouped by thousands if the question was."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int):
        return f"{value:,}" if re.search(r"\d,\d{3}", question) else str(value)
    return f"{value:.12g}"


def _spaced(question: str) -> str:
    return re.sub(r"(?<=[\w)%])(?<!\de)\s*(\*\*|//|[-+*/×÷^−])\s*", r" \1 ", question)
