"""`memory`: the lessons that count for a person here, page by page."""

from bot.conversation import messages
from bot.conversation.executor import Executor
from bot.conversation.lesson_access import LessonAccess, may_archive
from bot.conversation.reply import CommandReply, authors, page_number, short
from bot.model import Choice, PersonCommand


class LessonList:
    """Pages through the lessons that count for a person in the place where they ask."""

    def __init__(self, lessons: LessonAccess, executor: Executor) -> None:
        self._lessons = lessons
        self._executor = executor

    async def show(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`memory [page N]`."""
        return await self.page(command, page_number(command.argument))

    async def page(self, command: PersonCommand, number: int) -> CommandReply:
        """One page, with a choice to archive for each lesson the person may archive."""
        return await self._executor(self._page, command, number)

    def _page(self, command: PersonCommand, number: int) -> CommandReply:
        reader = command.scope
        page = self._lessons.believed(reader, number)
        seen = self._lessons.as_seen_by(reader, [belief.episode for belief in page.items])
        lines = [
            messages.belief_line(episode, belief.lesson, belief.audience, reader)
            for belief, episode in zip(page.items, seen, strict=True)
        ]
        choices = [
            Choice(label=f"Archive {place}", command="archive", argument=f"{short(episode.id)} page {page.number}")
            for place, episode in enumerate(seen, start=page.first)
            if may_archive(reader.person, command.role, episode)
        ]
        text = messages.lesson_list(page.numbered(lines), reader.place, page.place)
        return CommandReply(text=text, choices=(*choices, *page.turns("memory")), people=authors(seen))
