"""The commands `gaps` and `teach`: unanswered questions, and a teacher's answer to one of them."""

from collections.abc import Sequence
from dataclasses import replace

from bot.conversation import messages
from bot.conversation.commands import batch_commands
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import LessonAccess
from bot.conversation.messages import titled_list
from bot.conversation.reply import CommandReply, short_id
from bot.errors import CommandRefused
from bot.model import Choice
from memory.errors import NotFound
from memory.model import Audience, Episode, Origin, Role, Scope, Visibility
from memory.rules.audience import may_read, visibility_of
from memory.rules.evidence.named_action import named_action
from memory.rules.retrieval.prompt import shown_line
from memory.services import Gap, Memory

SHOWN = 10
"""How many questions are listed."""
_LABEL_CHARACTERS = 60
_SHORTEST = 8
"""The fewest characters of an id that a person may give."""
THERE = "#"
"""A mark before an id: the answer counts where the question was asked, wherever it is written."""

TITLE = "What nobody could answer, those first whose answer settles most"
COUNTS_THERE = "What you answer here counts where it was asked."


def no_such_gap(how_to_type: messages.HowToType) -> str:
    """The reply to `teach` without the id of an unanswered question."""
    return (
        f"I know no such question that waits for an answer. `{how_to_type('gaps')}` lists those that do; "
        f"`{how_to_type('teach ID ANSWER')}` answers one."
    )


def gap_line(gap: Gap, number: int) -> str:
    """The line of one question: how often it was asked, its words, where it was asked, and its id."""
    asked = f"{gap.asked} questions like" if gap.asked > 1 else "asked once:"
    where = f" in {shown_line(gap.episode.place, 40)}" if gap.episode.place else ""
    return f"{number}. {asked} “{shown_line(gap.episode.goal, 80)}”{where} (`{short_id(gap.episode.id)}`)"


def gaps(lines: Sequence[str], command: str, *, is_direct: bool) -> str:
    """The list of the command `gaps`."""
    if not lines:
        return "Every question that I may show here was answered, as far as I know."
    text = titled_list(TITLE, lines, "")
    return f"{text}\n\nTo teach one: `{command}`.{f' {COUNTS_THERE}' if is_direct else ''}"


def how_to_teach(question: Episode, command: str) -> str:
    """The reply to `teach ID` without an answer."""
    return f"What is the right answer to “{shown_line(question.goal, 100)}”? `{command}`"


def show(context: CommandContext) -> CommandReply:
    """`gaps`: the questions to answer first, each with a button that opens a form for the answer.

    In direct messages their answers count where the questions were asked, as those of the digest do.
    """
    reader = context.scope
    is_direct = reader.visibility is Visibility.DIRECT
    there = THERE if is_direct else ""
    found = context.memory.gaps.find(reader.workspace, limit=SHOWN, reader=reader)
    lines = [gap_line(gap, number) for number, gap in enumerate(found, start=1)]
    choices = tuple(answer_choice(gap, number, there=there) for number, gap in enumerate(found, start=1))
    command = context.how_to_type(f"teach {there}ID ANSWER")
    return CommandReply(text=gaps(lines, command, is_direct=is_direct), choices=choices)


def answer_choice(gap: Gap, number: int, *, there: str = "") -> Choice:
    """The button that opens a form for the answer."""
    label = f"Answer {number}: {shown_line(gap.episode.goal, _LABEL_CHARACTERS)}"
    return Choice(label=label, command="teach", argument=there + short_id(gap.episode.id))


def teach(context: CommandContext) -> CommandReply:
    """`teach ID ANSWER`: teach the answer to an unanswered question, or rewrite a waiting lesson.

    The answer counts in the narrower of the place of the question and the place where the answer is written; with `#`
    before the id, where the question was asked.
    """
    named, _, answer = context.argument.partition(" ")
    ending = named.removeprefix(THERE)
    question = _unanswered(context.memory, context.scope, ending)
    lesson = None if question is not None else waiting_lesson(context.lessons, context.scope, context.role, ending)
    if lesson is not None:
        return _edit(context, lesson, answer)
    if question is None:
        raise CommandRefused(no_such_gap(context.how_to_type))
    if not answer.strip():
        return CommandReply(text=how_to_teach(question, context.how_to_type(f"teach {named} ANSWER")))
    command, writer = context.command, context.scope
    if named.startswith(THERE):
        writer = replace(question.scope, person=writer.person)
    try:
        outcome = context.memory.teaching.correct(
            writer, question.run_id, answer, role=context.role, at=command.at, event_id=command.event_id
        )
    except NotFound as error:
        raise CommandRefused(no_such_gap(context.how_to_type)) from error
    if outcome is None:
        return CommandReply(text=no_such_gap(context.how_to_type))
    action = named_action(outcome.lesson.output, context.actions)
    reply = CommandReply(
        text=messages.lesson_saved(outcome.lesson, context.how_to_type, action), changed_runs=(question.run_id,)
    )
    return reply.above(show(context))


def _edit(context: CommandContext, lesson: Episode, answer: str) -> CommandReply:
    """Replace a waiting lesson by a teacher's own words; the old one is archived."""
    if not answer.strip():
        return CommandReply(text=how_to_teach(lesson, context.how_to_type(f"teach {short_id(lesson.id)} ANSWER")))
    command, teaching = context.command, context.memory.teaching
    curation = context.memory.curation
    if context.memory.batches.of_lessons(lesson.workspace, [lesson.id]):
        return batch_commands.edited(context, lesson, answer)
    taught = teaching.teach(
        replace(lesson.scope, person=context.scope.person, visibility=visibility_of(lesson)),
        lesson.goal,
        answer,
        role=context.role,
        audience=Audience.CHANNEL,
        at=command.at,
        event_id=command.event_id,
        instead_of=lesson.id,
    )
    if taught is None:
        return CommandReply(text=no_such_gap(context.how_to_type))
    curation.archive(lesson.workspace, lesson.id, actor=context.scope.person)
    text = messages.lesson_saved(taught, context.how_to_type, named_action(taught.output, context.actions))
    return CommandReply(text=text, decided_for=(lesson.author,))


def form_for(memory: Memory, reader: Scope, role: Role, named: str) -> tuple[str, str] | None:
    """The question that the form of `teach` is for, and the answer it has so far; None if nothing named so waits."""
    ending, lessons = named.removeprefix(THERE), LessonAccess(memory)
    if question := _unanswered(memory, reader, ending):
        (seen,) = lessons.as_seen_by(reader, [question])
        return seen.goal, seen.correction
    lesson = waiting_lesson(lessons, reader, role, ending)
    return (lesson.goal, lesson.output) if lesson is not None else None


def waiting_lesson(lessons: LessonAccess, reader: Scope, role: Role, ending: str) -> Episode | None:
    """The written lesson that waits and whose id ends so, if this teacher may decide about it."""
    found = lessons.find(reader, role, ending.lower()) if len(ending) >= _SHORTEST else None
    is_waiting = found is not None and found.origin is not Origin.RUN and found.archived_at is None
    return found if is_waiting and found is not None and not found.verdicts.channel.is_validated else None


def _unanswered(memory: Memory, reader: Scope, ending: str) -> Episode | None:
    """The unanswered question whose id ends so, if it may be read here."""
    if len(ending) < _SHORTEST:
        return None
    found = [
        each
        for each in memory.audit.by_part_of_id(ending.lower(), limit=50)
        if each.id.endswith(ending.lower()) and may_read(reader, each)
    ]
    return found[0] if len(found) == 1 and memory.gaps.is_gap(found[0]) else None
