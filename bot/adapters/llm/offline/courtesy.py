"""Finds messages that are only a greeting, thanks, a goodbye or a question about the bot, in English."""

import re

_LONGEST = 60
_END = r"(?:[\s,]+(?:goodbot|bot|there|all|everybody|everyone|team|again|mate|you|for\s(?:me|us)|here))*[\s.!?]*"
_KINDS = {
    "hello": r"(?:hello|hi|hey|howdy|good\s(?:morning|afternoon|evening|day)|how\sare\syou|nice\sto\smeet)",
    "thanks": (
        r"(?:(?:ok(?:ay)?|great|perfect|cool)[\s,!]+)?(?:many\s|a\slot\sof\s)?(?:thanks|thank\syou|thx|ty|cheers)"
        r"(?:\s(?:a\slot|so\smuch|very\smuch|for\s(?:that|your\shelp|the\shelp)))?(?:[\s,!]+(?:great|perfect|cool))?"
    ),
    "goodbye": r"(?:good\s?bye|bye(?:\sbye)?|see\syou(?:\s(?:later|soon|tomorrow))?|good\snight)",
    "abilities": (
        r"(?:(?:so\s)?what\s(?:can|do)\syou\sdo|what\sare\syou(?:\sgood\sfor)?|what\scan\si\s(?:ask|do)|"
        r"what\s(?:else\s)?can\syou\shelp(?:\sme)?\swith|(?:how\s)?can\syou\shelp(?:\sme)?|who\sare\syou|help(?:\sme)?|"
        r"how\s(?:do|does)\s(?:you|this|it)\swork|how\s(?:do|can)\si\s(?:use|teach)\s(?:you|this)|"
        r"what\sare\syour\s(?:tools|skills|abilities|features|commands)|introduce\syourself)"
    ),
}
_PATTERNS = {kind: re.compile(pattern + _END, re.IGNORECASE) for kind, pattern in _KINDS.items()}


def find_courtesy(goal: str) -> str:
    """The kind of message: `hello`, `thanks`, `goodbye` or `abilities`; empty for any other."""
    text = " ".join(goal.split())
    if len(text) > _LONGEST:
        return ""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(text)), "")
