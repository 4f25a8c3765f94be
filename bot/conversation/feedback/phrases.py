"""Phrases as patterns of whole words, and the clauses of a message.

Each pattern is matched at a given position and does not backtrack, so matching takes time linear in the text's length.
"""

import re
from functools import cached_property


class Phrase:
    """A pattern of whole words that ignores case, missing or curly apostrophes and the amount of white space.

    Compiled on first use: to compile all of them takes longer than to answer a message.
    """

    def __init__(self, words: str) -> None:
        bent = words.replace("'", "['’]?").replace(" ?", r"\s*").replace(" ", r"\s+")
        self.pattern = rf"(?<!\w)(?:{bent})(?!\w|['’]\w)"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The phrase at this position."""
        return self._compiled.match(text, at)

    def search(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The first occurrence of the phrase from this position on."""
        return self._compiled.search(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The phrase and nothing else."""
        return self._compiled.fullmatch(text)


I_AM = r"i\x27m|i’m|im(?!\s+(?-i:[A-ZÄÖÜ]))"
"""Also without its apostrophe, but not as the German preposition: "im Keller"."""
_CONTENT = re.compile(r"[^\W_][\w'’:.@#-]*\w|\d")
_WORD = re.compile(r"[^\W_]+(?:[:.-][^\W_]+)*+")
SEPARATOR = re.compile(r"(?:[\s,;:!…–—()👎🙄🙁☹😕]|\.(?=[\s.]|$)|-(?=\s))++")
CLAUSE_END = re.compile(r"[,;!…\n]++\s*+|[.:]++(?:\s++|$)|\s[–—-]\s|\s(?=(?:but|sondern)\s)", re.IGNORECASE)
STOP = re.compile(r"\s*+(?:$|-\s|[^\w\s'’\"`#@/%€$&+=<>*~-])")
"""The end of a clause, looked for right after a phrase."""
FILLER = Phrase(
    r"h+m+|u+h+m*|u+m+|er+m|ah+|oh+|well|ok|okay|hey|hi|sorry|sry|pardon|but|aber|sondern|na ?ja|ä+h*m*|also"
    r"|ach|lol|haha+"
    r"|unfortunately|i'm afraid|leider"
    r"|tut mir leid|bot|goodbot|mate|dude"
    r"|(?:thanks?|thx|ty|thank you|danke(?: dir)?)(?: a lot| so much)?(?:,? (?:but|aber))"
)


def first_clause(text: str) -> tuple[str, str]:
    """Split a text into its first clause and the rest, without the words that join both."""
    end = CLAUSE_END.search(text)
    if end is None:
        return text, ""
    at = end.end()
    while found := SEPARATOR.match(text, at) or FILLER.match(text, at):
        at = found.end()
    return text[: end.start()], text[at:]


def words_in(text: str) -> set[str]:
    """The words and values of a text, in lower case."""
    return set(_WORD.findall(text.casefold())) - {"not", "the", "nicht"}


def longer_words(text: str) -> set[str]:
    """The longer words of a text, and its values."""
    return {each for each in _CONTENT.findall(text.casefold()) if len(each) > 3 or not each.isalpha()}
