"""Feedback in words: whether what an asker says right after an answer judges it, and what it teaches. Pure.

A narrow rule for English and German: the first words have to say so, and what is taught has to be something that can be
an answer. What is not clearly feedback is an ordinary message: a wrong guess teaches a wrong lesson.
"""

import re
from dataclasses import dataclass
from typing import TypeAlias

from bot.conversation import feedback_words as words

_ENDING = 120
"""Characters at the end of an answer that may offer more."""
_CONTENT = re.compile(r"[^\W_][\w'’:.@#-]*\w|\d")
_WORD = re.compile(r"[^\W_]+(?:[:.-][^\W_]+)*+")


@dataclass(frozen=True, slots=True)
class Correction:
    """The answer is wrong, and this is right."""

    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer is wrong."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer is right."""


Feedback: TypeAlias = Correction | Refusal | Approval


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message was read as. What is not sure is asked."""

    feedback: Feedback
    is_sure: bool = True


def may_be_feedback(message: str) -> bool:
    """Whether the first words of a message hint at feedback: only then is it looked at closely."""
    return words.HINT.match(message) is not None


def read(message: str, question: str = "", answer: str = "") -> Reading | None:
    """What an asker's next message says of the answer to their question; None where it is an ordinary message."""
    text = message.strip()
    if not may_be_feedback(text) or words.STYLE.match(text):
        return None
    if answer.rstrip().endswith("?") and not words.OFFERS_MORE.search(answer, max(0, len(answer) - _ENDING)):
        return None  # It answers what the bot asked.
    if _approves(text):
        return Reading(Approval())
    if words.NOT_A_NO.match(text):
        return None
    if words.ASTERISK.match(text):
        return Reading(Correction(text[1:]))
    return _refusal(text, question, answer) or _replacement(text, question, answer)


def _approves(text: str) -> bool:
    """Whether a clause says that it was right, with nothing but joy before it, or with thanks somewhere."""
    if words.TAKES_BACK.search(_after_joy(text)):
        return False
    rest, is_first, is_thankful = _after_joy(text), True, words.THANKS.search(text) is not None
    while rest and (is_first or is_thankful):
        if _praises(rest):
            return True
        rest, is_first = _after_joy(_first_clause(rest)[1]), False
    return False


def _praises(text: str) -> bool:
    praise, alone = words.APPROVES.match(text), words.APPROVES_ALONE.match(text)
    is_all = alone is not None and not _after_joy(text[alone.end() :])
    return is_all or (praise is not None and words.TAIL.match(text, praise.end()) is not None)


def _after_joy(text: str) -> str:
    at = 0
    while found := words.SEPARATOR.match(text, at) or words.SOFT.match(text, at):
        at = found.end()
    return text[at:]


@dataclass(slots=True)
class _Opening:
    """How a message begins: by what it refuses, and where that ends."""

    text: str
    end: int = 0
    is_strong: bool = False
    is_no: bool = False
    is_contrary: bool = False
    is_given: bool = False
    """It announces what is right."""
    is_marked: bool = True
    """Whether a mark stands between the refusal and what follows."""

    def __post_init__(self) -> None:
        self.is_no = self.text.startswith("👎")
        while step := self._step():
            self.end = step

    def _step(self) -> int:
        """Where the next part of the opening ends; 0 where there is none."""
        text, at = self.text, self.end
        if found := words.SEPARATOR.match(text, at):
            self.is_marked = self.is_marked or not found[0].isspace()
        elif (found := words.STRONG.match(text, at) or words.FAILED.match(text, at)) and _ends(text, found.end()):
            self.is_strong, self.is_marked = True, False
        elif found := words.NO.match(text, at):
            self.is_no, self.is_marked = True, False
        elif found := words.SHOULD.match(text, at):
            self.is_strong = self.is_given = self.is_marked = True
        elif found := words.CONTRARY.match(text, at):
            self.is_contrary, self.is_marked = True, False
        else:
            found = words.FILLER.match(text, at)
        return found.end() if found else 0


def _ends(text: str, at: int) -> bool:
    """Whether a phrase of refusal is whole here, and not the beginning of another one ("wrong number")."""
    rest = text[at:].lstrip()
    return any(each.match(rest) for each in (words.STOP, words.FILLER)) or words.begins_statement(rest)


def _refusal(text: str, question: str, answer: str) -> Reading | None:
    """What begins with words of refusal."""
    opening = _Opening(text)
    if not (opening.is_strong or opening.is_no or opening.is_contrary):
        return None
    behind = text[opening.end :]
    rest = _without_end(behind)
    offers = not opening.is_strong and words.OFFERS_MORE.search(answer, max(0, len(answer) - _ENDING))
    refuses = Reading(Refusal()) if opening.is_strong or (opening.is_no and not rest and not offers) else None
    is_polite = words.COURTESY.match(behind) is not None and not opening.is_strong
    if is_polite or words.MEANT.match(rest) or (rest and _praises(rest) and not opening.is_strong):
        return None
    if not rest or (_is_no_answer(rest) and not words.DONT.match(rest)):
        return refuses
    is_place = words.PLACE_OR_TIME.match(rest) and words.ASKS_WHERE_OR_WHEN.search(question)
    is_apart = opening.is_marked or opening.is_strong or is_place
    if not (is_apart or words.begins_statement(rest) or words.DONT.match(rest)):
        return None
    clause, behind = _first_clause(rest)
    clause, rest, is_denial = _what_is_so(clause, rest, behind)
    if is_denial:
        return refuses or _denial(clause, rest, question, answer)
    if opening.is_strong:
        is_answer = opening.is_given or words.begins_statement(rest) or _is_evident(rest, question, answer)
        return Reading(Correction(rest)) if is_answer else refuses
    if words.FIRST_PERSON.search(clause) and not words.tells_what_to_do(rest):
        return None
    if _is_evident(rest, question, answer):
        return Reading(Correction(rest))
    return Reading(Correction(rest), is_sure=False) if words.begins_statement(rest) else None


def _what_is_so(clause: str, rest: str, behind: str) -> tuple[str, str, bool]:
    """The first clause that says what is so, with all from it on; and whether there is none, only what is not so."""
    denies = words.DENIES.search(clause) is not None
    if denies and (not behind or _is_no_answer(behind)):
        return clause, rest, True
    if denies or (words.ENDED.search(clause) and words.tells_what_to_do(behind)):
        return _first_clause(behind)[0], behind, False
    return clause, rest, False


def _denial(clause: str, rest: str, question: str, answer: str) -> Reading | None:
    """What says only what is not so: it answers a question for yes or no, else it refuses what the answer says."""
    if words.FIRST_PERSON.search(clause) or words.UNIMPORTANT.search(clause):
        return None
    if words.YES_OR_NO.match(question) and words.begins_statement(rest) and len(_content(rest)) > 2:
        return Reading(Correction(rest))
    is_about_answer = words.DEICTIC.search(clause) is not None or bool(_content(clause) & _content(answer))
    return Reading(Refusal()) if is_about_answer else None


def _replacement(text: str, question: str, answer: str) -> Reading | None:
    """What says without a word of refusal that something came in the place of what the answer names."""
    if (
        (instead := words.INSTEAD_OF.search(text))
        and instead[1].casefold() in _words(answer)
        and not _is_no_answer(text)
    ):
        return Reading(Correction(_without_end(text)))
    at_the_end = words.AT_THE_END.fullmatch(text)
    if at_the_end and _is_bare(at_the_end["text"]) and _is_evident(at_the_end["text"], question, answer):
        return Reading(Correction(at_the_end["text"]))
    clause, behind = _first_clause(text)
    if words.NOT_THAT.match(clause) and behind and _words(clause) & _words(answer) and not _is_no_answer(behind):
        return Reading(Correction(_without_end(behind)))
    is_about_answer = clause.casefold().startswith(("that ", "this ")) or bool(_content(clause) & _content(answer))
    if is_about_answer and words.GONE.search(clause) and words.NOW.search(behind) and not words.SELF.match(behind):
        return Reading(Correction(behind))
    return None


def _is_bare(text: str) -> bool:
    """Whether it is a value, a name or a place, alone or behind "it is"."""
    if _is_no_answer(text) or words.FIRST_PERSON.search(text):
        return False
    return words.IT_IS.match(text) is not None or not words.begins_statement(text)


def _is_no_answer(rest: str) -> bool:
    """Whether it is politeness, a wish, or about the person: nothing that could be taught."""
    if words.REQUEST.match(rest) and not words.INSTRUCTION.match(rest):
        return True
    kinds = (words.COURTESY, words.STYLE, words.SELF)
    return any(each.match(rest) for each in kinds) or words.OTHER.fullmatch(rest) is not None


def _is_evident(rest: str, question: str, answer: str) -> bool:
    """Whether it has what an answer to the question has: a value, a place, a time, a name, an order."""
    is_statement, has_value = words.begins_statement(rest), any(map(str.isdigit, rest))
    asks_where = words.ASKS_WHERE_OR_WHEN.search(question) is not None
    asks_who, asks_value = words.ASKS_WHO.search(question), words.ASKS_FOR_VALUE.search(question)
    is_order = words.tells_what_to_do(rest) or words.OBLIGES.match(rest) or words.SINCE.search(rest)
    is_value = has_value and (is_statement or asks_where or asks_value)
    is_place = words.PLACE_OR_TIME.search(rest) and (asks_where or is_statement)
    is_name = words.NAMED.match(rest) and (asks_who or (asks_value and not asks_where))
    has_name = any(map(str.isupper, rest[1:])) and is_statement
    is_alike = len(rest.split()) > 1 and _content(rest) & (_content(answer) - _content(question))
    return bool(is_order or is_value or is_place or is_name or has_name or is_alike)


def _first_clause(text: str) -> tuple[str, str]:
    """The first clause, and what follows it without the words that join both."""
    end = words.CLAUSE_END.search(text)
    if end is None:
        return text, ""
    at = end.end()
    while found := words.SEPARATOR.match(text, at) or words.FILLER.match(text, at):
        at = found.end()
    return text[: end.start()], text[at:]


def _without_end(text: str) -> str:
    """Without the marks, the feelings and the politeness at the end."""
    return words.TRAILING.sub("", text).strip()


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold())) - {"not", "the", "nicht"}


def _content(text: str) -> set[str]:
    """Words that carry meaning, by their length, and values."""
    return {each for each in _CONTENT.findall(text.casefold()) if len(each) > 3 or not each.isalpha()}
