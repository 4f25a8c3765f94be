"""Reads feedback in words: whether the asker's message after an answer judges it, and what it teaches. Pure.

A narrow rule for English and German: the first words have to judge the answer, and a correction has to be a possible
answer. Unclear messages are ordinary ones, because a wrong guess would teach a wrong lesson.
"""

from dataclasses import dataclass

from bot.conversation.feedback import (
    feedback_hints as hints,
    replacement_words,
    statement_words as words,
)
from bot.conversation.feedback.approval_words import THUMB, approves, praises
from bot.conversation.feedback.phrases import first_clause, longer_words, words_in
from bot.conversation.feedback.refusal_words import NOT_A_NO, RefusalOpening
from bot.conversation.feedback.remarks import QUESTION_MARKS, is_remark

_ENDING = 120
"""Characters at the end of an answer that are searched for an offer of more."""
_FEW = 4
"""The most words of a value."""
_STEM = 5
"""Letters by which forms of a word are compared."""


@dataclass(frozen=True, slots=True)
class FeedbackReading:
    """What a message says of the answer: that it is wrong, what is right instead, or that it is right."""

    correction: str = ""
    """What is right, if the message says so."""
    approves: bool = False
    is_sure: bool = True
    """If it is not sure, the person is asked."""

    @property
    def only_refuses(self) -> bool:
        """Whether it says that the answer is wrong, and not what is right."""
        return not (self.approves or self.correction)


APPROVED, REFUSED = FeedbackReading(approves=True), FeedbackReading()


def may_be_feedback(message: str) -> bool:
    """Whether the first words of a message hint at feedback, so that it is read closely."""
    return hints.MAY_BE_FEEDBACK.match(message) is not None


def may_be_answer(message: str) -> bool:
    """Whether a message is a statement about something else than its author and the bot, as an answer is."""
    text = message.strip()
    if hints.MAY_ANSWER.match(text) is None or not QUESTION_MARKS.isdisjoint(text):
        return False
    return not (words.INSTRUCTION.match(text) or words.YES_OR_NO.match(text) or words.SPEAKER.search(text))


def supplied_answer_in(message: str, question: str) -> FeedbackReading | None:
    """A statement that may be the answer to a question that the bot could not answer: never sure. None for others."""
    text, kinds = _not_of_oneself(message, question), (words.ASKS_WHERE_OR_WHEN, words.ASKS_WHO, words.ASKS_FOR_VALUE)
    is_question = not QUESTION_MARKS.isdisjoint(question) or any(each.match(question) for each in kinds)
    if not is_question or not may_be_answer(text):
        return None
    rest = _without_end(text)
    clause, behind = first_clause(rest)
    if words.DENIES.search(clause) or _is_no_answer(rest) or _is_no_answer(behind) or hints.NO_STATEMENT.match(behind):
        return None
    is_name = words.ASKS_WHO.search(question) is not None and words.NAMED.match(rest) is not None
    is_place = words.ASKS_WHERE_OR_WHEN.search(question) is not None and words.BARE_PLACE.match(rest) is not None
    is_place = is_place and not any(each.search(rest) for each in kinds)
    is_about_it = words.STARTED.match(rest) is not None or is_name or is_place or _is_about(clause, question)
    is_named = words.IT_IS.match(rest) is not None or _is_about(clause, question)
    is_named = is_named and words.ASKS_WHAT_IS.match(question) is not None and not words.UNIMPORTANT.search(rest)
    is_answer = is_named or is_name or _is_evident(rest, question, "")
    return (
        FeedbackReading(correction=_without_end(message.strip()), is_sure=False) if is_about_it and is_answer else None
    )


def _not_of_oneself(message: str, question: str) -> str:
    """A statement with "the" for "my" if the question is about the same: "my boss is Tess", to "who is my boss?"."""
    text = message.strip()
    mine = words.MINE.match(text)
    asked = {each["what"].casefold() for each in words.MINE.finditer(question)}
    return f"the {text[mine.start('what') :]}" if mine and mine["what"].casefold() in asked else text


def answer_after_refusal_in(message: str) -> FeedbackReading | None:
    """What may be right, from somebody who was asked what would have been right: never sure. None for others."""
    text = message.strip()
    if hints.MAY_TELL.match(text) is None or is_remark(text) or not QUESTION_MARKS.isdisjoint(text):
        return None
    rest, kinds = _without_end(text), (words.ASKS_WHERE_OR_WHEN, words.ASKS_WHO, words.ASKS_FOR_VALUE, words.SPEAKER)
    is_other = not rest or _is_no_answer(rest) or any(each.search(rest) for each in kinds)
    return None if is_other else FeedbackReading(correction=rest, is_sure=False)


def feedback_in(message: str, question: str = "", answer: str = "") -> FeedbackReading | None:
    """The feedback in an asker's message after the answer to their question; None for an ordinary message."""
    text = message.strip()
    if not may_be_feedback(text):
        return _contradiction(text, question, answer)
    if words.STYLE.match(text):
        return None
    echo, _, rest = text.partition("?")
    if rest:  # "Team Owl? It's Team Heron": the answer is doubted, and then corrected.
        is_echo = bool(words_in(echo)) and words_in(echo) <= words_in(answer)
        return _refusal(f"no, {rest.strip()}", question, answer) if is_echo else None
    if answer.rstrip().endswith("?") and not _offers_more(answer):
        return None  # It answers the bot's question.
    if thumb := THUMB.fullmatch(text):
        return APPROVED if thumb["up"] else REFUSED
    if approves(text):
        return APPROVED
    if NOT_A_NO.match(text):
        return None
    if words.ASTERISK.match(text):
        return FeedbackReading(correction=text[1:])
    return (
        _refusal(text, question, answer)
        or _replacement(text, question, answer)
        or _contradiction(text, question, answer)
    )


def _refusal(text: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in a text that begins with words of refusal."""
    opening = RefusalOpening(text, question, answer)
    behind = text[opening.end :]
    rest = _without_end(behind)
    if words.MEANT.match(rest):
        return None
    if opening.is_strong:
        return _after_strong_refusal(opening, rest, question, answer)
    is_weak = opening.is_no or opening.is_contrary or opening.is_believed
    if not is_weak or words.COURTESY.match(behind) or (rest and praises(rest)):
        return None
    return _after_weak_refusal(opening, rest, question, answer)


def _after_strong_refusal(opening: RefusalOpening, rest: str, question: str, answer: str) -> FeedbackReading:
    """The feedback after words that say that the answer is wrong: what follows is right, if it can be an answer."""
    is_means = _is_means(rest, question)
    if not rest or not (is_means or _may_be_right(rest)):
        return REFUSED
    _, rest, is_denial = _what_is_so(rest)
    is_answer = opening.is_given or is_means or words.begins_statement(rest) or _is_evident(rest, question, answer)
    return FeedbackReading(correction=rest) if is_answer and not is_denial else REFUSED


def _after_weak_refusal(opening: RefusalOpening, rest: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback after "no", "actually" or "I think": sure if what follows can be an answer, else to be asked."""
    if not rest:
        return REFUSED if opening.is_no and not _offers_more(answer) else None
    is_means, is_refusal = _is_means(rest, question), opening.is_no or opening.is_contrary
    is_place = words.PLACE_OR_TIME.match(rest) and words.ASKS_WHERE_OR_WHEN.search(question)
    is_apart = opening.is_marked or bool(is_place)
    if not (is_means or _may_be_right(rest)):
        return None
    if not (is_apart or words.begins_statement(rest) or words.DONT.match(rest)):
        return None
    clause, rest, is_denial = _what_is_so(rest)
    if is_denial:
        return _denial(clause, rest, question, answer)
    if words.FIRST_PERSON.search(clause) and not words.tells_what_to_do(rest):
        return None
    if not (is_refusal or words.IT_IS.match(rest)):
        return None
    is_value = is_means or (opening.is_kind and len(rest.split()) <= _FEW)
    if is_value or _is_evident(rest, question, answer):
        return FeedbackReading(correction=rest)
    may_state = words.begins_statement(rest) or (opening.is_no and is_apart and len(clause.split()) > 2)
    return FeedbackReading(correction=rest, is_sure=False) if may_state and is_refusal else None


def _is_means(text: str, question: str) -> bool:
    """Whether a text names the means that a question asks for."""
    return words.ASKS_HOW.search(question) is not None and words.MEANS.match(text) is not None


def _may_be_right(text: str) -> bool:
    """Whether a text is something to teach, or forbids something."""
    return not _is_no_answer(text) or words.DONT.match(text) is not None


def _offers_more(answer: str) -> bool:
    """Whether an answer ends with an offer, so that "no" declines that."""
    return words.OFFERS_MORE.search(answer, max(0, len(answer) - _ENDING)) is not None


def _what_is_so(text: str) -> tuple[str, str, bool]:
    """The first clause that states a fact, the text from it on, and whether there is only a denial."""
    clause, behind = first_clause(text)
    denies = words.DENIES.search(clause) is not None
    if denies and (not behind or _is_no_answer(behind)):
        return clause, text, True
    if denies or (words.ENDED.search(clause) and (words.tells_what_to_do(behind) or words.IT_IS.match(behind))):
        return first_clause(behind)[0], behind, False
    return clause, text, False


def _denial(clause: str, rest: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in a denial: the answer to a yes-or-no question, else a refusal if it is about the answer."""
    if words.FIRST_PERSON.search(clause) or words.UNIMPORTANT.search(clause):
        return None
    if words.YES_OR_NO.match(question) and words.begins_statement(rest) and len(longer_words(rest)) > 2:
        return FeedbackReading(correction=rest)
    is_about_answer = words.DEICTIC.search(clause) is not None or _share_words(clause, answer)
    return REFUSED if is_about_answer else None


def _replacement(text: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in a replacement for what the answer names, without a word of refusal."""
    if (
        (instead := replacement_words.INSTEAD_OF.search(text))
        and instead[1].casefold() in words_in(answer)
        and not _is_no_answer(text)
    ):
        return FeedbackReading(correction=_without_end(text))
    at_the_end = replacement_words.AT_THE_END.fullmatch(text)
    if at_the_end and _is_bare(at_the_end["text"]) and _is_evident(at_the_end["text"], question, answer):
        return FeedbackReading(correction=at_the_end["text"])
    clause, behind = first_clause(text)
    if behind and not _is_no_answer(behind) and _denies_answer(clause, behind, question, answer):
        return FeedbackReading(correction=_without_end(behind))
    is_about_answer = replacement_words.THIS.match(clause) is not None or _share_words(clause, answer)
    is_new = words.DEICTIC.match(clause) is not None and _is_evident(f"it is {behind}", question, answer)
    is_about_answer = is_about_answer or is_new
    is_about_answer = is_about_answer or _is_new_value(clause, behind, question, answer)
    is_over = words.GONE.search(clause) and (
        replacement_words.NOW.search(behind)
        or words.tells_what_to_do(behind)
        or _is_about(behind, question)
        or _is_value(behind, answer)
    )
    is_followed = replacement_words.WAS.search(clause) and replacement_words.NOW_IS.match(behind)
    if is_about_answer and (is_over or is_followed) and not words.SELF.match(behind):
        return FeedbackReading(correction=behind)
    if not behind and replacement_words.NO_MORE.fullmatch(_without_end(clause)) and _share_words(clause, answer):
        return REFUSED
    return _change(clause, text, question, answer)


def _denies_answer(clause: str, behind: str, question: str, answer: str) -> bool:
    """Whether a clause denies what the answer names, and what follows could be the answer."""
    if replacement_words.NOT_THAT.match(clause):
        is_them = replacement_words.NOT_THEM.match(clause) is not None
        is_about_answer = is_them or bool(words_in(clause) & words_in(answer))
    else:
        first_word = words_in("".join(clause.split()[:1]))
        is_named = words.DEICTIC.match(clause) is not None or bool(first_word & words_in(answer))
        is_denial = is_named and words.DENIES.search(clause) is not None
        is_there = words.ASKS_WHERE_OR_WHEN.search(question) is not None and "there" in words_in(clause)
        is_about_answer = is_denial and (is_there or _share_words(clause, answer))
    rest = _without_end(behind)
    return is_about_answer and any(_is_evident(each, question, answer) for each in (rest, f"it is {rest}"))


def _is_new_value(clause: str, behind: str, question: str, answer: str) -> bool:
    """Whether a clause is about the question, and a value or a name follows."""
    return _is_about(clause, question) and (_is_value(behind, answer) or words.IT_IS.match(behind) is not None)


def _contradiction(text: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in a contradiction without a word of refusal."""
    if hints.MAY_CONTRADICT.match(text) is None or words.STYLE.match(text):
        return None
    return _contrast(text, question, answer) or _other_value(text, question, answer)


def _other_value(text: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in another value of the kind that the answer gave: "it's 60 euros"."""
    rest = _without_end(text)
    value = rest[found.end() :] if (found := words.IT_IS.match(rest)) else ""
    is_short = 0 < len(value.split()) <= _FEW and not words.COURTESY.match(rest)
    is_name = words.ASKS_WHO.search(question) is not None and words.NAMED.match(value) is not None
    is_other = _is_value(value, answer) or (is_name and not words_in(value) <= words_in(answer))
    if not is_short or not is_other or words.FIRST_PERSON.search(value):
        return None
    return FeedbackReading(correction=rest, is_sure=bool(_is_evident(rest, question, answer)))


def _is_value(text: str, answer: str) -> bool:
    """Whether a few words are a value of the same kind as the answer but another one: digits, an address."""
    rest = _without_end(text)
    if not rest or len(rest.split()) > _FEW + 1 or words_in(rest) <= words_in(answer):
        return False
    is_spelled = all(any(map(words.SPELLED.fullmatch, side.split())) for side in (rest, answer))
    has_digits = all(any(map(str.isdigit, side)) for side in (rest, answer))
    return is_spelled or (has_digits and len(answer.split()) <= 2 * _FEW)


def _is_about(text: str, question: str) -> bool:
    """Whether a text shares a word with the question, in any form."""
    asked = {word[:_STEM] for word in longer_words(question)}
    return any(word[:_STEM] in asked for word in longer_words(text))


def _contrast(text: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in a contrast and an answer: "Yellow is for suppliers, visitors get blue"."""
    clause, behind = first_clause(text)
    about, rest = words_in("".join(clause.split()[:1])), _without_end(behind)
    is_contrast = about <= words_in(answer) - words_in(question) and words.STATES.match(clause) and about
    if not is_contrast or not words.begins_statement(rest) or words.FIRST_PERSON.search(rest) or _is_no_answer(rest):
        return None
    is_about_question = _is_about(rest, question)
    tells_more = longer_words(rest) - longer_words(f"{question} {answer}")
    if not tells_more or not (is_about_question or _is_evident(rest, question, answer)):
        return None
    return FeedbackReading(correction=rest, is_sure=is_about_question)


def _change(clause: str, text: str, question: str, answer: str) -> FeedbackReading | None:
    """The feedback in a change of what was asked about: "it moved to room 3"."""
    changed = replacement_words.CHANGED.match(clause)
    is_about_it = words.DEICTIC.match(clause) is not None or bool(
        longer_words(clause) & longer_words(f"{question} {answer}")
    )
    if changed is None or not is_about_it or words.FIRST_PERSON.search(clause) or words.SELF.match(clause):
        return None
    became = clause[changed.end() :].strip()
    is_known = bool(became) and _is_evident(f"it is {became}", question, answer)
    return FeedbackReading(correction=_without_end(text), is_sure=is_known) if became else None


def _is_bare(text: str) -> bool:
    """Whether a text is a value, a name or a place, alone or after "it is"."""
    if _is_no_answer(text) or words.FIRST_PERSON.search(text):
        return False
    return words.IT_IS.match(text) is not None or not words.begins_statement(text)


def _is_no_answer(rest: str) -> bool:
    """Whether a text is no answer to teach: politeness, a request, or about the person."""
    if words.REQUEST.match(rest) and not words.INSTRUCTION.match(rest):
        return True
    kinds = (words.COURTESY, words.STYLE, words.SELF)
    return any(each.match(rest) for each in kinds) or words.OTHER.fullmatch(rest) is not None


def _is_evident(rest: str, question: str, answer: str) -> bool:
    """Whether a text looks like an answer to the question: with a value, a place, a time, a name, an instruction."""
    is_statement, has_value = words.begins_statement(rest), any(map(str.isdigit, rest))
    asks_where = words.ASKS_WHERE_OR_WHEN.search(question) is not None
    asks_who, asks_value = words.ASKS_WHO.search(question), words.ASKS_FOR_VALUE.search(question)
    is_order = words.tells_what_to_do(rest) or words.OBLIGES.match(rest) or words.SINCE.search(rest)
    is_value = (has_value and (is_statement or asks_where or asks_value)) or words.SPELLED.fullmatch(
        words.IT_IS.sub("", rest, count=1)
    )
    is_place = words.PLACE_OR_TIME.search(rest) and (asks_where or is_statement)
    is_name = words.NAMED.match(rest) and (asks_who or (asks_value and not asks_where))
    has_name = any(map(str.isupper, rest[1:])) and is_statement
    is_alike = len(rest.split()) > 1 and longer_words(rest) & (longer_words(answer) - longer_words(question))
    return bool(is_order or is_value or is_place or is_name or has_name or is_alike)


def _without_end(text: str) -> str:
    """The text without punctuation, emoji and politeness at the end. The name of an emoji stays whole."""
    return words.TRAILING.sub(r"\g<emoji>", text).strip()


def _share_words(one: str, other: str) -> bool:
    """Whether two texts share a longer word, or a value."""
    return bool(longer_words(one) & longer_words(other))
