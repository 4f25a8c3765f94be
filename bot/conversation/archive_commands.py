"""`archive` and `restore`: taking a lesson out of use, and bringing it back."""

from bot.conversation import messages
from bot.conversation.executor import Executor
from bot.conversation.lesson_access import LessonAccess, may_archive
from bot.conversation.lesson_list import LessonList
from bot.conversation.reply import CommandReply, Pointed, pointed, short
from bot.conversation.review_commands import ReviewCommands
from bot.model import Choice, PersonCommand
from memory.model import Episode
from memory.services import Memory


class ArchiveCommands:
    """Archives one's own lessons, and anybody's as a teacher. Shows the list it was chosen from again."""

    def __init__(
        self,
        memory: Memory,
        lessons: LessonAccess,
        executor: Executor,
        lesson_list: LessonList,
        review_commands: ReviewCommands,
    ) -> None:
        self._memory = memory
        self._lessons = lessons
        self._executor = executor
        self._lesson_list = lesson_list
        self._review_commands = review_commands

    async def archive(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`archive ID [review] [page N]`."""
        return await self._shelve(command, spell, "archive")

    async def restore(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`restore ID [review] [page N]`."""
        return await self._shelve(command, spell, "restore")

    async def _shelve(self, command: PersonCommand, spell: messages.Spell, what: str) -> CommandReply:
        meant = pointed(command.argument)
        if meant is None:
            return CommandReply(text=messages.which_lesson(spell(what), spell("memory")))
        lesson = await self._executor(self._lessons.find, command.scope, command.role, meant.id)
        if lesson is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        if not may_archive(command.scope.person, command.role, lesson):
            return CommandReply(text=messages.NOT_YOURS_TO_ARCHIVE)
        act = self._memory.teaching.archive if what == "archive" else self._memory.teaching.restore
        after = await self._executor(act, lesson.workspace, lesson.id, actor=command.scope.person)
        rest = await self._list(command, meant)
        return CommandReply(
            text=messages.shelved(after, rest.text),
            choices=(_opposite(after, meant), *rest.choices),
            changed_runs=(after.run_id,),
            people=rest.people,
        )

    async def _list(self, command: PersonCommand, meant: Pointed) -> CommandReply:
        if meant.page is None:
            return CommandReply(text="")
        if meant.is_in_review and command.role.may_promote:
            return await self._review_commands.page(command, meant.page)
        return await self._lesson_list.page(command, meant.page)


def _opposite(lesson: Episode, meant: Pointed) -> Choice:
    """What takes it back."""
    command, label = ("archive", "Archive it again") if lesson.archived_at is None else ("restore", "Restore it")
    where = (" review" if meant.is_in_review else "") + (f" page {meant.page}" if meant.page else "")
    return Choice(label=label, command=command, argument=f"{short(lesson.id)}{where}")
