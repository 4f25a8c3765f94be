"""The bot's messages. Answers come from the agent, everything else from here."""

from collections.abc import Callable, Sequence

from memory.errors import NotADatabase, SchemaMismatch, StoreFull, StoreReadOnly
from memory.model import TAP, Episode, Role, Scope, Verdict, Visibility
from memory.rules.audience import visibility_of
from memory.rules.quarantine import Flag
from memory.rules.retrieval.prompt import percent, shown_line
from memory.services import UsedLesson
from memory.services.saving import SAVED

Spell = Callable[[str], str]
"""How a person types a command on the platform at hand."""


_COMMANDS = {
    "why": "which lessons and steps an answer came from",
    "parts": "which parts of an answer were right, and which went about it the wrong way",
    "memory": "what I believe here, and taking your lessons out of use",
    "ratings": "your 👍 and 👎, and taking one back",
    "reminders": "what I remind you of, and cancelling it",
    "new": "begin a new conversation: what was said before here is left out of it",
    "undo": "take back the last thing you taught me",
    "restate": "your lessons that need a new question, and giving them one",
    "export": "your data as a file",
    "forget": "erase your data",
    "privacy": "what I keep and who sees it",
    "stop": "stop what I am working on",
    "mode": "which messages of a channel I answer; teachers choose",
}
_TEACHERS_COMMANDS = {
    "review": "lessons that wait for a teacher",
    "promote": "give a lesson, by its id, to the channel or the workspace",
    "release": "let a lesson, by its id, be used that I hold back",
    "gaps": "questions nobody could answer, and teaching their answers",
    "teach": "the answer to one of them, by its id",
    "known-answers": "whether I give what people taught here without asking the language model: `on` or `off`",
    "purge": "take back everything one person taught, after showing how much it is",
    "settings": "who teaches, who may use me, how I listen; most of it for administrators",
}


def help_text(spell: Spell, role: Role) -> str:
    """What the bot is for and which commands somebody in this role may use."""
    lines = [
        "Ask me anything. When an answer is right, react 👍; when it is wrong, react 👎 and tell me what would have "
        f"been right: `{spell('correct')} ...`. I use what people taught me the next time somebody asks something "
        "like it.",
        "",
        *(f"- `{spell(name)}` - {what}" for name, what in _COMMANDS.items()),
    ]
    if role.may_promote:
        lines += ["", "For teachers:", ""]
        lines += [f"- `{spell(name)}` - {what}" for name, what in _TEACHERS_COMMANDS.items()]
    return "\n".join(lines)


def privacy_text(spell: Spell) -> str:
    """What is kept, who sees it, and what a person can do about it."""
    return (
        "**What I keep.** Your questions to me, my answers and how I got there, your reactions and corrections. What "
        "people say to each other I read only where I am asked something, and do not keep, unless somebody saves one "
        "message as a lesson (📚): then it is its author's.\n\n"
        "**Who sees it.** A lesson counts for you alone until a teacher, or several other people, approve it for the "
        "channel; only a teacher can share it with the workspace. Teachers may look through the lessons of public "
        "channels. What comes from a direct message or a private channel never leaves it.\n\n"
        "**What I never do.** I train no model on it and show nobody else's memory to you.\n\n"
        f"**Your rights.** `{spell('memory')}` shows it, `{spell('ratings')}` your votes, `{spell('undo')}` takes back "
        "what you taught, "
        f"`{spell('export')}` gives you a copy, `{spell('forget')}` erases it. What others taught me about your "
        "questions stays theirs, without the questions."
    )


def ask_correction(spell: Spell) -> str:
    """After a 👎: one question, never required."""
    return f"Noted, I will avoid that. What would have been right? `{spell('correct')} ...` tells me."


def how_to_correct(spell: Spell) -> str:
    """A hint to a person whose question may be meant as a correction."""
    return (
        f"Is that what my last answer should have been? Then write `{spell('correct')} ...`. If it was a question, "
        "send it once more."
    )


DIRECT_PLACE = "DM"
"""What messengers call the place of a direct conversation."""
NOTHING_TO_UNDO = "There is nothing of yours to take back."
BEGUN_ANEW = "A new conversation: I leave out what was said here before. What people taught me stays."
NO_SUCH_ANSWER = "I do not know that answer any more, or it is not one of mine."
NO_ANSWER_YET = "There is no answer here yet."
NOT_YOURS = "That answer is not yours to see."
STOPPED = "Stopped."
LATE = "A late answer: you asked while I was away."
EDITED_TOO_LATE = "My answer is to your message as it was before you changed it. Ask again for the new one."
NOTHING_RUNNING = "I am not working on anything here."
NOT_YOURS_TO_STOP = "Only whoever asked that, or a teacher, can stop it."
_IN_ANOTHER_CHANNEL = "an answer in another conversation"
_KEPT_APART = {"discord": "Each server is kept apart, and so are our direct messages: say it in each of them."}
NO_DATA = "I keep nothing about you here."
NO_SUCH_LESSON = "I have no such lesson here."
NO_SUCH_RATING = "There is no such rating of yours."
NOT_YOURS_TO_ARCHIVE = "Only whoever taught that, or a teacher, can do this. React 👎 to an answer that is wrong."
SET_ASIDE = (
    "I had to stop again and again while working on this message, so I will not try it any more. Ask in other words or "
    "in smaller parts, and I will try that."
)
ONLY_IN_YOUR_CHANNEL = "You teach in the channel that you created; the rest is for teachers of the whole workspace."
TEACHERS_ONLY = "That is for teachers. Ask one of yours; 👍, 👎 and corrections are for everybody."


def unknown_command(spell: Spell) -> str:
    """A hint for a word that is no command."""
    return f"I do not know that command. `{spell('help')}` lists those I know."


_SORRY = "Sorry, I could not work on that just now"


def apology(short_id: str, error: Exception | None = None) -> str:
    """The friendly text for what could not be done, with what to do; the log has the rest under the same id."""
    match error:
        case StoreFull():
            why = "the disk that my memory is on is full. Whoever runs me has to free some space; then send it again."
        case StoreReadOnly():
            why = "my memory cannot be written. Whoever runs me has to allow it; then send it again."
        case NotADatabase() | SchemaMismatch():
            why = "my memory cannot be read. Whoever runs me learns from `goodbot doctor` what to mend."
        case _:
            later = "Please try again in a moment. (If it stays that way, tell an administrator this id:"
            return f"{_SORRY}. {later} {short_id})"
    return f"{_SORRY}: {why} (Tell an administrator this id: {short_id})"


def may_not_post(place: str) -> str:
    """To an asker whose answer the platform does not take where they asked."""
    where = {"": "there", DIRECT_PLACE: "there"}.get(place, f"in {place}")
    return (
        f"I have an answer for you, but I may not write {where}. Ask whoever manages it to let me, then ask me again."
    )


def kept_back(place: str) -> str:
    """To an asker whose channel is read by others now than when they asked."""
    where = {"": "this channel", DIRECT_PLACE: "this channel"}.get(place, place)
    return f"Others can read {where} now than when you asked, so I do not answer that here. Ask me again if you like."


def named(person: str, reader: Scope | None) -> str:
    """A person as a reader is told of them.

    In quotes where they are called `you`, as whoever began a chat in a terminal is, and somebody else reads it.
    """
    shown = shown_line(person, 30)
    return f"“{shown}”" if person == "you" and reader is not None and reader.person != person else shown


def lesson_line(used: UsedLesson, reader: Scope | None = None, *, is_known: bool = False) -> str:
    """One remembered lesson under an answer: whose it is, what it was about, and how near it is.

    `is_known`: the answer is the lesson's, given without asking a model.
    """
    episode = used.episode
    about = shown_line(episode.goal, 60)
    verb = "proposed" if used.is_proposed else "taught"
    whose = "judged by a model, not by a person" if used.is_guess else f"{verb} by {named(episode.author, reader)}"
    known = "; known from people, no model was asked" if is_known else ""
    match = f"{percent(used.relevance)}% match, " if used.relevance is not None else ""
    return f"“{about}” ({match}{whose}{known})"


def lesson_saved(lesson: Episode, spell: Spell, action: str = "") -> str:
    """The confirmation of a lesson or a correction: whom it counts for now, and what lets others have it.

    `action` is the tool that it names, if it does.
    """
    saved = _reach_of_saved(lesson, spell)
    if not action or lesson.quarantine or not lesson.verdicts.personal.is_validated:
        return saved
    return f"Next time I will use `{shown_line(action, 40)}` for that. {saved}"


def _reach_of_saved(lesson: Episode, spell: Spell) -> str:
    if lesson.quarantine:
        return held_back(lesson)
    is_private = visibility_of(lesson) is Visibility.DIRECT
    if lesson.verdicts.workspace.is_validated:
        return _saved("a lesson for the whole workspace", spell)
    if lesson.verdicts.channel.is_validated and not is_private:
        return _saved(f"a lesson for everybody in {lesson.place or 'this channel'}", spell)
    if not lesson.verdicts.personal.is_validated:
        later = "" if is_private else " It counts when a teacher approves it."
        return f"Thank you, but I take no lessons from guests.{later}"
    if is_private:
        return _saved("your lesson; it was said in private, so nobody else gets it", spell)
    if lesson.verdicts.proposed is Verdict.SUCCESS:
        return _saved("your lesson; for others here it is a proposal until somebody else approves it", spell)
    return _saved("your lesson; others get it when a teacher approves it", spell)


def _saved(what: str, spell: Spell) -> str:
    return f"Saved as {what}. `{spell('undo')}` takes it back."


_HELD = {
    "injection": "it reads like instructions to me rather than an answer",
    "delimiter": "it looks like a part of my own instructions",
    "secret": "there was a password, token or key in it, which I took out",
    "length": "it is very long",
    "needs_question": "its question went with whoever had asked it, and its author has not given it another one",
    "restated": "its question is another one than people voted on",
}


def held_back(lesson: Episode) -> str:
    """A lesson that waits for a teacher, and why."""
    return f"Saved, but I will not use it before a teacher has looked at it: {why_held(lesson)}."


def why_held(lesson: Episode) -> str:
    """What speaks against a lesson that is held back."""
    return " and ".join(_HELD.get(reason, reason) for reason in lesson.quarantine)


TOO_MANY_VOTES = (
    "That is a lot of votes in a short time. I keep all of them, but those beyond the limit count for you alone, "
    "and go on doing so. To let one count for others, take it back and give it again when it has calmed down."
)


def undone(what: str, episode: Episode | None) -> str:
    """The act that was taken back (`Undone.what`), without the words where they may not be repeated."""
    goal = f"“{shown_line(episode.goal, 60)}”" if episode is not None else ""
    if what == TAP:
        return f"Taken back: your choice for {goal or _IN_ANOTHER_CHANNEL}."
    if what == SAVED:
        return f"Forgotten: the answer to {goal or _IN_ANOTHER_CHANNEL} that you saved."
    if what == "correction":
        return f"Forgotten: your correction for {goal or _IN_ANOTHER_CHANNEL}."
    reaction = what.partition(":")[2] or "vote"
    return f"Taken back: your {reaction} on {f'the answer to {goal}' if goal else _IN_ANOTHER_CHANNEL}."


def titled(title: str, lines: Sequence[str], page: str) -> str:
    """A list below its title, with the page if there are several."""
    return "\n".join([f"{title}{f' ({page})' if page else ''}:", "", *lines])


def which(noun: str, command: str, list_command: str) -> str:
    """A command that needs the id of a lesson or rating, without one."""
    return f"Which {noun}? `{command} ID`, with an id that `{list_command}` shows."


def archived_or_restored(episode: Episode) -> str:
    """A lesson was archived or restored."""
    done = "Restored" if episode.archived_at is None else "Archived: I will not use it any more"
    return f"{done}: “{shown_line(episode.goal or episode.output, 80)}”."


def restated(episode: Episode) -> str:
    """A lesson has a question again."""
    if set(episode.quarantine) == {Flag.RESTATED}:
        return (
            f"“{shown_line(episode.goal, 80)}” is what your answer is for: it counts for you now. Others said what "
            "they think of it about another question, so they get it when a teacher has looked at it."
        )
    if episode.quarantine:
        return held_back(episode)
    return f"“{shown_line(episode.goal, 80)}” is what your answer is for: it counts for {_reach(episode)} now."


def release_first(episode: Episode, command: str) -> str:
    """A lesson that is held back reaches nobody, however far it is promoted."""
    if not episode.goal:
        return f"I hold that lesson back: {why_held(episode)}."
    return f"I hold “{shown_line(episode.goal, 80)}” back, for {why_held(episode)}. First: `{command}`"


def released(episode: Episode) -> str:
    """A lesson that was held back is in use."""
    return f"“{shown_line(episode.goal, 80)}” is no longer held back: it counts for {_reach(episode)} now."


def promoted(episode: Episode, *, is_limited: bool = False) -> str:
    """Whom a lesson counts for after a promotion, which may have been one too many."""
    again = " Those were many promotions in a short time, so this one did nothing: try it again later."
    return f"“{shown_line(episode.goal, 80)}” counts for {_reach(episode)} now.{again if is_limited else ''}"


def _reach(episode: Episode) -> str:
    if episode.verdicts.workspace.is_validated and visibility_of(episode) is Visibility.PUBLIC:
        return "everybody in the workspace"
    if episode.verdicts.channel.is_validated:
        return f"everybody in {shown_line(episode.place, 40) or 'its channel'}"
    if not episode.verdicts.personal.is_validated:
        return "nobody"
    return "its author alone" if visibility_of(episode) is not Visibility.DIRECT else "one person"


def ratings(lines: Sequence[str], page: str) -> str:
    """The list behind `ratings`."""
    if not lines:
        return "You have not rated any answer. React 👍 or 👎 to one."
    return titled("Your ratings, newest first", lines, page)


def rating_line(episode: Episode | None, value: int) -> str:
    """One vote; without the words where they may not be repeated."""
    return f"{_thumb(value)} {_rated(episode)}"


def _rated(episode: Episode | None) -> str:
    if episode is None:
        return _IN_ANOTHER_CHANNEL
    return f"“{shown_line(episode.goal, 60)}” - {shown_line(episode.output, 60)} (`{episode.id[-8:]}`)"


def _thumb(value: int) -> str:
    return "👍" if value > 0 else "👎"


def unrated(episode: Episode | None, value: int) -> str:
    """A vote was taken back."""
    return f"Taken back: your {_thumb(value)} on {_rated(episode)}."


def scope_note(scope: Scope) -> str:
    """What to add where one person is known in several workspaces by the same id: only this one's data is meant."""
    apart = _KEPT_APART.get(scope.platform, "")
    return f"\n{apart}" if apart else ""


def verdict_word(verdict: Verdict) -> str:
    """A verdict in plain words."""
    return {
        Verdict.PENDING: "nobody has decided",
        Verdict.SUCCESS: "approved",
        Verdict.FAILURE: "rejected",
        Verdict.DISPUTED: "disputed",
    }[verdict]


def known_answers(is_on: bool | None, person: str, command: str) -> str:
    """What holds in a channel, who decided it, and how it is changed."""
    if is_on is None:
        return f"Nobody decided about known answers in this channel, so my settings hold. `{command} on` or `off`."
    text = "Here I ask the language model every time"
    if is_on:
        text = "What people taught and are sure of, I answer here without asking the language model, and say so"
    by = f" ({shown_line(person, 30)} decided that)" if person else ""
    return f"{text}{by}. `{command} {'off' if is_on else 'on'}` changes it."
