"""What two texts have in common as answers, and which action a text tells to take."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

SAME_WORDS = 0.8
"""Share of all words of two answers that both must have to say the same."""

COMPARED = 2_000
"""Characters of an answer that are compared word by word."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_DIGIT = re.compile(r"\d")
_LONGEST = 200
"""Characters of a text that names an action; a longer one is an answer, whatever it mentions."""
_ORDER = r"(?:use|try|call|run|take|ask|check)"


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """An answer as it is compared with others."""

    words: frozenset[str]
    """Those among the first `COMPARED` characters."""
    exact: tuple[str, ...]
    """What must be alike: its words with a digit in them, in alphabetical order, and the rest of a long text."""

    @classmethod
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
    """The action a text tells to take ("use the calculator", "search knowledge"); empty for any other text."""
    if len(text) > _LONGEST:
        return ""
    spoken = " ".join(_WORD.findall(text.casefold()))
    for action in actions:
        name = " ".join(_WORD.findall(action.casefold()))
        if name and re.search(rf"^(?:the )?{name}(?: tool)?$|\b{_ORDER} (?:the )?{name}\b", spoken):
            return action
    return ""
