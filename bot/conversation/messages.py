"""Messages of the bot that several packages use. A message of one module is in that module."""

from collections.abc import Callable, Sequence

from bot.errors import MessengerError, ModelRefused, ModelRejected
from memory.errors import NotADatabase, SchemaMismatch, StoreFull, StoreReadOnly
from memory.model import Episode, Scope, Verdict, Visibility
from memory.rules.audience import visibility_of
from memory.rules.retrieval.prompt import percent, shown_line
from memory.rules.verdict import is_of_oneself
from memory.services import UsedLesson

HowToType = Callable[[str], str]
"""How a person types a command on the present platform."""


DIRECT_PLACE = "DM"
"""The place name of a direct conversation, as messengers give it."""
NO_SUCH_ANSWER = "I do not know that answer any more, or it is not one of mine."
NO_ANSWER_YET = "There is no answer here yet."
NOT_ANSWERED_YET = "My answer is not here yet. Write that again when it is, then I know what it corrects."
NOT_YOURS = "That answer is not yours to see."
STOPPED = "Stopped."
LATE = "A late answer: you asked while I was away."
EDITED_TOO_LATE = "My answer is to your message as it was before you changed it. Ask again for the new one."
NOTHING_RUNNING = "I am not working on anything here."
NOT_YOURS_TO_STOP = "Only whoever asked that, or a teacher, can stop it."
IN_ANOTHER_CHANNEL = "an answer in another conversation"
NO_SUCH_LESSON = "I have no such lesson here."
SET_ASIDE = (
    "I had to stop again and again while working on this message, so I will not try it any more. Ask in other words or "
    "in smaller parts, and I will try that."
)
ONLY_IN_YOUR_CHANNEL = "You teach in the channel that you created; the rest is for teachers of the whole workspace."
TEACHERS_ONLY = "That is for teachers. Ask one of yours; 👍, 👎 and corrections are for everybody."


_SORRY = "Sorry, I could not work on that just now"


def apology(short_id: str, error: Exception | None = None) -> str:
    """The text about a failure, with what to do; the log has the details under the same id."""
    match error:
        case StoreFull():
            why = "the disk that my memory is on is full. Whoever runs me has to free some space; then send it again."
        case StoreReadOnly():
            why = "my memory cannot be written. Whoever runs me has to allow it; then send it again."
        case NotADatabase() | SchemaMismatch():
            why = "my memory cannot be read. Whoever runs me learns from `goodbot doctor` what to mend."
        case ModelRejected():
            why = "the language model does not accept my requests, so sending it again will not help."
        case ModelRefused():
            again = "Please ask in other words. (If it declines that too, tell an administrator this id:"
            return f"Sorry, the language model declined to answer that. {again} {short_id})"
        case MessengerError():  # most often after it was stored: a repeated `undo` would take back one more
            lost = (
                "Sorry, my reply did not get through. What you did may count all the same: look before you repeat it."
            )
            return f"{lost} (If it stays that way, tell an administrator this id: {short_id})"
        case _:
            later = "Please try again in a moment. (If it stays that way, tell an administrator this id:"
            return f"{_SORRY}. {later} {short_id})"
    return f"{_SORRY}: {why} (Tell an administrator this id: {short_id})"


def sentence(error: Exception) -> str:
    """What an error says, as a sentence of its own."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def may_not_post(place: str) -> str:
    """To an asker whose answer may not be posted where they asked."""
    where = {"": "there", DIRECT_PLACE: "there"}.get(place, f"in {place}")
    return (
        f"I have an answer for you, but I may not write {where}. Ask whoever manages it to let me, then ask me again."
    )


def answer_withheld(place: str) -> str:
    """To an asker whose channel got other readers since they asked."""
    where = {"": "this channel", DIRECT_PLACE: "this channel"}.get(place, place)
    return f"Others can read {where} now than when you asked, so I do not answer that here. Ask me again if you like."


def named(person: str, reader: Scope | None) -> str:
    """A person's name for a reader.

    A person who is called `you`, as the first one in a terminal is, is described to others.
    """
    is_first = person == "you" and reader is not None and reader.person != person
    return "whoever began this chat" if is_first else shown_line(person, 30)


def lesson_line(used: UsedLesson, reader: Scope | None = None, *, is_known: bool = False) -> str:
    """A used lesson under an answer: its question, its author, and its relevance.

    `is_known`: the answer is the lesson's own, given without asking a model.
    """
    episode = used.episode
    about = shown_line(episode.goal, 60)
    verb = "proposed" if used.is_proposed else "taught"
    whose = "judged by a model, not by a person" if used.is_guess else f"{verb} by {named(episode.author, reader)}"
    known = "; known from people, no model was asked" if is_known else ""
    match = f"{percent(used.relevance)}% match, " if used.relevance is not None else ""
    return f"“{about}” ({match}{whose}{known})"


def lesson_lines(used: Sequence[UsedLesson], reader: Scope, *, is_known: bool = False) -> tuple[str, ...]:
    """The used lessons under an answer; those that read the same are named once."""
    return tuple(dict.fromkeys(lesson_line(each, reader, is_known=is_known) for each in used))


def lesson_saved(lesson: Episode, how_to_type: HowToType, action: str = "") -> str:
    """The confirmation of a lesson or correction: for whom it counts now, and how it may count for others.

    `action` is the tool that it names, if any.
    """
    saved = _reach_of_saved(lesson, how_to_type)
    if not action or lesson.quarantine or not lesson.verdicts.personal.is_validated:
        return saved
    return f"Next time I will use `{shown_line(action, 40)}` for that. {saved}"


def _reach_of_saved(lesson: Episode, how_to_type: HowToType) -> str:
    if lesson.quarantine:
        return held_back(lesson)
    is_private = visibility_of(lesson) is Visibility.DIRECT
    if lesson.verdicts.workspace.is_validated:
        return _saved("a lesson for the whole workspace", how_to_type)
    if lesson.verdicts.channel.is_validated and not is_private:
        return _saved(f"a lesson for everybody in {lesson.place or 'this channel'}", how_to_type)
    if not lesson.verdicts.personal.is_validated:
        if is_private:
            return "Thank you, but I take no lessons from guests."
        return "Thank you. What a guest teaches counts when a teacher approves it."
    if is_private:
        return _saved("your lesson; it was said in private, so nobody else gets it", how_to_type)
    if is_of_oneself(lesson):
        return _saved("your lesson; it is about you, so others get it only if a teacher promotes it", how_to_type)
    if lesson.verdicts.proposed is Verdict.SUCCESS:
        return _saved("your lesson; for others here it is a proposal until somebody else approves it", how_to_type)
    return _saved("your lesson; others get it when a teacher approves it", how_to_type)


def _saved(what: str, how_to_type: HowToType) -> str:
    return f"Saved as {what}. `{how_to_type('undo')}` takes it back."


_HELD = {
    "injection": "it reads like instructions to me rather than an answer",
    "delimiter": "it looks like a part of my own instructions",
    "secret": "there was a password, token or key in it, which I took out",
    "length": "it is very long",
    "needs_question": "its question went with whoever had asked it, and its author has not given it another one",
    "restated": "its question is another one than people voted on",
}


def held_back(lesson: Episode) -> str:
    """The confirmation of a lesson that waits for a teacher, with the reason."""
    return f"Saved, but I will not use it before a teacher has looked at it: {why_held(lesson)}."


def why_held(lesson: Episode) -> str:
    """Why a lesson is held back."""
    return " and ".join(_HELD.get(reason, reason) for reason in lesson.quarantine)


def titled_list(title: str, lines: Sequence[str], page: str) -> str:
    """A list with its title, and the page if there are several."""
    return "\n".join([f"{title}{f' ({page})' if page else ''}:", "", *lines])


def missing_id(noun: str, command: str, list_command: str) -> str:
    """The reply to a command that lacks the id of a lesson or rating."""
    return f"Which {noun}? `{command}`, with an id that `{list_command}` shows."


def for_whom(episode: Episode) -> str:
    """For whom a lesson counts, in words."""
    if episode.verdicts.workspace.is_validated and visibility_of(episode) is Visibility.PUBLIC:
        return "everybody in the workspace"
    if episode.verdicts.channel.is_validated:
        return f"everybody in {shown_line(episode.place, 40) or 'its channel'}"
    if not episode.verdicts.personal.is_validated:
        return "nobody"
    return "its author alone" if visibility_of(episode) is not Visibility.DIRECT else "one person"


def lesson_state(episode: Episode) -> str:
    """For whom an episode counts as a lesson, or why it counts for nobody, in words."""
    if episode.archived_at is not None:
        return "it is archived and counts for nobody"
    if episode.quarantine:
        return f"it is held back: {why_held(episode)}"
    if not episode.verdict.is_validated:
        return f"it counts for nobody: {verdict_word(episode.verdict)}"
    return f"it counts for {for_whom(episode)}"


def verdict_word(verdict: Verdict) -> str:
    """A verdict in plain words."""
    return {
        Verdict.PENDING: "nobody has decided",
        Verdict.SUCCESS: "approved",
        Verdict.FAILURE: "rejected",
        Verdict.DISPUTED: "disputed",
    }[verdict]
