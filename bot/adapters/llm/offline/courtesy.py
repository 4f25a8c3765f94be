"""Finds messages that are only courtesy (a greeting, thanks, consent, "who are you?"), and what follows a greeting.

English only, except for thanks.
"""

import re

from bot.adapters.llm.offline.splitting import begins_a_request
from bot.conversation.feedback.remarks import GREETING_WORDS

_LONGEST = 60
_ADDRESSED = (
    r"(?:[\s,]+(?:goodbot|bot|there|all|everybody|everyone|team|again|mate|you(?!['’]|\sare)|for\s(?:me|us)|here)\b)*"
)
_PLEASED = r"(?:(?:ok(?:ay)?|great|perfect|cool)[\s,!]+)?"
_KINDS = {
    "hello": rf"(?:{GREETING_WORDS}|how\sare\syou|nice\sto\smeet)",
    "thanks": (
        rf"{_PLEASED}(?:many\s|a\slot\sof\s)?(?:thanks|thank\syou|thx|ty|cheers)"
        r"(?:\s(?:a\slot|so\smuch|very\smuch|for\s(?:that|your\shelp|the\shelp)))?(?:[\s,!]+(?:great|perfect|cool))?"
        r"|you(?:['’]?re|\sare)\s(?:great|awesome|amazing|the\sbest)|you\srock|well\sdone|good\s(?:bot|job)|🙏"
    ),
    "consent": (
        r"(?:ok(?:ay)?|alright|all\sright|got\sit|i\ssee|makes\ssense|understood|will\sdo|good\sto\sknow|never\s?mind"
        r"|no\sproblem|great|cool|nice|perfect|awesome|h+m+|lol|(?:ha)+h?|:\)|👍|👌|🙂|😂|😊|🎉"
        r"|(?:please\s)?do\s(?:it|that|so)(?!\sagain)|go\sahead|please\sdo|yes|yep|yeah|yup|sure|no|nope|nah|exactly|indeed|right|true|fine|good|sounds\sgood|done"
        r"|:(?!(?:-1|thumbsdown|x|\w*question|interrobang):)[\w+-]+:)"
    ),
    "goodbye": r"(?:good\s?bye|bye(?:\sbye)?|see\syou(?:\s(?:later|soon|tomorrow))?|good\snight)",
    "abilities": (
        r"(?:(?:so\s)?what\s(?:can|do)\syou\sdo|what\sare\syou(?:\sgood\sfor)?|what\scan\si\s(?:ask|do)|"
        r"what\s(?:else\s)?can\syou\shelp(?:\sme)?\swith|(?:how\s)?can\syou\shelp(?:\sme)?|who\sare\syou|help(?:\sme)?|"
        r"how\s(?:do|does)\s(?:you|this|it)\swork|how\s(?:do|can)\si\s(?:use|teach)\s(?:you|this)|"
        r"what\sare\syour\s(?:tools|skills|abilities|features|commands)|introduce\syourself)"
    ),
}
_COURTESY = re.compile(
    rf"(?:{'|'.join(f'(?P<{kind}>{pattern})' for kind, pattern in _KINDS.items())}){_ADDRESSED}(?!\w)(?::[\w+-]+:|\W)*",
    re.IGNORECASE,
)
"""One courtesy, with the marks, emoji and names of emoji after it."""
_THANKS = re.compile(
    rf"{_PLEASED}(?:thanks|thank\s(?:you|u)|thx|ty|cheers|danke|merci|gracias|grazie|obrigad[oa])"
    r"(?:\s(?:a|so|very|much|lot|bunch|again|anyway|all|everyone|my|sehr|sch[oö]n|dir|euch|beaucoup|mille)\b)*"
    r"(?P<name>(?:\s(?!(?:and|but|for|und|aber)\b)@?[^\W\d_]+)?)\W*",
    re.IGNORECASE,
)
"""Thanks with usual words and one more, such as a name, also in other languages: "thanks a lot Ben", "danke dir"."""
_EMOJI = re.compile(r"(?:(?![❓❔⁉👎❌])[^\w\s\u0000-\u206f\u3000-\u303f\uff00-\uffef]\ufe0f?|\u200d|\s)+")
"""Emoji alone, which neither ask nor refuse."""
_GREETING = re.compile(
    rf"(?:(?:{_KINDS['hello']}{_ADDRESSED}\s*[,.:!?\n]|{GREETING_WORDS}(?:[\s,]+(?:goodbot|bot)\b)*\s)[\s,.:!?]*)+",
    re.IGNORECASE,
)
"""One or more. Other words belong to it only before a mark or the end of the line: not "all" in "hi all hands"."""


def find_courtesy(goal: str) -> str:
    """The kind of message: `hello`, `thanks`, `consent`, `goodbye` or `abilities`; empty for any other.

    Of several, the question counts: "hello, what can you do? thanks"; else the last one.
    """
    text = " ".join(goal.split())
    kinds: list[str] = []
    begin = place = 0
    while place < len(text) <= _LONGEST:
        courtesy = _COURTESY.match(text, place)
        if courtesy is None:
            is_thanks = any(_only_thanks(text[start:]) for start in (begin, place))
            is_consent = _EMOJI.fullmatch(text) or (len(text) == 1 and text.isascii() and text.isalpha())
            return "thanks" if is_thanks else "consent" if is_consent else ""
        kinds.append(courtesy.lastgroup or "")
        begin, place = place, courtesy.end()
    return "abilities" if "abilities" in kinds else "".join(kinds[-1:])


def _only_thanks(text: str) -> bool:
    thanks = _THANKS.fullmatch(text)
    return thanks is not None and "?" not in text and not begins_a_request(thanks["name"].strip())


def without_greeting(goal: str) -> str:
    """The request after a greeting; the whole goal if it begins with none, or goes on with a name or nothing."""
    greeting = _GREETING.match(goal[:_LONGEST])
    rest = goal[greeting.end() :] if greeting else ""
    return rest if len(rest.split()) > 1 else goal
