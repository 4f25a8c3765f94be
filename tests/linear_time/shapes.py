"""Kinds of text that can be grown to any length, from plain prose to what is made to take long."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of text. `make` returns about as many characters as it is asked for."""

    name: str
    make: Callable[[int], str]


_CHARACTERS = (
    " \n\t\r\u00a0\u2028aA09-.,()[]{}<>`*_~|#:;/\\'\"’“@!?&%+=^$§é½İßﬃ\u0301\u200d\ufe0f\u00ad\u202e\x00中日אع😀👍²"
    "\u0130\U0001f1e6"
)
"""Each of them is repeated."""

_UNITS = (
    *(
        "ab",
        "aA",
        "a ",
        "A ",
        " a",
        "a\n",
        "A\n",
        "\n ",
        " \n",
        "\n\n",
        "\t ",
        "a-",
        "A-",
        "A.",
        "a.",
        "a,",
        "a/",
        "a'",
    ),
    *(
        "a’",
        "A’s ",
        "A b ",
        "A of ",
        "A the and ",
        "é\u0301",
        "e\u0301",
        "👍\ufe0f",
        "👍🏽",
        "👩\u200d👩\u200d",
        "中 ",
        "א ",
    ),
    *(
        "0-",
        "0 ",
        "1 ",
        "1,",
        "1.",
        "1,1,",
        "1.1.",
        "1-1-",
        "000-",
        "1/",
        "1:",
        "1%",
        "1 + ",
        "1+",
        "1*",
        "2**",
        "9**9**",
    ),
    *(
        "1 % of ",
        "1 x ",
        "half of 1 ",
        "-1 ",
        "- ",
        "+ ",
        "* ",
        "1. ",
        "( ",
        "(1",
        "1)",
        "()",
        "(1)(",
        "((1+",
        "sqrt(",
        "pi ",
    ),
    *(
        "factorial(",
        "sum of 1 and ",
        "twelve plus ",
        "<>",
        "</",
        "< ",
        "<a ",
        "[]",
        "[ ",
        "[x](",
        "](",
        "](http://",
        "![",
        "{}",
    ),
    *(
        '{"a":',
        '["',
        "**a",
        "**a** ",
        "*a ",
        "_a_",
        "__a ",
        "~~a",
        "||a",
        "`a",
        "`a` ",
        "``",
        "```\n",
        "```a\n",
        "~~~\n",
    ),
    *(
        "> ",
        ">\n",
        ">>> ",
        "# ",
        "#\n",
        "## a #",
        "| a ",
        "|-",
        "|\n",
        "---\n",
        "- a\n",
        "1. a\n",
        "    a\n",
        "\\*",
        "\\\\",
    ),
    *(
        "https://a.b/",
        "https://",
        "http://a?b=c&",
        "www.a.",
        "a@b.",
        "a@b.c ",
        "@a ",
        "@everyone ",
        "#a ",
        "<@U1>",
        "<@",
        "<#C1|",
    ),
    *(
        "<!here> ",
        "<https://a.b|",
        "<a|b>",
        "<:a:1>",
        "&lt;",
        "&amp;",
        "&",
        "&#1;",
        ":smile:",
        ":a",
        "::",
        "a=",
        "a = ",
        "a:",
    ),
    *(
        "key: ",
        "key=",
        "token ",
        "password ",
        "password: ",
        "password is ",
        "the password is",
        "sk-",
        "xoxb-",
        "AKIA",
        "eyJ",
    ),
    *("eyJ.", "-----BEGIN ", "Bearer ", "Do this instead: ", "Answer: ", "1. REPEAT: a: 'b'\n", "</goal>", "<goal>\n"),
    *(
        "<lessons>\n",
        "</lessons>\n",
        "<tool-output ",
        "Think: ",
        "Act: a {",
        "Expand: sequence: a|",
        "a | ",
        "ignore all ",
    ),
    *(
        "previous instructions ",
        "system: ",
        "room 5 ",
        "a b ",
        "no ",
        "no, ",
        "not ",
        "is not ",
        "isn't ",
        "never ",
        "and ",
    ),
    *(
        "and then ",
        ", and ",
        "then ",
        "or else ",
        "if that fails ",
        "otherwise ",
        "but ",
        "the ",
        "a the ",
        "of ",
        "in ",
        "in the ",
    ),
    *(
        "at ",
        "for ",
        "In A",
        "time ",
        "A time ",
        "what time is it in ",
        "right now ",
        "about ",
        "about the ",
        "about a",
        "is ",
    ),
    *(
        " is ",
        ": a ",
        "is the ",
        "what is ",
        "what's ",
        "who ",
        "please ",
        "please can you ",
        "hey ",
        "between ",
        "also ",
        "first ",
    ),
    *(
        "? ",
        "?!",
        ". ",
        "...",
        "a. ",
        "A. B ",
        "what is a? ",
        "tell me ",
        "remember ",
        "remember that ",
        "remember a is ",
    ),
    *(
        "search ",
        "search the ",
        "search the docs ",
        "docs ",
        "documents ",
        "for about ",
        "in through ",
        "knowledge base ",
    ),
    *(
        "for example ",
        "e.g.",
        "; ",
        '"a',
        '"a" ',
        "“a",
        "“a” ",
        "'a",
        "'a' ",
        "«a», ",
        "page 1 ",
        "yes ",
        "0.1 ",
        "2026-11-22 ",
    ),
    *(
        "12/11/26 ",
        "24/7 ",
        "+49 ",
        "0170 ",
        "123-4567 ",
        "A1-",
        "x1 ",
        "UTC+1 ",
        "Tokyo, ",
        "a_b",
        "a.b.c ",
        "/a/b",
        "C:\\a",
    ),
)
"""Each of them is repeated, too."""

_STARTED = {
    "remember": ("remember ", "a "),
    "remember that": ("remember that ", "a is "),
    "remember, spaces": ("remember", " "),
    "remember, spaced words": ("remember ", "a    "),
    "note, equals": ("note ", "a="),
    "search docs": ("search ", "docs "),
    "search the docs": ("search the ", "docs "),
    "search the docs for": ("search the docs for ", "a. "),
    "search, folded": ("please search for me in the ", "knowledge "),
    "about": ("tell me about ", "a. "),
    "about, marks": ("about a", "!? "),
    "about, spaces": ("about the ", "  "),
    "time in": ("what time is it in ", "A-"),
    "time in words": ("what time is it in ", "a-b "),
    "time in, spaces": ("what time is it in", " "),
    "sum": ("what is ", "1 + "),
    "brackets": ("calculate ", "("),
    "brackets around a number": ("calculate 1+", "(1"),
    "powers": ("what is 9", "**9"),
    "digits": ("what is ", "9"),
    "percent": ("what is 1%", " "),
    "password": ("the password is", " "),
    "password, quoted": ("the password is ", "'\" "),
    "key, spaces": ("api_key", " "),
    "key, equals": ("api_key =", "="),
    "bearer": ("Authorization: Bearer ", "a"),
    "private key": ("-----BEGIN PRIVATE KEY-----\n", "a\n"),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.", "eyJ."),
    "web address": ("https://a.b/", "a/"),
    "web address with a name": ("https://", "a:b@"),
    "link": ("[", "a["),
    "link's target": ("[a](http://", "a("),
    "Slack link": ("<https://a.b/|", "a|"),
    "mention": ("<@U1|", "a"),
    "fence": ("```\n", "a\n"),
    "fence, fences": ("````\n", "```\n"),
    "bold": ("**", "a *"),
    "bold, words": ("**", "a "),
    "quote": ('"', "a and "),
    "quote, single": ("'", "a "),
    "code": ("`", "a "),
    "table": ("| a | b |\n|---|---|\n", "| a | b |\n"),
    "heading": ("# a", " #"),
    "heading, spaces": ("# a", " "),
    "correction": ("no, it's ", "a "),
    "negation": ("the room is not ", "open and "),
    "act": ("Act: a ", '{"a": '),
    "act, fence": ("Act: a ```", " "),
    "label": ("", "> * _ "),
    "expand": ("Expand: ", "a "),
    "lesson": ("<lessons>\n1. REPEAT: ", "[a] "),
    "goal": ("<goal>\n", "</goal>\n"),
    "JSON list": ("Act: a ", "["),
    "subject": ("what is ", "the "),
    "pair": ("the difference between ", "what is a and "),
    "hexadecimal": ("trace id ", "0"),
    "hexadecimal letters": ("trace id ", "0a1b2c"),
    "order": ("find order ", "20261122093000123456789012"),
}
"""A beginning, and what is repeated behind it."""

_TAILS = ("X", "abc", "!", " is ", ")")
"""What stands at the end, so that a pattern that came so far fails there."""


def _repeated(unit: str, start: str = "", end: str = "") -> Callable[[int], str]:
    def make(n: int) -> str:
        room = max(n - len(start) - len(end), 0)
        return start + unit * (room // len(unit) + 1) + end

    return make


def _joined(word: Callable[[int], str], separator: str) -> Callable[[int], str]:
    """Words that differ, by their number."""

    def make(n: int) -> str:
        parts: list[str] = []
        length = 0
        for number in count():
            parts.append(word(number))
            length += len(parts[-1]) + len(separator)
            if length >= n:
                break
        return separator.join(parts)

    return make


def _letters(separator: str) -> Callable[[int], str]:
    """`A-B-C-...-X`: capital letters, one after another."""
    return _joined(lambda number: chr(ord("A") + number % 26), separator)


def _spelled(number: int) -> str:
    """A word of letters alone for each number."""
    digits = ""
    while True:
        digits += chr(ord("a") + number % 26)
        number //= 26
        if not number:
            return f"w{digits}"


def _halved(start: str, end: str) -> Callable[[int], str]:
    """`(((...)))`: as many openings as closings."""
    return lambda n: start * (n // (2 * len(start)) + 1) + end * (n // (2 * len(end)) + 1)


_PROSE = (
    "On Tuesday the office in Berlin opens at 9, and the one in São Paulo at 10:30. Ask Ana (extension 4711) about the "
    "keys; she isn't there on Fridays. What does the handbook say about sick days? It's 15% of 80 hours, i.e. 12.\n\n"
)
_CODE = "def add(one: int, other: int) -> int:\n    # the sum\n    return {'sum': one + other}['sum']\n\n"
_WHOLE: dict[str, Callable[[int], str]] = {
    "prose": _repeated(_PROSE),
    "program": _repeated(_CODE),
    "program in a fence": _repeated(_CODE, "```python\n", "```"),
    "distinct words": _joined(_spelled, " "),
    "distinct lines": _joined(_spelled, "\n"),
    "distinct names": _joined(lambda number: _spelled(number).capitalize(), " "),
    "distinct sentences": _joined(lambda number: f"The {_spelled(number)} is not {_spelled(number + 1)}", ". "),
    "distinct lessons": _joined(lambda number: f"what is {_spelled(number)}", " and then "),
    "distinct numbers": _joined(str, " "),
    "distinct numbers, summed": _joined(str, " + "),
    "distinct emoji": _joined(lambda number: chr(0x1F300 + number % 0x2FF), ""),
    "distinct emoji, spaced": _joined(lambda number: chr(0x1F300 + number % 0x2FF), " "),
    "distinct ideographs": _joined(lambda number: chr(0x4E00 + number % 0x5000), ""),
    "distinct characters": _joined(lambda number: chr(0xA1 + number % 0xD000), ""),
    "distinct links": _joined(lambda number: f"[{_spelled(number)}](https://a.b/{number})", " "),
    "distinct mentions": _joined(lambda number: f"<@U{number}>", " "),
    "distinct emoji names": _joined(lambda number: f":{_spelled(number)}:", " "),
    "distinct settings": _joined(lambda number: f"{_spelled(number)}={number}", "\n"),
    "one long word, then words": lambda n: "a" * (n // 2) + " a" * (n // 4),
    "words, then spaces": lambda n: "a " * (n // 4) + " " * (n // 2) + "x",
    "lines, then words": lambda n: "\n" * (n // 2) + "word " * (n // 10),
    "letter with many accents": lambda n: "e" + "\u0301" * (n - 1),
    "letter with accents out of order": lambda n: "e" + "\u0301\u0323" * (n // 2),
    "brackets in brackets": _halved("(", ")"),
    "brackets around a sum": lambda n: "(" * (n // 2) + "1+1" + ")" * (n // 2),
    "square brackets in brackets": _halved("[", "]"),
    "quotations in quotations": _halved("> ", "\n"),
    "objects in objects": lambda n: "Act: a " + '{"a":' * (n // 6) + "1" + "}" * (n // 6),
    "capital letters with hyphens": _letters("-"),
    "capital letters with spaces": _letters(" "),
    "capital letters with points": _letters("."),
    "capital letters with slashes": _letters("/"),
    "small and capital letters": _joined(lambda number: "Aa"[number % 2] * 3, "-"),
}


def _named(character: str) -> str:
    return f"U+{ord(character):04X}"


def _shapes() -> tuple[Shape, ...]:
    made = [Shape(name, make) for name, make in _WHOLE.items()]
    made += [Shape(f"{_named(one)} again and again", _repeated(one)) for one in dict.fromkeys(_CHARACTERS)]
    made += [Shape(f"{unit!r} again and again", _repeated(unit)) for unit in dict.fromkeys(_UNITS)]
    made += [Shape(f"{name}: {start!r}, {unit!r}", _repeated(unit, start)) for name, (start, unit) in _STARTED.items()]
    made += [
        Shape(f"{name}: {start!r}, {unit!r}, {tail!r}", _repeated(unit, start, tail))
        for position, (name, (start, unit)) in enumerate(_STARTED.items())
        for tail in (_TAILS[position % len(_TAILS)], "X")
    ]
    made += [
        Shape(
            f"{unit!r} again and again, {_TAILS[position % len(_TAILS)]!r}",
            _repeated(unit, "", _TAILS[position % len(_TAILS)]),
        )
        for position, unit in enumerate(dict.fromkeys(_UNITS))
    ]
    return tuple({shape.name: shape for shape in made}.values())


SHAPES = _shapes()
