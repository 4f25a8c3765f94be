"""Messages about forgetting: what is erased, what stays with others, and what their authors are asked."""

from collections.abc import Sequence

from bot.conversation.counts import count, counts
from bot.conversation.reply import short_id
from memory.model import Episode
from memory.rules.retrieval.prompt import shown_line
from memory.services import ErasedCounts, PersonalData

_ANSWER = "remembered answer"
"""What people call an episode."""


def forget_question(data: PersonalData, command: str) -> str:
    """The question before everything of a person is erased."""
    kept = f" {kept_lessons(len(data.kept))}" if data.kept else ""
    return f"This erases {stored_counts(data)}.{kept} It cannot be undone. To go ahead: `{command}`"


def forgets_only_you(argument: str, command: str) -> str:
    """The reply to `forget` with anything but one's own data."""
    return (
        f"Here I erase only your own data: `{command}`. That of {shown_line(argument, 40)} an administrator erases, "
        "with `goodbot forget --person` where I run or on my page of that person."
    )


def still_named(lists: Sequence[str], command: str) -> str:
    """The sentence, with a space before it, about lists of the workspace that still name the person."""
    if not lists:
        return ""
    named = " and ".join(f"`{each}`" for each in lists)
    which = "list" if len(lists) == 1 else "lists"
    return f" The {which} {named} of this workspace still name you: an administrator takes you out, with `{command}`."


def stored_counts(data: PersonalData) -> str:
    """The counts of what is stored about a person."""
    return _erasable(
        len(data.messages), len(data.episodes), len(data.reactions), len(data.derived), is_asker=bool(data.kept)
    )


def kept_lessons(number: int) -> str:
    """The sentence about lessons of other authors, which stay."""
    which = "1 lesson that somebody else wrote stays" if number == 1 else f"{number} lessons that others wrote stay"
    return f"{which} theirs, without the question."


def forgotten_message(erased: ErasedCounts) -> str:
    """The confirmation of an erasure."""
    kept = f" {kept_lessons(erased.kept)}" if erased.kept else ""
    what = _erasable(erased.messages, erased.episodes, erased.reactions, erased.derived, is_asker=bool(erased.kept))
    return f"Erased: {what}.{kept}"


def _erasable(messages: int, episodes: int, votes: int, derived: int, *, is_asker: bool) -> str:
    own = counts((messages, "message"), (episodes, _ANSWER), (votes, "vote"))
    rest = f"{count(derived, _ANSWER)} of others with the same words" if derived else ""
    least = "the words of a question" if is_asker else "that you were here"
    return ", and ".join(each for each in (own, rest) if each) or least


def need_questions(number: int, command: str) -> str:
    """To the author of lessons whose asker was forgotten."""
    which = "One of your lessons needs" if number == 1 else f"{number} of your lessons need"
    return (
        f"{which} a new question: whoever had asked the old one is forgotten, and so are their words. I use your "
        f"answer again when you have told me, in your own words, what it answers: `{command}`"
    )


def restated_elsewhere(command: str) -> str:
    """To an author who would let others read what they write here."""
    return (
        "That lesson is from a place where more people may be shown its question than read this. Write it there, or "
        f"here with a # before the id, if they may: `{command}`"
    )


def to_restate(lessons: Sequence[Episode], elsewhere: int, command: str) -> str:
    """The list of the command `restate`; `elsewhere` counts lessons that may not be shown here."""
    rest = f"{count(elsewhere, 'lesson')} of yours from elsewhere can only be shown where you taught them."
    if not lessons:
        return rest if elsewhere else "None of your lessons needs a new question."
    lines = [f"- “{shown_line(each.output, 100)}” (`{short_id(each.id)}`)" for each in lessons]
    listed = ["Your answers that need a question in your own words:", "", *lines]
    paragraphs = [*listed, "", f"To give one its question: `{command}`", *(["", rest] if elsewhere else [])]
    return "\n".join(paragraphs)
