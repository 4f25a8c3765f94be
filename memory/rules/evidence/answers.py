"""Which action a text tells to take."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_LONGEST = 200
"""Characters of a text that names an action; a longer one is an answer, whatever it mentions."""
_ORDER = r"(?:use|try|call|run|take|ask|check)"


def named_action(text: str, actions: Iterable[str]) -> str:
    """The action a text tells to take ("use the calculator", "search knowledge"); empty for any other text."""
    if len(text) > _LONGEST:
        return ""
    spoken = " ".join(_WORD.findall(text.casefold()))
    for action in actions:
        name = " ".join(_WORD.findall(action.casefold()))
        if name and re.search(rf"^(?:the )?{name}(?: tool)?$|\b{_ORDER} (?:the )?{name}\b", spoken):
            return action
    return ""
