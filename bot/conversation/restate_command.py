"""`restate`: a new question for a lesson whose question was erased; its author is told once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.conversation import messages
from bot.conversation.executor import Executor
from bot.conversation.forget_messages import to_restate
from bot.conversation.lesson_access import LessonAccess
from bot.conversation.reply import CommandReply, pointed
from bot.model import PersonCommand
from memory.model import Scope
from memory.rules.audience import may_see
from memory.services import Memory


class RestateCommand:
    """For authors of lessons."""

    def __init__(self, memory: Memory, lessons: LessonAccess, executor: Executor) -> None:
        self._memory = memory
        self._lessons = lessons
        self._executor = executor
        self._being_told: set[str] = set()

    async def restate(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`restate` lists the lessons that wait; `restate ID QUESTION` gives one its question."""
        ending, _, question = command.argument.strip().partition(" ")
        if not ending or not question.strip():
            return await self._executor(self._listed, command.scope, spell)
        meant = pointed(ending)
        if meant is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        lesson = await self._executor(self._lessons.find, command.scope, command.role, meant.id)
        if lesson is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        restated = await self._executor(
            self._memory.restating.restate,
            command.scope,
            lesson.id,
            question,
            role=command.role,
            event_id=command.event_id,
        )
        after = restated or lesson
        return CommandReply(text=messages.restated(after), changed_runs=(after.run_id,))

    def _listed(self, reader: Scope, spell: messages.Spell) -> CommandReply:
        waiting = self._memory.restating.waiting(reader.workspace, reader.person)
        seen = [lesson for lesson in waiting if may_see(reader, lesson)]
        self._memory.restating.mark_notified(reader.workspace, [lesson.id for lesson in waiting])
        return CommandReply(text=to_restate(seen, len(waiting) - len(seen), spell("restate ID QUESTION")))

    @asynccontextmanager
    async def news(self, person: Scope) -> AsyncIterator[list[str]]:
        """The ids of lessons that lost their question, of which their author does not know yet.

        Whoever leaves the block without a failure has told them; nobody else does meanwhile.
        """
        untold = await self._executor(self._memory.restating.unnotified, person.workspace, person.person)
        lessons = [each for each in untold if each not in self._being_told]
        self._being_told.update(lessons)
        try:
            yield lessons
            if lessons:
                await self._executor(self._memory.restating.mark_notified, person.workspace, lessons)
        finally:
            self._being_told.difference_update(lessons)
