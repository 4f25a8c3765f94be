"""Finds the action that a text orders, such as "use the calculator"."""

import re
from collections.abc import Iterable
from functools import lru_cache

LONGEST_NAMING = 200
"""The most characters of a text that names an action. A longer text is an answer."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)

_WORDS_AROUND = (
    "a again always and answer better bot can could d for here i in instead is it just like must needs next no now one "
    "please question questions rather right s should sorry such that the then these this those time to was would wrong "
    "yes you your"
)
_ORDERS = frozenset(("use", "try", "call", "run", "take", "ask", "check"))
_AROUND = frozenset(_WORDS_AROUND.split())
"""Words that may surround the order. A text with any other word is an answer."""
_DENIALS = frozenset(("not", "never", "don", "dont", "t", "without", "of"))
_PURPOSES = frozenset(("for", "to", "instead", "when", "here", "next", "please", "because", "not"))
"""Words that may begin a purpose after "use the clock"."""


def named_action(text: str, actions: Iterable[str]) -> str:
    """The action that a text orders ("use the calculator", "search knowledge"); empty for any other text.

    Such a text is the name alone, or an order with it and filler words; only "use" may be followed by a purpose. A text
    that mentions an action in another sentence, only says which action not to take, or names several, is an answer.
    """
    if len(text) > LONGEST_NAMING:
        return ""
    spoken = _WORD.findall(text.casefold())
    names, all_words = _names(tuple(actions))
    named = {
        action
        for place, word in enumerate(spoken)
        for action, name in names.get(word, ())
        if spoken[place : place + len(name)] == name
        and _is_ordered(spoken[:place], spoken[place + len(name) :], all_words)
    }
    return named.pop() if len(named) == 1 else ""


@lru_cache(maxsize=16)
def _names(actions: tuple[str, ...]) -> tuple[dict[str, list[tuple[str, list[str]]]], frozenset[str]]:
    """(Actions with the words of their names, by first word; all words of all names)."""
    by_first: dict[str, list[tuple[str, list[str]]]] = {}
    for action in actions:
        if name := _WORD.findall(action.casefold()):
            by_first.setdefault(name[0], []).append((action, name))
    return by_first, frozenset(word for named in by_first.values() for _, name in named for word in name)


def _is_ordered(before: list[str], after: list[str], names: frozenset[str]) -> bool:
    """Whether the name is the whole text, or the words around it are an order."""
    if after[:1] in (["tool"], ["action"]):
        del after[0]
    while before and before[-1] in ("the", "your"):
        del before[-1]
    if not before and not after:
        return True
    order = before.pop() if before and before[-1] in _ORDERS else ""
    is_denied = not _DENIALS.isdisjoint(before[-1:]) or before[-2:] == ["not", "to"]
    allowed = _AROUND | _DENIALS | _ORDERS | names
    says_what_for = order == "use" and after[:1] != [] and after[0] in _PURPOSES
    return bool(order and not is_denied and allowed.issuperset(before) and (says_what_for or allowed.issuperset(after)))
