"""What two texts have in common as answers, and which action a text tells to take."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

SAME_WORDS = 0.8
"""Share of all words of two answers that both must have to say the same."""

COMPARED = 2_000
"""Characters of an answer that are compared word by word."""

LONGEST_NAMING = 200
"""Characters of a text that names an action; a longer one is an answer, whatever it mentions."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_DIGIT = re.compile(r"\d")
_ORDERS = frozenset({"use", "try", "call", "run", "take", "ask", "check"})


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """An answer as it is compared with others."""

    words: frozenset[str]
    """Those among the first `COMPARED` characters."""
    exact: tuple[str, ...]
    """What must be alike: its words with a digit in them, in alphabetical order, and the rest of a long text."""

    @classmethod
    @lru_cache(maxsize=4096)
    def of(cls, text: str) -> "AnswerWords":
        """The words of a text, without their case."""
        words = _WORD.findall(text[:COMPARED].casefold())
        return cls(frozenset(words), (*sorted(filter(_DIGIT.search, words)), text[COMPARED:]))

    def says_the_same_as(self, other: "AnswerWords") -> bool:
        """Whether it has the same words in the main, and every number alike ("page 101", "page 102")."""
        if self.exact != other.exact:
            return False
        return len(self.words & other.words) >= SAME_WORDS * len(self.words | other.words)


def named_action(text: str, actions: Iterable[str]) -> str:
    """The action a text tells to take ("use the calculator", "search knowledge"); empty for any other text.

    The first of several, in the order of the actions.
    """
    if len(text) > LONGEST_NAMING:
        return ""
    words = _WORD.findall(text.casefold())
    names = tuple(actions)
    places, longest = _places(names)
    ends = [len(words), *([len(words) - 1] if words[-1:] == ["tool"] else [])]
    spans = [(begin, end) for begin in _behind_article(words, 0) for end in ends]
    for order in (place for place, word in enumerate(words) if word in _ORDERS):
        for begin in _behind_article(words, order + 1):
            spans += [(begin, begin + length) for length in range(1, longest + 1)]
    found = [places[span] for span in (" ".join(words[begin:end]) for begin, end in spans) if span in places]
    return names[min(found)] if found else ""


def _behind_article(words: list[str], begin: int) -> list[int]:
    return [begin, begin + 1] if words[begin : begin + 1] == ["the"] else [begin]


@lru_cache(maxsize=16)
def _places(actions: tuple[str, ...]) -> tuple[dict[str, int], int]:
    """The place of each action by the words of its name, and how many words the longest name has."""
    spoken = [_WORD.findall(action.casefold()) for action in actions]
    places = {" ".join(words): place for place, words in reversed(list(enumerate(spoken))) if words}
    return places, max(map(len, spoken), default=0)
