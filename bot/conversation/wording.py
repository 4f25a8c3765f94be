"""What the bot says about itself, in one place. Answers come from the agent, everything else from here."""

from collections.abc import Callable, Sequence

from memory.model import Episode, Lesson, Termination, Verdict
from memory.retrieval.prompt import percent, shown_line
from memory.service import Corrected, Erased, Holdings, Undone, UsedLesson

Spell = Callable[[str], str]
"""How a person types a command on the platform at hand."""


def help_text(spell: Spell) -> str:
    """What the bot is for and which commands it knows."""
    commands = {
        "why": "which lessons and steps an answer came from",
        "memory": "what I believe here",
        "undo": "take back the last thing you taught me",
        "export": "your data as a file",
        "forget": "erase your data",
        "privacy": "what I keep and who sees it",
        "stop": "stop what I am working on",
    }
    lines = [
        "Ask me anything. When an answer is right, react 👍; when it is wrong, react 👎 and tell me what would have "
        "been right. I use what people taught me the next time somebody asks something like it.",
        "",
        *(f"- `{spell(name)}` - {what}" for name, what in commands.items()),
    ]
    return "\n".join(lines)


def privacy_text(spell: Spell) -> str:
    """What is kept, who sees it, and what a person can do about it."""
    return (
        "**What I keep.** Your questions to me, my answers and how I got there, your reactions and corrections.\n\n"
        "**Who sees it.** A lesson counts for you alone until a teacher, or several other people, approve it for the "
        "channel; only a teacher can share it with the workspace. What comes from a direct message or a private "
        "channel never leaves it.\n\n"
        "**What I never do.** I train no model on it and show nobody else's memory to you.\n\n"
        f"**Your rights.** `{spell('memory')}` shows it, `{spell('undo')}` takes back what you taught, "
        f"`{spell('export')}` gives you a copy, `{spell('forget')}` erases it."
    )


def ask_correction(spell: Spell) -> str:
    """After a 👎: one question, never required."""
    return f"Noted, I will avoid that. What would have been right? `{spell('correct')} ...` tells me."


NOTHING_TO_UNDO = "There is nothing of yours to take back."
NO_SUCH_ANSWER = "I do not know that answer any more, or it is not one of mine."
NO_ANSWER_YET = "There is no answer here yet."
NOT_YOURS = "That answer is not yours to see."
STOPPED = "Stopped."
NOTHING_RUNNING = "I am not working on anything here."
NO_DATA = "I keep nothing about you here."


def unknown_command(spell: Spell) -> str:
    """A hint for a word that is no command."""
    return f"I do not know that command. `{spell('help')}` lists those I know."


def apology(short_id: str) -> str:
    """The friendly text for a run that could not even start; the log has the rest under the same id."""
    return (
        f"Sorry, I could not work on that just now. Please try again in a moment. (If it stays that way, tell an "
        f"administrator this id: {short_id})"
    )


def lesson_line(used: UsedLesson) -> str:
    """One remembered lesson under an answer: whose it is, what it was about, and how near it is."""
    episode = used.episode
    about = shown_line(episode.goal, 60)
    return f"“{about}” ({percent(used.relevance)}% match, taught by {shown_line(episode.author, 30)})"


def corrected(outcome: Corrected, spell: Spell) -> str:
    """Thanks for a correction, and for whom it counts now."""
    if outcome.lesson.quarantine:
        return held_back(outcome.lesson)
    if outcome.is_live_for_others:
        where = outcome.lesson.place or "this channel"
        return f"Saved as a lesson for everybody in {where}. `{spell('undo')}` takes it back."
    if not outcome.lesson.verdicts.personal.is_validated:
        return "Thank you. It counts when a teacher approves it, for I take no lessons from guests."
    return f"Saved as your lesson; others get it when a teacher approves it. `{spell('undo')}` takes it back."


def taught(lesson: Episode, spell: Spell) -> str:
    """Thanks for a lesson, and for whom it counts now."""
    if lesson.quarantine:
        return held_back(lesson)
    if lesson.verdicts.workspace.is_validated:
        return f"Saved as a lesson for the whole workspace. `{spell('undo')}` takes it back."
    if lesson.verdicts.channel.is_validated:
        return f"Saved as a lesson for everybody in {lesson.place or 'this channel'}. `{spell('undo')}` takes it back."
    return f"Saved as your lesson; others get it when a teacher approves it. `{spell('undo')}` takes it back."


_HELD = {
    "injection": "it reads like instructions to me rather than an answer",
    "delimiter": "it looks like a part of my own instructions",
    "secret": "there was a password, token or key in it, which I took out",
    "length": "it is very long",
}


def held_back(lesson: Episode) -> str:
    """A lesson that waits for a teacher, and why."""
    why = " and ".join(_HELD.get(reason, reason) for reason in lesson.quarantine)
    return f"Saved, but I will not use it before a teacher has looked at it: {why}."


TOO_MANY_VOTES = (
    "That is a lot of votes in a short time. I keep all of them; until it calms down, further ones count for you alone."
)


def undone(what: Undone, spell: Spell) -> str:
    """What was taken back."""
    goal = shown_line(what.episode.goal, 60)
    if what.what == "correction":
        return f"Forgotten: your correction for “{goal}”. `{spell('undo')}` again takes back the one before."
    reaction = what.what.partition(":")[2] or "grade"
    return f"Taken back: your {reaction} on the answer to “{goal}”. `{spell('undo')}` again takes back the one before."


def beliefs(lessons: Sequence[tuple[Episode, Lesson]], place: str) -> str:
    """The list behind `memory`."""
    where = place or "here"
    if not lessons:
        return f"I have learned nothing yet that counts for you in {where}. React 👍 or 👎 to an answer to teach me."
    lines = [f"What I have learned that counts for you in {where}:", ""]
    for number, (episode, lesson) in enumerate(lessons, start=1):
        said = "" if episode.termination is Termination.FAILURE else f" - {shown_line(episode.output, 100)}"
        sign = "👍" if lesson is Lesson.REPEAT else "👎"
        instead = f" → {shown_line(episode.correction, 80)}" if episode.correction else ""
        lines.append(f"{number}. {sign} “{shown_line(episode.goal, 80)}”{said}{instead} (`{episode.id[-8:]}`)")
    return "\n".join(lines)


def forget_question(held: Holdings, command: str) -> str:
    """The one question before everything of a person is erased."""
    return (
        f"This erases {_count(len(held.messages), 'message')}, {_count(len(held.episodes), 'episode')}, "
        f"{_count(len(held.reactions), 'vote')} of yours, and {_count(len(held.derived), 'episode')} of others that "
        f"repeat your words. It cannot be undone. To go ahead: `{command}`"
    )


def forgotten(erased: Erased) -> str:
    """What was erased."""
    return (
        f"Erased: {_count(erased.messages, 'message')}, {_count(erased.episodes, 'episode')}, "
        f"{_count(erased.reactions, 'vote')} of yours, and {_count(erased.derived, 'episode')} that repeated them."
    )


def verdict_word(verdict: Verdict) -> str:
    """A verdict as people say it."""
    return {
        Verdict.PENDING: "nobody has decided",
        Verdict.SUCCESS: "approved",
        Verdict.FAILURE: "rejected",
        Verdict.DISPUTED: "disputed",
    }[verdict]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
