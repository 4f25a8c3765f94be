"""What two texts have in common as answers, and which action a text tells to take."""

import re
from collections.abc import Iterable

SAME_WORDS = 0.8
"""Share of all words of two answers that both must have to say the same."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_DIGIT = re.compile(r"\d")
_ORDER = r"(?:use|try|call|run|take|ask|check)"


def is_same_answer(one: str, other: str) -> bool:
    """Whether two answers say the same: the same words in the main, and every number alike ("page 101", "page 102")."""
    first, second = _WORD.findall(one.casefold()), _WORD.findall(other.casefold())
    if first == second:
        return True
    if sorted(filter(_DIGIT.search, first)) != sorted(filter(_DIGIT.search, second)):
        return False
    words, others = set(first), set(second)
    return len(words & others) >= SAME_WORDS * len(words | others)


def named_action(text: str, actions: Iterable[str]) -> str:
    """The action a text tells to take ("use the calculator", "search knowledge"); empty for any other text."""
    spoken = " ".join(_WORD.findall(text.casefold()))
    for action in actions:
        name = " ".join(_WORD.findall(action.casefold()))
        if name and re.search(rf"^(?:the )?{name}(?: tool)?$|\b{_ORDER} (?:the )?{name}\b", spoken):
            return action
    return ""
