"""Texts that a reader of prose, Markdown or secrets took more than linear time for, each for another reason."""

from collections.abc import Callable

from tests.linear_time.shapes import Shape


def _numbered(unit: str) -> Callable[[int], str]:
    """A text of units that differ by their number in letters (`{word}`) or digits (`{number}`)."""

    def make(n: int) -> str:
        count = n // (len(unit) + 2) + 1
        return "".join(unit.format(word=_letters(number), number=number) for number in range(count))

    return make


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _repeated(unit: str, start: str = "", end: str = "") -> Callable[[int], str]:
    return lambda n: start + unit * (max(n - len(start) - len(end), 0) // len(unit) + 1) + end


def _table(head: str, rule: str, row: str) -> Callable[[int], str]:
    """Half of the text is the first two lines, half of it rows."""
    return lambda n: f"{head * (n // 8)}|\n{rule * (n // 8)}|\n{row * (n // 2 // len(row))}"


def _rows_of_ticks(n: int) -> str:
    return " ".join("`" * (1 + number % 60) for number in range(n // 31))


_MADE: dict[str, Callable[[int], str]] = {
    # the detector
    "harmless denials": _repeated("no problem "),
    "without, and small words": _repeated("without the "),
    "without small words' end": _repeated("the ", "without "),
    "distinct numbers beside words": _numbered("{number} w{word} "),
    "distinct words that begin alike": _numbered("begin{word} "),
    "distinct words that end alike": _numbered("{word}ing "),
    "distinct compounds with one part": _numbered("part-b{word} "),
    "marks and brackets": _repeated("..)", "", "x"),
    "a word of letters that change in a stem": _repeated("ay"),
    "accents and half-width marks": _repeated("\uff9e\u0301\u0323", "e"),
    "accents of three kinds": _repeated("\u0345\u0301\u0323", "e"),
    # the quarantine
    "cues in one word": _repeated("игнорируй"),
    "cues and words": _repeated("ignore all your previous "),
    "a heading of a prompt and spaces": _repeated(" ", "## system", "x"),
    "tag and spaces": _repeated(" ", "</", "lesson"),
    # thoughts
    "lines of blanks": _repeated(" " * 40 + "\n"),
    "ends of thoughts and spaces": _repeated(" ", "</think>", "x"),
    "ends of thoughts": _repeated("</think> x\n"),
    # secrets
    "password, colon and spaces": _repeated(" ", "the password is :"),
    "passwords without a value": _repeated("password is: "),
    "beginnings of a web token": _repeated("eyJ-"),
    "beginnings of a key": _repeated("sk-a-"),
    "a key's mark": _repeated("T3BlbkFJ", "sk-"),
    "ends of a private key": _repeated("-----END A ", "-----BEGIN PRIVATE KEY-----"),
    "quoted backslashes": _repeated("\\'", "'"),
    # Markdown
    "unended mentions": _repeated("&lt;!a|"),
    "references of characters": _repeated("9", "&#"),
    "underscores": _repeated("__a "),
    "brackets behind an address": _repeated(")", "https://a.b/"),
    "brackets and words behind an address": _repeated(")a", "https://a.b/"),
    "waves and a tick": _repeated("~", "", "`"),
    "deep heading and spaces": _repeated(" ", "#### a", "x"),
    "rows of ticks": _rows_of_ticks,
    "code of many words": _repeated("a ", "`", "`"),
    "label of many words": _repeated("a ", "[", "](https://a.b)"),
    "wide table with narrow rows": _table("|a", "|-", "|b|\n"),
    "table with one wide cell": lambda n: f"|{'a' * (n // 2)}|b|\n|-|-|\n" + "|c|d|\n" * (n // 12),
    "rules of tables": _repeated("|-|\n", "", "x\n"),
    "code in a list": _repeated("    a\n", "  - ```\n"),
    "open code in lists": _repeated("  - ```\n    a\n"),
    "flags": _repeated("\U0001f1eb\U0001f1f7"),
    "half a flag more": _repeated("\U0001f1eb\U0001f1f7", "\U0001f1eb"),
    "accents behind spaces": _repeated(" \u0301"),
}

SHAPES = tuple(Shape(name, make) for name, make in _MADE.items())
