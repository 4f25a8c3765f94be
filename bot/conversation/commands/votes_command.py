"""`ratings` and `unrate`: a person's own votes, and taking one back."""

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import may_repeat
from bot.conversation.reply import PAGE_SIZE, CommandReply, item_reference, page_number, page_of, short, window
from bot.model import Choice


def show(context: CommandContext) -> CommandReply:
    """`ratings [page N]`."""
    return _page(context, page_number(context.argument))


def _page(context: CommandContext, wanted: int) -> CommandReply:
    scope, ratings = context.scope, context.memory.ratings
    total = ratings.count(scope.workspace, scope.person)
    skipped = window(total, wanted).start
    page = page_of(ratings.of(scope.workspace, scope.person, skip=skipped, limit=PAGE_SIZE), total, wanted)
    lines = [
        messages.rating_line(each.episode if may_repeat(scope, each.episode) else None, each.vote.value)
        for each in page.items
    ]
    choices = [
        Choice(label=f"Take back {place}", command="unrate", argument=f"{short(each.episode.id)} page {page.number}")
        for place, each in enumerate(page.items, start=page.first)
    ]
    text = messages.ratings(page.numbered(lines), page.place)
    return CommandReply(text=text, choices=(*choices, *page.page_choices("ratings")))


def take_back(context: CommandContext) -> CommandReply:
    """`unrate ID [page N]`: every thumb of theirs on that answer, as if they had never rated it."""
    target, scope, command = item_reference(context.argument), context.scope, context.command
    if target is None:
        return CommandReply(text=messages.which("rating", context.spell("unrate"), context.spell("ratings")))
    taken = context.memory.ratings.take_back(
        scope.workspace, scope.person, target.id, at=command.at, event_id=command.event_id
    )
    if taken is None:
        return CommandReply(text=messages.NO_SUCH_RATING)
    rating, result = taken
    shown = rating.episode if may_repeat(scope, rating.episode) else None
    changed = (rating.vote.run_id,) if result.is_lesson != result.was_lesson else ()
    reply = CommandReply(text=messages.unrated(shown, rating.vote.value), changed_runs=changed)
    return reply.above(_page(context, target.page)) if target.page else reply
