"""`archive` and `restore`: taking a lesson out of use, and bringing it back."""

from bot.conversation import lesson_list, messages, review_commands
from bot.conversation.command_context import CommandContext
from bot.conversation.lesson_access import may_archive
from bot.conversation.reply import CommandReply, ItemReference, short
from bot.errors import CommandRefused
from bot.model import Choice
from memory.model import Episode


def archive(context: CommandContext) -> CommandReply:
    """`archive ID [review] [page N]`: one's own lessons, and anybody's as a teacher."""
    target, lesson = _own(context)
    archived = context.memory.teaching.archive(lesson.workspace, lesson.id, actor=context.scope.person)
    return _done(context, target, archived)


def restore(context: CommandContext) -> CommandReply:
    """`restore ID [review] [page N]`."""
    target, lesson = _own(context)
    restored = context.memory.teaching.restore(lesson.workspace, lesson.id, actor=context.scope.person)
    return _done(context, target, restored)


def _own(context: CommandContext) -> tuple[ItemReference, Episode]:
    target = context.target("memory")
    lesson = context.find(target)
    if not may_archive(context.scope.person, context.role_for(lesson), lesson):
        raise CommandRefused(messages.NOT_YOURS_TO_ARCHIVE)
    return target, lesson


def _done(context: CommandContext, target: ItemReference, after: Episode) -> CommandReply:
    """The confirmation, above the list that the lesson was chosen from."""
    opposite, label = ("archive", "Archive it again") if after.archived_at is None else ("restore", "Restore it")
    where = (" review" if target.is_in_review else "") + (f" page {target.page}" if target.page else "")
    reply = CommandReply(
        text=messages.archived_or_restored(after),
        choices=(Choice(label=label, command=opposite, argument=f"{short(after.id)}{where}"),),
        changed_runs=(after.run_id,),
        decided_for=(after.author,),
    )
    if target.page is None:
        return reply
    if target.is_in_review and context.role.may_promote:
        return reply.above(review_commands.page(context, target.page))
    return reply.above(lesson_list.page(context, target.page))
