"""The command `restate`: gives a new question to a lesson whose question was erased. Authors are told once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.forget_messages import restated_elsewhere, to_restate
from bot.conversation.commands.gaps_commands import THERE
from bot.conversation.executor import Executor
from bot.conversation.reply import CommandReply, item_reference
from bot.errors import CommandRefused
from memory.model import Episode, Scope
from memory.rules.audience import may_see, narrower, visibility_of
from memory.rules.quarantine import Flag
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory


def restate(context: CommandContext) -> CommandReply:
    """`restate` lists the lessons that need a question; `restate ID QUESTION` gives one its question.

    Everybody for whom the lesson counts may be shown the question. So where fewer people read, it takes `#` before the
    id to give one to a lesson of another place.
    """
    named, _, question = context.argument.partition(" ")
    if not named or not question.strip():
        return _waiting(context)
    ending = named.removeprefix(THERE)
    lesson = context.find(item_reference(ending))
    if named == ending and _is_seen_by_more(lesson, context.scope):
        raise CommandRefused(restated_elsewhere(context.how_to_type(f"restate {THERE}{ending} QUESTION")))
    restated = context.memory.restating.restate(
        context.scope, lesson.id, question, role=context.role, event_id=context.command.event_id
    )
    after = restated or lesson
    return CommandReply(text=_restated_text(after), changed_runs=(after.run_id,))


def _is_seen_by_more(lesson: Episode, scope: Scope) -> bool:
    """Whether people may be shown a lesson of another place who do not read this one."""
    there = visibility_of(lesson)
    return lesson.channel != scope.channel and narrower(there, scope.visibility) is not there


def _waiting(context: CommandContext) -> CommandReply:
    reader, restating = context.scope, context.memory.restating
    waiting = restating.waiting(reader.workspace, reader.person)
    seen = [lesson for lesson in waiting if may_see(reader, lesson)]
    restating.mark_notified(reader.workspace, [lesson.id for lesson in waiting])
    return CommandReply(text=to_restate(seen, len(waiting) - len(seen), context.how_to_type("restate ID QUESTION")))


class RestateNotices:
    """Tells authors once that lessons of theirs need a new question."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._restating = memory.restating
        self._executor = executor
        self._being_notified: set[str] = set()

    @asynccontextmanager
    async def news(self, person: Scope) -> AsyncIterator[list[str]]:
        """The ids of lessons that need a new question and whose author was not told yet.

        If the block ends without an error, the author counts as told. Nobody else tells them meanwhile.
        """
        unnotified = await self._executor(self._restating.unnotified, person.workspace, person.person)
        lessons = [each for each in unnotified if each not in self._being_notified]
        self._being_notified.update(lessons)
        try:
            yield lessons
            if lessons:
                await self._executor(self._restating.mark_notified, person.workspace, lessons)
        finally:
            self._being_notified.difference_update(lessons)


def _restated_text(episode: Episode) -> str:
    """The confirmation that a lesson has a new question."""
    if set(episode.quarantine) == {Flag.RESTATED}:
        return (
            f"“{shown_line(episode.goal, 80)}” is what your answer is for: it counts for you now. Others voted on "
            "it with another question, so it counts for them when a teacher has approved it."
        )
    if episode.quarantine:
        return messages.held_back(episode)
    return (
        f"“{shown_line(episode.goal, 80)}” is what your answer is for: it counts for {messages.for_whom(episode)} now."
    )
