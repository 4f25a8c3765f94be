"""The words by which people refuse an answer at the beginning of a message, in English and German."""

import re
from dataclasses import dataclass

from bot.conversation.feedback.phrases import FILLER, SEPARATOR, STOP, Phrase, longer_words, words_in
from bot.conversation.feedback.statement_words import ASKS_WHERE_OR_WHEN, begins_statement

_TOO = (
    r"(?:(?:quite|totally|completely|complete|total|utter|simply|plain|so|also|actually|really|still|sadly"
    r"|definitely|all|clearly"
    r"|a bit|the|an?"
    r"|leider|aber|völlig|total|ganz|einfach|doch|ja|auch|wirklich|definitiv|inzwischen|eben|schon|eine?) )*+"
)
_WRONG = (
    r"(?:(?:wrong|false|incorrect|bad|outdated) (?:answer|info|information|advice|there)|wrong|made up"
    r"|incorrect|false|inaccurate|untrue|mistaken|nonsense|rubbish|bs"
    r"|bullshit|outdated|obsolete|out of date|not up to date|deprecated|no longer (?:right|correct|true|valid"
    r"|current|the case)"
    r"|not (?:(?:quite|entirely|at all|even|really|the) )*+(?:right(?! now)|correct|true|accurate|it|valid"
    r"|current|the case|helpful"
    r"|(?:right|correct) answer|what i (?:asked|meant|wanted|needed)(?: for)?|how (?:we|you|it|this"
    r"|that) \w+(?: \w+)?)"
    r"|falsch(?:e antwort)?|verkehrt|inkorrekt|veraltet|überholt|unsinn|quatsch|blödsinn"
    r"|nicht (?:(?:ganz|wirklich|so|mehr) )*+(?:richtig|korrekt|wahr|aktuell|die richtige antwort"
    r"|was ich (?:gefragt|gemeint|gesucht) \w+))"
)
_THAT = (
    r"(?:(?:that|this|it|your|the|das|dies|es|die|deine) ?(?:(?:last )?(?:answer|info|information|reply|page|antwort"
    r"|auskunft))?|you)"
)
STRONG = Phrase(
    rf"{_THAT}(?:'s|'re| is| was| are| were| looks| seems| sounds| ist| war| wäre) {_TOO}{_WRONG}"
    rf"|{_THAT} ?(?:is|was|are|were)n't {_TOO}(?:right|correct|true|it|accurate|helpful|up to date|the (?:right"
    rf"|correct) answer"
    rf"|what i \w+(?: for)?|how (?:we|you|it) \w+(?: \w+)?)"
    rf"|{_TOO}{_WRONG}"
    rf"|(?:(?:das|die antwort|es) )?+stimmt {_TOO}(?:so |mehr )*+nicht(?: mehr| ganz| so)*+"
    r"|i don't think (?:so|(?:that|it|this)(?:'s| is) (?:right|correct|true))|(?:das )?glaube? ich nicht"
    r"|you (?:mixed|messed) (?:that|this|it|them|something) up|you(?:'re| are) mixing \w+ up"
    rf"|{_THAT} (?:can't|cannot|can not|couldn't) be (?:right|correct|true|it)"
    rf"|{_THAT}(?:'s| is| was) not (?:where|when|who|whom|why|which \w+) (?:we|you|it|they|people"
    rf"|the \w+) \w+(?: \w+)?"
    rf"|{_THAT}(?:'s| is| was) (?:simply |just )?an? (?:lie|mistake|error|myth|hallucination)"
    rf"|{_THAT} (?:does|do)(?:n't| not) (?:sound|look|seem) (?:right|correct)"
    rf"|{_THAT}(?:'s|'re| is| are) (?:(?:a (?:bit|little)|way|quite|totally) )?off|you(?:'re| are) (?:mistaken"
    rf"|confused)"
    r"|you(?:'ve)? (?:got|have|had) (?:that|this|it|them) (?:all |completely )?wrong"
    r"|i (?:really |very much |strongly )?doubt (?:that|it|this)"
    r"|you (?:made|are making|'re making) (?:that|this|it) up|you (?:just )?(?:invented|hallucinated) (?:that"
    r"|this|it)"
    r"|(?:non[, ]+)?(?:c'est|ce n'est|c'était) (?:faux|pas (?:ça|vrai|correct|juste|exact|la bonne réponse))"
)
"""Says of the answer that it is wrong."""
NAMES_WRONG = Phrase(
    rf"(?:(?:the|this|that|your|der|die|das) )?(?P<what>[\w-]+)(?:'s| is| was| are| ist| war| sind) {_TOO}{_WRONG}"
)
"""Says that a named thing is wrong: "the room is wrong"."""
FAILED = Phrase(
    r"(?:(?:i(?:'ve)? )?(?:just )?tried (?:it|that|this|everything),? (?:but )?)?+"
    r"(?:(?:it|that|this|das|es) )?+(?:(?:still|leider|immer noch) )?+"
    r"(?:(?:did|does|do)(?:n't| not) (?:(?:really|even) )?+(?:work|help|fix (?:it|anything)|solve (?:it"
    r"|anything)|exist)"
    r"|(?:is )?(?:still )?not working|useless|unhelpful|bad answer|(?:still )?(?:the )?same (?:error|problem"
    r"|issue|result|message)"
    r"|still (?:nothing|broken|the same)|no (?:luck|change|effect|success|difference)|nothing (?:happens"
    r"|happened|changed)"
    r"|hat (?:leider |bei mir |mir |auch |aber )*+nicht (?:geklappt|funktioniert|geholfen|gestimmt)"
    r"|(?:klappt|funktioniert|geht|hilft)(?: (?:mir|bei mir|so|leider|aber|immer noch|auch))*+ nicht(?: weiter)?+)"
    r"(?: (?:for me|me|at all|either|here|though|bei mir|anymore|any more))*+"
)
"""Says of the answer that it was of no use."""
NO = Phrase(r"no+|nope|nah+|nein|nee*|nö+|non")
"""Refuses an answer by itself."""
NOT_THERE = Phrase(
    r"(?:(?:i(?:'ve)? )?(?:just )?(?:checked|looked|tried)[,.;:]? )?(?:(?:it|that|they)(?:'s|'re| is| are)? )?"
    r"(?:not|no longer) (?:in )?(?:there|here)"
)
"""Says that something is not at the place that the answer named."""
SAME_KIND = Phrase(r"(?:the )?(?:wrong|falsche\w?) (?P<kind>\w+)")
_KINDS = (
    "day date month year time hour room place floor building name person number address link url code tag monat jahr"
)
KINDS = frozenset(f"{_KINDS} uhrzeit raum ort name nummer adresse zimmer".split())
"""The kinds of thing that `SAME_KIND` may name: "wrong room" says that another room is right, if one follows."""
BELIEVES = Phrase(
    r"i (?:think|believe|guess|thought|heard)(?: that)?|i(?:'m| am) (?:(?:pretty|quite|fairly|very"
    r"|almost) )?(?:sure|certain)"
    r"(?: that)?|afaik|as far as i know|(?:ich )?(?:glaube|denke)|soweit ich weiß|meines wissens"
)
"""Says that something else may be right, if an answer can follow."""
SHOULD_BE = Phrase(r"(?:(?:it|that|this|they|he|she) )?should (?:be|have been|say|read)|(?:das )?(?:sollte|müsste)")
"""Says what is right, if that is what follows."""
CONTRARY = Phrase(
    r"actually|in fact|almost|nearly|not quite|close"
    r"|not (?:any ?more|any longer|since \w+)|nicht mehr"
    r"|eigentlich|tatsächlich|doch|fast"
)
"""Says that something else is right, if something follows."""
SHOULD = Phrase(
    r"you should have said|correction|korrektur|richtigstellung|the answer should (?:be|have been)"
    r"|(?:the )?(?:right|correct|current|new) \w+ (?:is|was|would be|would have been)"
    r"|(?:die )?richtige? (?:antwort )?(?:ist|lautet|wäre|wär)"
    r"|(?:it|that|they|he|she)(?:'s|'re| is| are) (?:actually|in fact)|(?:es|das|er|sie) ist (?:eigentlich"
    r"|tatsächlich)"
)
"""Says what is right without saying before that something is wrong."""
NOT_A_NO = Phrase(
    r"(?:oh|ach|ah),? (?:my|no+|nein|nee+|nö+)|no+[.:] ?\d.*|wow.*|yuck.*|just wrong|that's just (?:wrong|not right)"
)
"""Looks like a refusal but is dismay, surprise or a number."""


@dataclass(slots=True)
class RefusalOpening:
    """The opening of a message: how it refuses the answer, and where that ends."""

    text: str
    question: str
    answer: str
    end: int = 0
    is_strong: bool = False
    is_no: bool = False
    is_contrary: bool = False
    is_believed: bool = False
    """It only says that the person believes otherwise."""
    is_kind: bool = False
    """It says "wrong KIND", so that another one of the kind follows."""
    is_given: bool = False
    """It announces the right answer."""
    is_marked: bool = True
    """Whether punctuation separates the refusal from what follows."""

    def __post_init__(self) -> None:
        self.is_no = self.text.startswith("👎")
        while step := self._step():
            self.end = step

    def _step(self) -> int:
        """The end of the next part of the opening; 0 if there is none."""
        text, at = self.text, self.end
        if found := SEPARATOR.match(text, at):
            self.is_marked = self.is_marked or not found[0].isspace()
        elif (found := self._strong()) and _ends(text, found.end()):
            self.is_strong, self.is_marked = True, False
        elif found := self._wrong_kind():
            self.is_contrary = self.is_kind = self.is_marked = True
        elif found := SHOULD_BE.match(text, at):
            self.is_contrary = self.is_marked = True
        elif found := NO.match(text, at):
            self.is_no, self.is_marked = True, False
        elif found := SHOULD.match(text, at):
            self.is_strong = self.is_given = self.is_marked = True
        elif found := CONTRARY.match(text, at):
            self.is_contrary, self.is_marked = True, False
        elif found := BELIEVES.match(text, at):
            self.is_believed = self.is_marked = True
        else:
            found = FILLER.match(text, at)
        return found.end() if found else 0

    def _wrong_kind(self) -> re.Match[str] | None:
        found = SAME_KIND.match(self.text, self.end)
        kinds = longer_words(self.question) | KINDS
        return found if found and found["kind"].casefold() in kinds else None

    def _strong(self) -> re.Match[str] | None:
        text, at = self.text, self.end
        is_place = ASKS_WHERE_OR_WHEN.search(self.question) is not None
        place = NOT_THERE.match(text, at) if is_place else None
        named = NAMES_WRONG.match(text, at)
        if named and named["what"].casefold() in words_in(f"{self.question} {self.answer}"):
            return named
        return place or STRONG.match(text, at) or FAILED.match(text, at)


def _ends(text: str, at: int) -> bool:
    """Whether a phrase of refusal ends here, and is not the beginning of another phrase ("wrong number")."""
    rest = text[at:].lstrip()
    return any(each.match(rest) for each in (STOP, FILLER)) or begins_statement(rest)
