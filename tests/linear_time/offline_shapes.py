"""Short texts that once took for ever, and what the offline model takes for the beginning of a request."""

from collections.abc import Callable

from tests.linear_time.shapes import Shape


def _exactly(text: str) -> Callable[[int], str]:
    return lambda _: text


def _letters(count: int) -> str:
    return "-".join(chr(ord("A") + number % 26) for number in range(count))


def _grown(start: str, unit: str, end: str) -> Callable[[int], str]:
    return lambda n: start + unit * ((n - len(start) - len(end)) // len(unit)) + end


SHAPES: tuple[Shape, ...] = (
    *(Shape(f"{count} letters with hyphens", _exactly(_letters(count))) for count in (24, 34, 1000)),
    *(Shape(f"time in {count} letters", _exactly(f"what time is it in {_letters(count)}")) for count in (24, 34, 1000)),
    Shape("trace id", _exactly("trace id 00000000000000000000000000000abc")),
    Shape("order with a letter", _exactly("find order 20261122093000123456789012X")),
    Shape("rounding to many places", _exactly("round(5, -10**9)")),
    Shape("asked nicely, again and again", _grown("", "can you please ", "!")),
    Shape("asked nicely, and to do nothing", _grown("tell me a and ", "would you please ", "X")),
    Shape("numbers with commas", _grown("", "1,", "1X")),
    Shape("remember, separators", _grown("remember that the key ", "is = : ", "")),
    Shape("remember, spaces around", _grown("note that a", " ", "is b")),
    Shape("search, marks", _grown("search the docs for a", "?! ", "a")),
    Shape("a quote, spaces after", _exactly(f'say "a"{" " * 40_000}a')),
    Shape("signs, then words", _grown("", "!", " where is the key")),
    Shape("about, marks again", _grown("tell me about a", ". ! ", "a")),
)
