"""Finds the calculation in a sentence: "what is twelve plus 15 percent of 80, please?" has `12 + 15% of 80`."""

import re

_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_TO_TWENTY.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "eighty": "80",
    "ninety": "90",
    "hundred": "100",
}

# Possessive, so that a number cannot be matched as several, which would make matching slow.
_N = r"(\d[\d,]*+(?:\.\d++)?%?)"
_AFTER_NUMBER = r"(?:(?<=\d)|(?<=\d[,%]))\s*+"
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"[×✕]|(?<=[\d)%])\s*x\s*(?=[\d(])", " * "),
        (r"÷", " / "),
        (r"[−–](?=\s*\d)", "-"),
        (r"(?<=\d)\s*(?:percent|per cent)\b", "%"),
        (rf"\bhalf of\s+{_N}", r"50% of \1"),
        (rf"\bthe\s+(?=(?:square\s+)?root\b|{_N})", ""),
        (rf"\b(?:square\s+root|root)\s+(?:of\s+)?(?:\(\s*)?{_N}\s*\)?", r"sqrt(\1)"),
        (rf"{_AFTER_NUMBER}(?:squared|²)", " ^ 2"),
        (rf"{_AFTER_NUMBER}(?:cubed|³)", " ^ 3"),
        (r"(?<=[\d)%])\s*to the power of\s*(?=[\d(])", " ^ "),
        (rf"\badd\s+{_N}\s+(?:and|to)\s+{_N}", r"\1 + \2"),
        (rf"\bsum of\s+{_N}\s+and\s+{_N}", r"\1 + \2"),
        (rf"\bsubtract\s+{_N}\s+from\s+{_N}", r"\2 - \1"),
        (rf"\bdifference\s+(?:of|between)\s+{_N}\s+and\s+{_N}", r"\1 - \2"),
        (rf"\bmultiply\s+{_N}\s+(?:by|with|and)\s+{_N}", r"\1 * \2"),
        (rf"\bproduct of\s+{_N}\s+and\s+{_N}", r"\1 * \2"),
        (rf"\bdivide\s+{_N}\s+by\s+{_N}", r"\1 / \2"),
        (r"(?<=[\d)%])\s*plus\s*(?=[\d(a-z-])", " + "),
        (r"(?<=[\d)%])\s*minus\s*(?=[\d(a-z-])", " - "),
        (r"(?<=[\d)%])\s*(?:times|multiplied by)\s*(?=[\d(a-z-])", " * "),
        (r"(?<=[\d)%])\s*(?:divided by|over)\s*(?=[\d(a-z-])", " / "),
    )
)
_FUNCTION = r"(?:sqrt|round|abs|log(?:10|2)?|ln|exp|sin|cos|tan|floor|ceil|factorial|min|max)(?=\s*\()"
_TOKEN = rf"(?>\d[\d,]*(?:\.\d+)?|\.\d+|\*\*|//|[-+*/%^(),]|(?<=%)\s*of\b|{_FUNCTION}|pi\b)"
_SPAN = re.compile(rf"(?<![\w.])(?<!\d,)(?<!,,){_TOKEN}(?>\s*{_TOKEN})*(?!\w)", re.IGNORECASE)
_OPERATION = re.compile(
    rf"[\d)%i]\s*(?:\*\*|//|[-+*/^%])\s*+[-+(]*+\s*+(?:\d|pi\b|{_FUNCTION})|%\s*of\s*[\d(]|{_FUNCTION}\s*\(",
    re.IGNORECASE,
)
_NOT_ARITHMETIC = re.compile(
    r"\d{4}-\d\d?(?:-\d\d?)?|\d\d?/\d\d?/\d{2,4}|24/7|"  # dates, round the clock
    r"\+[\d ]+|0\d+(?:[- ]\d+)+|\d{3}-\d{4,}|\d{3,}(?:-\d{3,}){2,}"  # telephone numbers
)
_UNFINISHED = re.compile(r"(?<![\s,+*/^(-])[\s,+*/^(-]++\Z")
_LONGEST = 300


def find_expression(text: str) -> str:
    """The calculation in `text` in the calculator's notation; empty if there are several or none.

    Dates and telephone numbers are no calculations.
    """
    if len(text) > _LONGEST:
        return ""
    found = [_balanced(span[0]) for span in _SPAN.finditer(_rewrite(text))]
    calculations = [one for one in found if _OPERATION.search(one) and not _NOT_ARITHMETIC.fullmatch(one)]
    return " ".join(calculations[0].split()) if len(calculations) == 1 else ""


def without_expression(text: str) -> str:
    """The text without its calculations."""
    return _SPAN.sub(" ", _rewrite(text))


def _rewrite(text: str) -> str:
    text = re.sub(r"[A-Za-z]+", lambda word: _NUMBER_WORDS.get(word[0].casefold(), word[0]), text)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def _balanced(span: str) -> str:
    """The span without operators and commas at its end, and with the brackets that it lacks.

    An unmatched bracket around all of it belongs to the sentence.
    """
    expression = _UNFINISHED.sub("", span.strip(" ,"))
    opened, closed = list[int](), list[int]()
    for place, character in enumerate(expression):
        if character == "(":
            opened.append(place)
        elif character == ")" and opened:
            opened.pop()
        elif character == ")":
            closed.append(place)
    first, last = len(expression) - len(expression.lstrip("( ")), len(expression.rstrip(") "))
    around = {place for place in opened if place < first} | {place for place in closed if place >= last}
    kept = "".join(character for place, character in enumerate(expression) if place not in around)
    missing = sum(place not in around for place in closed), sum(place not in around for place in opened)
    return f"{'(' * missing[0]}{kept}{')' * missing[1]}".strip()
