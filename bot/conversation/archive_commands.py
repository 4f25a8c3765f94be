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
        return await self._set_archived(command, spell, "archive")

    async def restore(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`restore ID [review] [page N]`."""
        return await self._set_archived(command, spell, "restore")

    async def _set_archived(self, command: PersonCommand, spell: messages.Spell, what: str) -> CommandReply:
        target = pointed(command.argument)
        if target is None:
            return CommandReply(text=messages.which_lesson(spell(what), spell("memory")))
        lesson = await self._executor(self._lessons.find, command.scope, command.role, target.id)
        if lesson is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        if not may_archive(command.scope.person, command.role, lesson):
            return CommandReply(text=messages.NOT_YOURS_TO_ARCHIVE)
        act = self._memory.teaching.archive if what == "archive" else self._memory.teaching.restore
        after = await self._executor(act, lesson.workspace, lesson.id, actor=command.scope.person)
        rest = await self._list(command, target)
        return CommandReply(
            text=messages.archived_or_restored(after, rest.text),
            choices=(_opposite(after, target), *rest.choices),
            changed_runs=(after.run_id,),
            people=rest.people,
        )

    async def _list(self, command: PersonCommand, target: Pointed) -> CommandReply:
        if target.page is None:
            return CommandReply(text="")
        if target.is_in_review and command.role.may_promote:
            return await self._review_commands.page(command, target.page)
        return await self._lesson_list.page(command, target.page)


def _opposite(lesson: Episode, target: Pointed) -> Choice:
    """The button that takes it back."""
    command, label = ("archive", "Archive it again") if lesson.archived_at is None else ("restore", "Restore it")
    where = (" review" if target.is_in_review else "") + (f" page {target.page}" if target.page else "")
    return Choice(label=label, command=command, argument=f"{short(lesson.id)}{where}")
