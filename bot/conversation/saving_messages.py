"""The texts about messages that people save as lessons."""

from bot.conversation.messages import Spell, held_back
from memory.model import Episode
from memory.model.saved import AnsweredQuestion
from memory.rules.retrieval.prompt import shown_line
from memory.services import SavedLesson

ANSWERS_NOTHING = (
    "That message answers no question that I can see, so there is nothing to save: "
    "save a reply, or a message in a thread that began with a question."
)
NO_WORDS = (
    "I see no words in that message, or in what it answers, so there is nothing to save. Where I am shown only what "
    "mentions me, whoever runs me can let me read more."
)
CANCELLED = "Then I keep nothing of it."


def _about(lesson: Episode) -> str:
    return f"what {lesson.author} answered to “{shown_line(lesson.goal, 80)}”"


def saved(lesson: Episode, emoji: str) -> str:
    """Whom the lesson counts for now, and how it is taken back."""
    about = _about(lesson)
    if lesson.quarantine:
        return f"I keep {about}. {held_back(lesson)}"
    back = f"Take {emoji} off again and I forget it." if emoji else ""
    place = lesson.place or "this channel"
    if lesson.verdicts.workspace.is_validated:
        return f"Saved {about}, for the whole workspace. {back}".rstrip()
    if lesson.verdicts.channel.is_validated:
        return f"Saved {about}, for everybody in {place}. {back}".rstrip()
    return f"I keep {about}. It counts for {place} when a teacher approves it. {back}".rstrip()


def proposal(found: AnsweredQuestion, spell: Spell) -> str:
    """What `remember this` would keep."""
    return (
        f"I would keep this answer of {found.author}:\n\n"
        f"> **{shown_line(found.question, 200)}**\n> {shown_line(found.answer, 600)}\n\n"
        f"Shall I? Nothing is kept before you say so. `{spell('undo')}` takes it back later."
    )


def taken_back(lesson: Episode) -> str:
    """What became of the lesson when somebody took their save back."""
    if lesson.archived_at is None:
        return f"Your save is taken back; others stand by {_about(lesson)}, so it stays."
    return f"Forgotten: {_about(lesson)}."


def edited(changed: SavedLesson) -> str:
    """To the author of a message that is a lesson, after they edited it."""
    about = f"the lesson about “{shown_line(changed.lesson.goal, 80)}”"
    if changed.is_reopened:
        return f"Your message had become {about}. It says now what your message says, once a teacher approves it again."
    return f"Your message was proposed as {about}, which says now what your message says."
