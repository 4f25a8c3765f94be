"""Patterns of words that approve an answer, in English and German."""

import re

from bot.conversation.feedback.phrases import SEPARATOR, Phrase, first_clause

SOFT = Phrase(
    r"thanks?|thx|thank you|many thanks|ty|cheers|danke\w*|vielen dank|(?:so|very) much|a lot|sehr|schön|dir|ok"
    r"|okay|great|cool"
    r"|nice|super|prima|toll|klasse|awesome|amazing|excellent|brilliant|yes+|yep|yeah|yup|ja|ah+|oh+|wow|hey"
    r"|and|und|perfect|perfekt"
    r"|for that|dafür|bot|man|mate|sweet|yay|haha+|top|indeed|wunderbar|very good|good|gut|no way"
    r"|not bad(?: at all)?|nicht schlecht"
)
"""Thanks and joy, which alone do not judge the answer."""
APPROVES = Phrase(
    r"(?:(?:that|this|it|das|es) )?+(?:(?:all|really|just|actually|finally|totally|now|jetzt|wirklich|endlich"
    r"|hat) )*+"
    r"(?:worked|helped|helps|did it|did the trick|does the trick|works (?:now|again|perfectly|great|fine|like)"
    r"|(?:fixed|solved) (?:it|that|the \w+|my \w+)|answers my question"
    r"|answered my question|geklappt|funktioniert|geholfen|gestimmt|(?:super|gut|prima|perfekt|sofort|wirklich"
    r"|mir|sehr|tatsächlich"
    r"|wunderbar|auf anhieb) (?:geklappt|funktioniert|geholfen|gestimmt|gepasst))"
    r"|(?:now |jetzt )?(?:that|this|it|you)(?:'s|'re| is| was| are| were) (?:(?:exactly|absolutely|totally"
    r"|perfectly|very|really"
    r"|completely|now) )*+(?:right(?! now)|correct|true|helpful|useful|spot on|working|solved|fixed"
    r"|what i (?:needed|wanted|was looking"
    r" for)|the (?:right|correct) (?:answer|one))|exactly (?:right|what i (?:needed|wanted|was looking for))"
    r"|just what i needed"
    r"|(?:problem )?(?:solved|gelöst)|spot on|(?:i )?found it|i could find it|(?:hab(?:e)? )?(?:ich )?(?:es "
    r"|'?s )?gefunden"
    r"|(?:that|das) (?:was|war|ist) (?:genau )?(?:the|die) (?:solution|lösung)|genau das (?:habe ich"
    r"|was ich) \w+|you saved (?:me|my \w+)|(?:das )?(?:ist|war) (?:(?:genau|absolut|völlig|sehr) )*+(?:richtig"
    r"|korrekt|hilfreich)"
)
"""Says that the answer is right or useful."""
THAT_IS_IT = Phrase(
    r"(?:yes+|yep|yeah|yup|exactly|ja|genau|perfect)\W+(?:that(?:'s| is| was)|das (?:ist|war)) (?:it|the one|es)"
)
"""Approves by a yes, as "that's it" alone may only end the conversation."""
APPROVES_ALONE = Phrase(
    r"it works|(?:a )?(?:great|big|good|huge|real) help|(?:it|they) (?:was|were) (?:right )?(?:in )?there"
    r"|correct|exactly|jetzt (?:klappt|geht)(?:'s| es)?"
    r"|(?:very |super |really |so |most )?helpful(?: answer)?|(?:good|great|perfect|right|correct|nice"
    r"|excellent|gute|richtige"
    r"|perfekte) (?:answer|antwort)|(?:das |genau das )stimmt|(?:genau )?richtig|sehr hilfreich|genau (?:das|so"
    r"|richtig)"
)
"""Approves if the message has nothing else."""
THANKS = Phrase(r"thanks?|thank you|thx|ty|cheers|danke\w*")
THUMB = re.compile(
    r"(?P<up>(?:(?:👍|:(?:\+1|thumbsup):)(?:[\U0001f3fb-\U0001f3ff]|:skin-tone-[2-6]:)?\s*)+)"
    r"|(?:(?:👎|:(?:-1|thumbsdown):)(?:[\U0001f3fb-\U0001f3ff]|:skin-tone-[2-6]:)?\s*)+"
)
"""Thumbs alone, also as Slack writes them."""
TAIL = re.compile(r"(?:\s+[\w'’]++){0,4}+\s*+(?=$|[^\w\s'’?])")
"""A few more words to the end of the clause."""
TAKES_BACK = re.compile(
    r"\b(?:but|until|till|however|though|although|except|yesterday|usually|once|not|no|never|nothing|(?:do"
    r"|does|did|is|are|was|were|ca|could|wo|would|should|has|have|had|ai)n['’]?t"
    r"|cannot|still|if"
    r"|only|before|used to|as (?:always|usual)|would|should|could you|hope|myself|in my|im? eigenen|by \w+ing"
    r"|anyway|elsewhere|for me|selbst|selber|aber|bis|jedoch|allerdings|außer|gestern|nicht|kein\w*"
    r"|nur|obwohl|wie immer|wenn|falls)\b|[🙃🙄😒😑🤡]",
    re.IGNORECASE,
)
"""Negates an approval, or makes it ironic."""


def approves(text: str) -> bool:
    """Whether a text approves the answer: at its beginning after exclamations, or anywhere after thanks."""
    if (yes := THAT_IS_IT.match(text)) and not _without_joy(text[yes.end() :]):
        return True
    if TAKES_BACK.search(_without_joy(text)):
        return False
    rest, is_first, is_thankful = _without_joy(text), True, THANKS.search(text) is not None
    while rest and (is_first or is_thankful):
        if praises(rest):
            return True
        rest, is_first = _without_joy(first_clause(rest)[1]), False
    return False


def praises(text: str) -> bool:
    """Whether the first clause of a text is praise of the answer and nothing else."""
    praise, alone = APPROVES.match(text), APPROVES_ALONE.match(text)
    is_all = alone is not None and not _without_joy(text[alone.end() :])
    return is_all or (praise is not None and TAIL.match(text, praise.end()) is not None)


def _without_joy(text: str) -> str:
    at = 0
    while found := SEPARATOR.match(text, at) or SOFT.match(text, at):
        at = found.end()
    return text[at:]
