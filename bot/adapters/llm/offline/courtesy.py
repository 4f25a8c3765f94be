"""Finds messages that are only a greeting, thanks, a goodbye or a question about the bot, and what follows a greeting.

English only.
"""

import re

_LONGEST = 60
_ADDRESSED = r"(?:[\s,]+(?:goodbot|bot|there|all|everybody|everyone|team|again|mate|you|for\s(?:me|us)|here)\b)*"
_END = _ADDRESSED + r"[\s.!?]*"
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
_GREETING = re.compile(_KINDS["hello"] + _ADDRESSED + r"[\s,.:!?]+", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,.!?]+ ")


def find_courtesy(goal: str) -> str:
    """The kind of message: `hello`, `thanks`, `goodbye` or `abilities`; empty for any other.

    Of several, as in "hello, what can you do?", the last one counts.
    """
    text = " ".join(goal.split())
    if len(text) > _LONGEST:
        return ""
    kinds = [_kind(text)] if _kind(text) else [_kind(each) for each in _SEPARATOR.split(text)]
    return kinds[-1] if all(kinds) else ""


def without_greeting(goal: str) -> str:
    """The request after a greeting; the whole goal if it begins with none, or goes on with a name or nothing."""
    greeting = _GREETING.match(goal[:_LONGEST])
    rest = goal[greeting.end() :] if greeting else ""
    return rest if len(rest.split()) > 1 else goal


def _kind(text: str) -> str:
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(text)), "")
