"""Lines of lists of lessons: those that count for a person, and those that wait for a teacher."""

from collections.abc import Sequence

from bot.conversation.counts import count
from bot.conversation.messages import DIRECT_PLACE, named, titled_list, why_held
from bot.conversation.reply import short_id
from memory.model import Audience, Episode, Lesson, Role, Scope, Termination, Verdict, options_of
from memory.rules.quarantine import Flag
from memory.rules.retrieval.prompt import shown_line
from memory.rules.verdict import is_of_oneself


def lesson_list(lines: Sequence[str], place: str, page: str) -> str:
    """The list of the command `memory`."""
    where = {"": "here", DIRECT_PLACE: "in our direct messages"}.get(place, f"in {place}")
    if not lines:
        return f"I have learned nothing yet that counts for you {where}. React 👍 or 👎 to an answer to teach me."
    return titled_list(f"What I have learned that counts for you {where}", lines, page)


def belief_line(episode: Episode, lesson: Lesson, audience: Audience, reader: Scope) -> str:
    """The line of a lesson: repeat or avoid, question and answer, author, audience, id."""
    sign = "👍 repeat" if lesson is Lesson.REPEAT else "👎 avoid"
    for_whom = {
        Audience.PERSONAL: "for you",
        Audience.CHANNEL: f"for {shown_line(episode.place, 40) or 'this channel'}",
        Audience.WORKSPACE: "for everybody",
    }[audience]
    return f"{sign} {_summary(episode)} - taught by {_author(episode, reader)}, {for_whom} (`{short_id(episode.id)}`)"


def archive(lines: Sequence[str], role: Role, page: str) -> str:
    """The list of the command `memory archived`."""
    if not lines:
        return f"Nothing{'' if role.may_promote else ' of yours'} is archived here."
    return titled_list("What I no longer use, and you may restore", lines, page)


def archived_line(episode: Episode, reader: Scope) -> str:
    """The line of an archived lesson: question and answer, author, when it was archived, id."""
    when = f"{episode.archived_at or episode.created_at:%Y-%m-%d}"
    return f"{_summary(episode)} - taught by {_author(episode, reader)}, archived {when} (`{short_id(episode.id)}`)"


def review(lines: Sequence[str], total: int, page: str) -> str:
    """The list of the command `review`."""
    if not lines:
        return "Nothing waits for a teacher here."
    verb = "waits" if total == 1 else "wait"
    return titled_list(f"{count(total, 'lesson')} {verb} for a teacher", lines, page)


def review_line(episode: Episode, reader: Scope) -> str:
    """The line of a waiting lesson, with where it comes from."""
    where = shown_line(episode.place, 40) or "a channel"
    if episode.quarantine:
        held_back = f"⚠️ held back, for {why_held(episode)}: {_summary(episode)}"
        use = "now for its author" if set(episode.quarantine) == {Flag.RESTATED} else "not in use"
        return f"{held_back} - by {_author(episode, reader)} in {where}, {use} (`{short_id(episode.id)}`)"
    verdict = episode.verdict
    sign = {Verdict.SUCCESS: "👍 repeat", Verdict.FAILURE: "👎 avoid"}.get(verdict, "not approved yet:")
    now = "for nobody" if verdict is Verdict.PENDING else "for its author"
    if episode.verdicts.channel.is_validated:
        now = "for the channel"
    elif episode.verdicts.is_proposed:
        now = "only proposed" if verdict is Verdict.PENDING else f"{now}, proposed to others"
    elif is_of_oneself(episode):
        now = f"{now}, whom it is about"
    return (
        f"{sign} {_summary(episode)} - by {_author(episode, reader)} in {where}, now {now} (`{short_id(episode.id)}`)"
    )


def answer_line(episode: Episode, length: int) -> str:
    """What an answer says, shortened; of a question of the bot its options."""
    options = options_of(episode.trajectory)
    if not options:
        return shown_line(episode.output, length)
    asked = "which of these" if len(options) > 1 else "whether this is meant"
    if any(option.is_approval for option in options):
        asked = "whether I may do this"
    return f"I asked {asked}: {', '.join(f'“{shown_line(each.text or each.label, 40)}”' for each in options)}"


def _summary(episode: Episode) -> str:
    is_partial = episode.action == Termination.EXPAND
    has_none = episode.termination is Termination.FAILURE and not is_partial
    answer = " - no answer" if has_none else f" - {answer_line(episode, 100)}"
    instead = f" → {shown_line(episode.correction, 80)}" if episode.correction else ""
    question = f"“{shown_line(episode.goal, 80)}”" if episode.goal else "(no question)"
    return f"{question}{answer}{instead}"


def _author(episode: Episode, reader: Scope) -> str:
    return "you" if episode.author == reader.person else named(episode.author, reader)
