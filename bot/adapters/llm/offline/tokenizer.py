"""The words of a request, without those that only ask."""

import re

from memory.rules.retrieval.similarity import words

_ASKING_WORDS = (
    "a about all also am an and any are as at be been but by can could did do does exactly for from get give had has "
    "have hello hey hi how i if in into is it its just kindly know let me much many my now of off ok okay on or our "
    "please quickly right say see shall should show so tell thanks that the their them there these they this to us "
    "want was we were what whats when where which who whom whose why will with would you your bot goodbot"
)
_ASKING = frozenset(_ASKING_WORDS.split())
_GREETING = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|yo|good\s+(?:morning|afternoon|evening))\b[\s,!.]*)?"
    r"(?:(?:bot|goodbot|there|all|everyone)\b[\s,!.:]+)?"
    r"(?:(?:please|kindly)\s+)?"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?(?:tell\s+me|let\s+me\s+know|say)\s+|"
    r"(?:do\s+you\s+(?:happen\s+to\s+)?know|tell\s+me|i(?:\s+would|['’]d)?\s+(?:want|like|need)\s+to\s+know)\s+)?"
    r"(?:please\s+)?",
    re.IGNORECASE,
)


def request_words(text: str) -> list[str]:
    """The words of a request apart from those that only ask, in the singular."""
    return [_stem(word) for word in words(text) if word not in _ASKING]


def without_courtesy(text: str) -> str:
    """The request without its greeting and its "can you tell me"; the whole text if nothing else is left."""
    return _GREETING.sub("", text, count=1).strip() or text


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
