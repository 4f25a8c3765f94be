"""Patterns for the words by which people say in a chat that one thing replaced another."""

import re

from bot.conversation.feedback.phrases import Phrase

AT_THE_END = re.compile(
    r"(?P<text>(?:(?:it|that)(?:['’]?s|\s+is)|es\s+ist)(?:\s+[^\s,?!]+){1,4}?|[^\s,?!]+(?:\s+[^\s,?!]+)?),?\s+"
    r"(?:actually|in fact|now|nowadays|these days|eigentlich|tatsächlich|jetzt|inzwischen)[\s.!]*+$",
    re.IGNORECASE,
)
"""The right value followed by a word of contradiction: "room 5 actually"."""
NO_MORE = Phrase(
    r"(?:there(?:'s| is| are) no|there (?:is|are)n't|es gibt kein\w*) .*|.*(?:n't|not|nicht).* (?:any ?more"
    r"|any longer|mehr)"
)
"""Says only that something does not exist, or no longer."""
THIS = Phrase(r"(?:that|this|das|dies)(?:'s| is| was| ist| war)?")
NOW = re.compile(
    r"(?:please\s+)?(?:its|it['’]s|it is|use|ask|call|write to|mail|bitte|nutze|nimm|frag)\b|\b(?:now|nowadays"
    r"|these days"
    r"|instead|since|jetzt|inzwischen|mittlerweile|stattdessen|seit)\b",
    re.IGNORECASE,
)
"""Occurs in a clause that names the replacement."""
INSTEAD_OF = re.compile(
    r"(?:,|\bund|\band)\s*+(?:not|nicht)\s+(?:the\s+|at\s+|in\s+|on\s+|um\s+|am\s+)?([^\W_][\w:.\-]*+)", re.IGNORECASE
)
"""`..., not 15:00`"""
CHANGED = Phrase(
    r"(?:[^\s,]+ ){1,4}?(?:(?:has|have|was|were|got|is|are) )?(?:(?:been|just|now) )*+(?:moved|changed|renamed"
    r"|rescheduled"
    r"|postponed|pushed|shifted|replaced|umbenannt|verlegt|verschoben|umgezogen)(?: back| over| it| them| that"
    r"| this)? (?:to|by|with|into|in|nach|auf)"
)
"""Says that something changed, before the new value: "the meeting was moved to"."""
WAS = Phrase(r"was|were|used to|war(?:en)?")
"""Occurs in a clause about what was true before."""
NOW_IS = Phrase(
    r"(?:but )?(?:now|nowadays|these days|today|currently|this (?:week|month|year)|jetzt|inzwischen"
    r"|mittlerweile)(?:,? (?:it|they|that|he|she|es)?(?:'s| is| are| ist)?)?"
)
NOT_THAT = Phrase(r"not|nicht|kein\w*|by no means|keinesfalls")
NOT_THEM = Phrase(r"not (?:him|her|them|there|it|that) (?:any ?more|any longer)")
