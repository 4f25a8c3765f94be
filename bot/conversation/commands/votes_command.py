"""The commands `ratings` and `unrate`: lists a person's own votes, and takes one back."""

from collections.abc import Sequence

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import may_repeat
from bot.conversation.commands.lesson_lines import answer_line
from bot.conversation.reply import PAGE_SIZE, CommandReply, item_reference, page_number, page_of, page_slice, short_id
from bot.model import Choice
from memory.model import Episode
from memory.rules.retrieval.prompt import shown_line

NO_SUCH_RATING = "There is no such rating of yours."


def show(context: CommandContext) -> CommandReply:
    """`ratings [page N]`."""
    return _page(context, page_number(context.argument))


def _page(context: CommandContext, wanted: int) -> CommandReply:
    scope, ratings = context.scope, context.memory.ratings
    total = ratings.count(scope.workspace, scope.person)
    skipped = page_slice(total, wanted).start
    page = page_of(ratings.of(scope.workspace, scope.person, skip=skipped, limit=PAGE_SIZE), total, wanted)
    lines = [_line(each.episode if may_repeat(scope, each.episode) else None, each.vote.value) for each in page.items]
    choices = [
        Choice(label=f"Take back {place}", command="unrate", argument=f"{short_id(each.episode.id)} page {page.number}")
        for place, each in enumerate(page.items, start=page.first)
    ]
    text = _listed(page.numbered(lines), page.place)
    return CommandReply(text=text, choices=(*choices, *page.page_choices("ratings")))


def take_back(context: CommandContext) -> CommandReply:
    """`unrate ID [page N]`: take back all of a person's votes on an answer."""
    target, scope, command = item_reference(context.argument), context.scope, context.command
    if target is None:
        return CommandReply(
            text=messages.missing_id("rating", context.how_to_type("unrate ID"), context.how_to_type("ratings"))
        )
    taken = context.memory.ratings.take_back(
        scope.workspace, scope.person, target.id, at=command.at, event_id=command.event_id
    )
    if taken is None:
        return CommandReply(text=NO_SUCH_RATING)
    rating, result = taken
    shown = rating.episode if may_repeat(scope, rating.episode) else None
    changed = (rating.vote.run_id,) if result.is_lesson != result.was_lesson else ()
    reply = CommandReply(text=_taken_back(shown, rating.vote.value), changed_runs=changed)
    return reply.above(_page(context, target.page)) if target.page else reply


def _listed(lines: Sequence[str], page: str) -> str:
    """The list of the command `ratings`."""
    if not lines:
        return "You have not rated any answer. React 👍 or 👎 to one."
    return messages.titled_list("Your ratings, newest first", lines, page)


def _line(episode: Episode | None, value: int) -> str:
    """The line of one vote, without words that may not be shown here."""
    return f"{_thumb(value)} {_rated(episode)}"


def _rated(episode: Episode | None) -> str:
    if episode is None:
        return messages.IN_ANOTHER_CHANNEL
    return f"“{shown_line(episode.goal, 60)}” - {answer_line(episode, 60)} (`{short_id(episode.id)}`)"


def _thumb(value: int) -> str:
    return "👍" if value > 0 else "👎"


def _taken_back(episode: Episode | None, value: int) -> str:
    """The confirmation that a vote was taken back."""
    return f"Taken back: your {_thumb(value)} on {_rated(episode)}."
