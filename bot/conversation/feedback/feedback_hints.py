"""Patterns that rule out quickly that a message is feedback: only what one of them matches is read further."""

import re

from bot.conversation.feedback.phrases import CLAUSE_END, Phrase
from bot.conversation.feedback.statement_words import BARE_PLACE, GONE, IT_IS, NAMED, PLACE_OR_TIME, STARTED, STATES

LONGEST = 600
"""Characters. A longer message is never read as feedback."""
_HINTS = Phrase(
    r"no+|nope|nah+|nein|nee*|nö+|non|not|n't|\w+n't|cannot|wrong|incorrect|false|outdated|actually|almost"
    r"|correct(?:ion)?"
    r"|should|bs|mixed|messed|mistaken?|nonsense|rubbish|bullshit|inaccurate|untrue|useless|unhelpful|bad|same|still"
    r"|now|i think|i believe|i guess|i heard|sure|afaik|off|was there|were there|doubt|(?:great|big|good|huge"
    r"|real) help|made|tried|a lie|out of date|invented|hallucinat\w+|glaube|denke|changed|renamed|pushed"
    r"|shifted|postponed|rescheduled|(?:yes+|yep|yeah|yup)\W+that's|faux|falsch\w*|nicht|kein\w*|sondern"
    r"|eigentlich|doch|veraltet|quatsch|unsinn|richtig\w*"
    r"|korrekt\w*|stimmt|inzwischen|worked|works|working|saved|help(?:ed|s|ful)|solved|fixed|exactly|right|true|found"
    r"|(?:that|this|it) did it|trick|spot on|geklappt|funktioniert|geholfen|gefunden|genau|lösung"
)
_QUESTION = (
    r"[@><]|(?:who|what|when|where|which|why|how|can|could|would|will|do|does|please|show|tell|give|find|list"
    r"|wer|was|wann|wo|wie|warum|kann\w*|gibt)\b"
)
MAY_BE_FEEDBACK = re.compile(
    rf"\s*+(?!{_QUESTION})"
    rf"(?=(?:[^?\n]{{1,60}}\?\s)?[^?]{{1,{LONGEST}}}\Z)(?:[*👎👍]|:[+-]1|:thumbs|[^?\n]{{1,60}}\?\s+(?:no|it|that|es|das)\b|.{{0,80}}?(?:{_HINTS.pattern}|{GONE.pattern}))",
    re.IGNORECASE | re.DOTALL,
)
"""Matches what may be feedback and is no question; only such messages are read further."""
MAY_CONTRADICT = re.compile(
    rf"\s*+(?!{_QUESTION})(?=[^?]{{1,{LONGEST}}}\Z)(?:{IT_IS.pattern}|(?:{STATES.pattern}).*?(?:{CLAUSE_END.pattern}))",
    re.IGNORECASE | re.DOTALL,
)
"""Matches what may contradict an answer without a word of refusal: "it is room 5", or a long statement."""
NO_STATEMENT = re.compile(
    rf"{_QUESTION}|(?:and|or|also|then|that|this|these|those|yes|no|ok|hi|hello|hey|if|for|now|only|since|after|before"
    r"|until|whose|whom|let|remember|remind|note|explain|compare|translate|summari[sz]e|calculate|compute|convert|define"
    r"|describe|repeat|need|want|und|oder|das|dies\w*|hallo|wenn|falls|jetzt|ab|seit|nur|merk\w*|rechne\w*|erinner\w*"
    r"|erklär\w*|zeig\w*|sag\w*)\b",
    re.IGNORECASE,
)
"""Begins a question, a request, or a message that goes on with something said before."""
MAY_ANSWER = re.compile(
    rf"\s*+(?!{NO_STATEMENT.pattern})(?=[^?]{{1,{LONGEST}}}\Z)(?:{STARTED.pattern}|{STATES.pattern}"
    rf"|{BARE_PLACE.pattern}|(?-i:{NAMED.pattern})\S*+(?:\s++(?:(?-i:[A-ZÄÖÜ])\S*+|and|und|does|has|is|ist|hat)){{0,3}}\s*\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a statement, a place or a name that may be the answer to a question that the bot could not answer."""
MAY_TELL = re.compile(
    rf"\s*+(?!(?i:{NO_STATEMENT.pattern}))(?=[^?]{{1,{LONGEST}}}\Z)"
    rf"(?:(?i:{PLACE_OR_TIME.pattern})|\d|[A-ZÄÖÜ]\w*+(?:\s[A-ZÄÖÜ\d][\w.:]*+){{0,3}}[.!]?\s*+\Z)"
)
"""Matches a place, a time, a value or a name without a sentence around it, as who is asked for it gives it."""
