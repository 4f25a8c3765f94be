"""`ratings` and `unrate`: a person's own votes, and taking one back."""

from bot.conversation import messages
from bot.conversation.executor import Executor
from bot.conversation.lesson_access import may_repeat
from bot.conversation.reply import PAGE_SIZE, CommandReply, Page, bounds, page_number, pointed, short
from bot.model import Choice, PersonCommand
from memory.services import Memory


class VotesCommand:
    """The commands about a person's own votes."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor

    async def show(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`ratings [page N]`."""
        return await self._executor(self._page, command, page_number(command.argument))

    def _page(self, command: PersonCommand, wanted: int) -> CommandReply:
        scope, ratings = command.scope, self._memory.ratings
        total = ratings.count(scope.workspace, scope.person)
        number, last, skipped = bounds(total, wanted)
        items = tuple(ratings.of(scope.workspace, scope.person, skip=skipped, limit=PAGE_SIZE))
        page = Page(items=items, first=skipped + 1, number=number, last=last, total=total)
        lines = [
            messages.rating_line(each.episode if may_repeat(scope, each.episode) else None, each.vote.value)
            for each in page.items
        ]
        choices = [
            Choice(
                label=f"Take back {place}", command="unrate", argument=f"{short(each.episode.id)} page {page.number}"
            )
            for place, each in enumerate(page.items, start=page.first)
        ]
        text = messages.ratings(page.numbered(lines), page.place)
        return CommandReply(text=text, choices=(*choices, *page.turns("ratings")))

    async def take_back(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`unrate ID [page N]`: every thumb of theirs on that answer, as if they had never rated it."""
        target = pointed(command.argument)
        if target is None:
            return CommandReply(text=messages.which_rating(spell("unrate"), spell("ratings")))
        scope = command.scope
        taken = await self._executor(
            self._memory.ratings.take_back,
            scope.workspace,
            scope.person,
            target.id,
            at=command.at,
            event_id=command.event_id,
        )
        if taken is None:
            return CommandReply(text=messages.NO_SUCH_RATING)
        rating, result = taken
        rest = await self._executor(self._page, command, target.page) if target.page else CommandReply(text="")
        shown = rating.episode if may_repeat(scope, rating.episode) else None
        changed = (rating.vote.run_id,) if result.is_lesson != result.was_lesson else ()
        return CommandReply(
            text=messages.unrated(shown, rating.vote.value, rest.text), choices=rest.choices, changed_runs=changed
        )
