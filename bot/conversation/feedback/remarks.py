"""Finds remarks, which need no answer, and greetings. Pure."""

import re

QUESTION_MARKS = frozenset("?\uff1f\u061f\u037e\u2047\u2048\u2049")
"""Includes the question marks of East Asian languages, Arabic and Greek."""
GREETING_WORDS = r"(?:hello|hi|hey|howdy|good\s(?:morning|afternoon|evening|day))"
_GREETING = re.compile(
    rf"(?:{GREETING_WORDS}|hallo|moin|guten\s(?:tag|morgen|abend))(?:,?\s(?:goodbot|bot|there|again))?(?!\w)\W*",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"(?>(?:(?:thx|thank you|thanks|ty|cheers) again|thx|thank (?:you|u)|thanks?|ty|cheers|many|so much|a (?:lot|bunch)"
    r"|anyways?|anyhow|all|everyone|everybody|for (?:trying|the help|your help)|well done|good (?:bot|job)|you rock"
    r"|you(?:['’]re| are) (?:great|awesome|amazing|the best)|ok(?:ay|ey)?|k|great|nice|cool|perfect|awesome|super"
    r"|good|fine|sure|yes|yep|yeah|yup|ya|nope|right|got it|i see|makes sense|alright|all right|will do|done|noted|lol"
    r"|haha+|wow|np|no problem|no|never ?mind|nvm|that worked|worked|it works?|works|that helps|helpful|you|for that"
    r"|then|and|very|danke|merci|gracias|grazie|obrigad[oa]|tack|bedankt|hm+|ah+|oh+|aha)(?:\W+|$))++",
    re.IGNORECASE,
)
"""Matches a remark that closes an exchange and needs no answer. It does not backtrack, so matching takes linear
time."""


def is_remark(text: str) -> bool:
    """Whether a text is thanks, consent or an emoji, which need no answer."""
    words = text.strip()
    if not words or not QUESTION_MARKS.isdisjoint(words):
        return False
    return not any(map(str.isalnum, words)) or _REMARK.fullmatch(words) is not None


def is_greeting(text: str) -> bool:
    """Whether a text greets and says nothing else, in English or German."""
    return _GREETING.fullmatch(" ".join(text.split())) is not None
