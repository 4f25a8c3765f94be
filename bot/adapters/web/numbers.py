"""Numbers that browsers and programs send as text."""

import re

_DIGITS = re.compile(r"[0-9]{1,9}")


def whole_number(text: str) -> int | None:
    """The number of one to nine digits; None for any other text. Python refuses to read numbers of 4,300 digits."""
    return int(text) if _DIGITS.fullmatch(text) else None
