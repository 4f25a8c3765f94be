"""The commands `review`, `promote` and `release`: lessons that wait for a teacher, and the teacher's decisions."""

from dataclasses import replace

from bot.conversation import messages
from bot.conversation.commands import batch_commands, lesson_lines
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.reply import BACK, CommandReply, ItemReference, page_number, short_id
from bot.errors import CommandRefused
from bot.model import Choice, PersonCommand
from memory.model import Audience, Episode, Reaction, Verdict, Visibility
from memory.model.episode import authors_of
from memory.rules.audience import visibility_of
from memory.rules.quarantine import Flag
from memory.rules.retrieval.prompt import shown_line
from memory.rules.verdict import REVIEW


def show(context: CommandContext) -> CommandReply:
    """`review [page N]`, or `review batch ...` about the lessons from one file."""
    if context.argument.casefold().startswith("batch"):
        return batch_commands.run(context)
    return page(context, page_number(context.argument))


def page(context: CommandContext, number: int) -> CommandReply:
    """One page of the lessons that this teacher may decide about here."""
    reader, lessons = context.scope, context.lessons
    page = lessons.waiting(reader, number, only_here=context.command.is_role_local)
    seen = lessons.as_seen_by(reader, page.items)
    lines = [lesson_lines.review_line(episode, reader) for episode in seen]
    choices = [
        choice
        for place, episode in enumerate(seen, start=page.first)
        for choice in _choices(episode, place, page.number)
    ]
    text = lesson_lines.review(page.numbered(lines), page.total, page.place)
    reply = CommandReply(
        text=text, choices=(*choices, *page.page_choices("review", onward="Not now")), people=authors_of(seen)
    )
    batches = batch_commands.overview(context) if page.number == 1 else None
    if batches is None:
        return reply
    return batches.above(reply) if page.total else batches


def promote(context: CommandContext) -> CommandReply:
    """`promote ID [channel|workspace|personal] [page N]`; to the next wider audience if none is named."""
    target, lesson = _shareable(context)
    if target.is_back:
        return _taken_back(context, target, lesson)
    if lesson.quarantine:
        return CommandReply(text=_release_first_text(lesson, context.how_to_type(f"release {short_id(lesson.id)}")))
    next_wider = Audience.WORKSPACE if lesson.verdicts.channel.is_validated else Audience.CHANNEL
    wanted = target.audience or next_wider
    if not context.role_for(lesson).may_promote or (context.command.is_role_local and wanted is Audience.WORKSPACE):
        raise CommandRefused(messages.ONLY_IN_YOUR_CHANNEL)
    promoted = _promoted(context, lesson, wanted)
    is_limited = wanted is not Audience.PERSONAL and promoted.promoted is not wanted
    undo = Choice(
        label="Take it back",
        command="promote",
        argument=f"{short_id(promoted.id)} {BACK}" + (f" page {target.page}" if target.page else ""),
    )
    choices = (undo,) if promoted.promoted and not is_limited else ()
    return _above_list(context, target, _promoted_text(promoted, is_limited=is_limited), promoted, choices)


def _taken_back(context: CommandContext, target: ItemReference, lesson: Episode) -> CommandReply:
    """Undo the teacher's own promotion; others' stay, so that the lesson counts for whom it did before."""
    scope, undo = context.scope, context.memory.curation.take_back_promotion
    after = undo(scope.workspace, lesson.id, actor=scope.person, role=context.role, at=context.command.at)
    return _above_list(context, target, _promoted_text(after), after)


def _promoted(context: CommandContext, lesson: Episode, wanted: Audience) -> Episode:
    """Promote a lesson, with the teacher's vote for it; undoing a promotion withdraws that vote.

    A promotion only sets the audience; the evidence needs the vote.
    """
    memory, scope, role = context.memory, context.scope, context.role
    promoted = memory.curation.promote(scope.workspace, lesson.id, wanted, actor=scope.person, role=role)
    approval = _approval(promoted, context.command)
    if wanted is Audience.PERSONAL:
        if not memory.ratings.is_active(approval):
            return promoted
        approval = replace(approval, is_active=False)
    elif promoted.verdict not in (Verdict.PENDING, Verdict.SUCCESS) or promoted.promoted is not wanted:
        return promoted
    return memory.teaching.vote(approval).root or promoted


def release(context: CommandContext) -> CommandReply:
    """`release ID [page N]`: let a lesson that is held back count as its votes say."""
    target, lesson = _shareable(context)
    actor = context.scope.person
    if not context.role_for(lesson).may_promote:
        raise CommandRefused(messages.ONLY_IN_YOUR_CHANNEL)
    released = context.memory.curation.release(lesson.workspace, lesson.id, actor=actor, role=context.role)
    return _above_list(context, target, _released_text(released), released)


def _shareable(context: CommandContext) -> tuple[ItemReference, Episode]:
    """The lesson in the argument, if it may count for others."""
    target = context.target("review")
    lesson = context.find(target)
    if lesson.archived_at is not None or visibility_of(lesson) is Visibility.DIRECT:
        raise CommandRefused(messages.NO_SUCH_LESSON)
    return target, lesson


def _above_list(
    context: CommandContext, target: ItemReference, text: str, lesson: Episode, choices: tuple[Choice, ...] = ()
) -> CommandReply:
    """The confirmation, above the page from which the lesson was chosen."""
    reply = CommandReply(text=text, choices=choices, changed_runs=(lesson.run_id,), decided_for=(lesson.author,))
    return reply.above(page(context, target.page)) if target.page else reply


def _approval(lesson: Episode, command: PersonCommand) -> Reaction:
    """The teacher's own 👍 for a lesson."""
    return Reaction.on_run(lesson, command.scope.person, REVIEW, 1, command.at, role=command.role)


def _choices(episode: Episode, place: int, page: int) -> list[Choice]:
    """The buttons of a lesson: promotions to wider audiences or its release, and archiving it."""
    known = short_id(episode.id)
    archive = Choice(label=f"Archive {place}", command="archive", argument=f"{known} review page {page}")
    if Flag.NEEDS_QUESTION in episode.quarantine:
        return [archive]
    if episode.quarantine:
        return [Choice(label=f"Release {place}", command="release", argument=f"{known} page {page}"), archive]
    wider = [] if episode.verdicts.channel.is_validated else [Audience.CHANNEL]
    if visibility_of(episode) is Visibility.PUBLIC:
        wider.append(Audience.WORKSPACE)
    return [
        *(
            Choice(
                label=f"Promote {place} to {to.value}", command="promote", argument=f"{known} {to.value} page {page}"
            )
            for to in wider
        ),
        archive,
    ]


def _release_first_text(episode: Episode, command: str) -> str:
    """The reply to a promotion of a lesson that is held back, which has to be released first."""
    if not episode.goal:
        return f"I hold that lesson back: {messages.why_held(episode)}."
    return f"I hold “{shown_line(episode.goal, 80)}” back, for {messages.why_held(episode)}. First: `{command}`"


def _released_text(episode: Episode) -> str:
    """The confirmation of a release."""
    return f"“{shown_line(episode.goal, 80)}” is no longer held back: it counts for {messages.for_whom(episode)} now."


def _promoted_text(episode: Episode, *, is_limited: bool = False) -> str:
    """The confirmation of a promotion, or that it was beyond the limit."""
    again = " Those were many promotions in a short time, so this one did nothing: try it again later."
    return f"“{shown_line(episode.goal, 80)}” counts for {messages.for_whom(episode)} now.{again if is_limited else ''}"
