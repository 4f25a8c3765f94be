"""Which action a text tells to take."""

import re
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_LONGEST = 200
"""Characters of a text that names an action; a longer one is an answer, whatever it mentions."""

_WORDS_AROUND = (
    "a again always and answer better bot can could d for here i in instead is it just like must needs next no now one "
    "please question questions rather right s should sorry such that the then these this those time to was would wrong "
    "yes you your"
)
_ORDERS = frozenset(("use", "try", "call", "run", "take", "ask", "check"))
_AROUND = frozenset(_WORDS_AROUND.split())
"""Words that may stand around the order: a text with any other word says something of its own."""
_DENIALS = frozenset(("not", "never", "don", "dont", "t", "without", "of"))
_PURPOSES = frozenset(("for", "to", "instead", "when", "here", "next", "please", "because", "not"))
"""Words with which "use the clock" may go on to say what for."""


def named_action(text: str, actions: Iterable[str]) -> str:
    """The action a text tells to take ("use the calculator", "search knowledge"); empty for any other text.

    It is the name alone, or an order with it and nothing else of weight. Only "use" may say what for. A text that
    mentions an action in a sentence of its own is an answer, and so is one that only says what not to take, or names
    several.
    """
    if len(text) > _LONGEST:
        return ""
    spoken = _WORD.findall(text.casefold())
    names = {action: _WORD.findall(action.casefold()) for action in actions}
    named = [action for action, name in names.items() if name and _is_ordered(spoken, name, names.values())]
    return named[0] if len(named) == 1 else ""


def _is_ordered(spoken: Sequence[str], name: Sequence[str], names: Iterable[Sequence[str]]) -> bool:
    """Whether these words are the name, or tell to take what it names."""
    length = len(name)
    for place in range(len(spoken) - length + 1):
        if list(spoken[place : place + length]) != list(name):
            continue
        before, after = list(spoken[:place]), list(spoken[place + length :])
        if after[:1] in (["tool"], ["action"]):
            del after[0]
        while before and before[-1] in ("the", "your"):
            del before[-1]
        if not before and not after:
            return True
        order = before.pop() if before and before[-1] in _ORDERS else ""
        is_denied = not _DENIALS.isdisjoint(before[-1:]) or before[-2:] == ["not", "to"]
        allowed = _AROUND | _DENIALS | _ORDERS | {word for other in names for word in other}
        says_what_for = order == "use" and after[:1] != [] and after[0] in _PURPOSES
        if order and not is_denied and allowed.issuperset(before) and (says_what_for or allowed.issuperset(after)):
            return True
    return False
