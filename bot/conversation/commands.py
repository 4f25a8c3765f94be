"""Runs the bot's commands, which are the same words on every platform."""

import json
from collections.abc import Callable
from dataclasses import replace

from bot.conversation import messages
from bot.conversation.archive_commands import ArchiveCommands
from bot.conversation.executor import Executor
from bot.conversation.explanation import explain
from bot.conversation.forget_messages import forget_question, forgotten
from bot.conversation.lesson_access import LessonAccess, may_repeat
from bot.conversation.lesson_list import LessonList
from bot.conversation.lesson_story import explain_lesson
from bot.conversation.purge_command import PurgeCommand
from bot.conversation.reply import CommandReply, Handler, authors, pointed
from bot.conversation.restate_command import RestateCommand
from bot.conversation.review_commands import ReviewCommands
from bot.conversation.votes_command import VotesCommand
from bot.model import Attachment, Choice, PersonCommand
from memory.errors import NotFound
from memory.library.export import export_memories, export_person
from memory.services import Holdings, Memory

TEACHERS_COMMANDS = frozenset({"review", "promote", "release", "purge"})


class Commands:
    """Runs one command, after checking what the person may see and do."""

    def __init__(self, memory: Memory, executor: Executor, stop: Callable[[PersonCommand], str]) -> None:
        self._memory = memory
        self._executor = executor
        self._stop = stop
        self._lessons = LessonAccess(memory)
        lesson_list, review_commands = (
            LessonList(self._lessons, executor),
            ReviewCommands(memory, self._lessons, executor),
        )
        archive_commands = ArchiveCommands(memory, self._lessons, executor, lesson_list, review_commands)
        rating = VotesCommand(memory, executor)
        self._take_back = rating.take_back
        self.restating = RestateCommand(memory, self._lessons, executor)
        self._handlers: dict[str, Handler] = {
            "help": self._help,
            "privacy": self._privacy,
            "why": self._why,
            "memory": lesson_list.show,
            "archive": archive_commands.archive,
            "restore": archive_commands.restore,
            "undo": self._undo,
            "ratings": rating.show,
            "unrate": rating.take_back,
            "export": self._export,
            "forget": self._forget,
            "stop": self._stop_run,
            "restate": self.restating.restate,
            "review": review_commands.show,
            "promote": review_commands.promote,
            "release": review_commands.release,
            "purge": PurgeCommand(memory, executor).purge,
        }

    async def run(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """Carry out a command; an unknown name gets a hint."""
        handler = self._handlers.get(command.name)
        if handler is None:
            return CommandReply(text=messages.unknown_command(spell))
        if command.name in TEACHERS_COMMANDS and not command.role.may_promote:
            return CommandReply(text=messages.TEACHERS_ONLY)
        return await handler(command, spell)

    async def _help(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        return CommandReply(text=messages.help_text(spell, command.role))

    async def _privacy(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        return CommandReply(text=messages.privacy_text(spell))

    async def _stop_run(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        return CommandReply(text=self._stop(command))

    async def _why(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        return await self._executor(self._explained, command)

    def _explained(self, command: PersonCommand) -> CommandReply:
        if command.argument.strip() and not command.message_id:  # `why ID`
            return self._lesson_explained(command)
        run_id = find_run(self._memory, command)
        if run_id is None:
            return CommandReply(text=messages.NO_SUCH_ANSWER if command.message_id else messages.NO_ANSWER_YET)
        try:
            story = self._memory.explaining.answer(command.scope.workspace, run_id)
        except NotFound:
            return CommandReply(text=messages.NO_SUCH_ANSWER)
        view = story.view
        if not may_repeat(command.scope, view.root):
            return CommandReply(text=messages.NOT_YOURS)
        (root,) = self._lessons.as_seen_by(command.scope, [view.root])
        text = explain(replace(story, view=replace(view, nodes=(root, *view.nodes[1:]))), command.scope)
        behind = (each.vote for recall in story.recalls for shown in recall.shown for each in shown.votes)
        voters = (vote.actor for vote in (*view.votes, *behind))
        people = dict.fromkeys([*authors(list(view.lessons.values())), *voters])
        return CommandReply(text=text, people=tuple(people))

    def _lesson_explained(self, command: PersonCommand) -> CommandReply:
        target = pointed(command.argument)
        lesson = self._lessons.find(command.scope, command.role, target.id) if target is not None else None
        if lesson is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        story = self._memory.explaining.lesson(lesson.workspace, lesson.id)
        people = dict.fromkeys([*(each.vote.actor for each in story.votes), *(e.actor for e in story.decisions)])
        return CommandReply(text=explain_lesson(story, command.scope), people=tuple(people))

    async def _undo(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        if command.argument.strip():  # `undo ID`
            return await self._take_back(command, spell)
        undone = await self._executor(
            self._memory.teaching.undo,
            command.scope.workspace,
            command.scope.person,
            at=command.at,
            event_id=command.event_id,
        )
        if undone is None:
            return CommandReply(text=messages.NOTHING_TO_UNDO)
        again = Choice(label="Take back one more", command="undo")
        shown = undone.episode if may_repeat(command.scope, undone.episode) else None
        return CommandReply(text=messages.undone(undone.what, shown), choices=(again,), changed_runs=undone.runs)

    async def _export(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        scope = command.scope
        held = await self._executor(self._memory.privacy.copy, scope.workspace, scope.person)
        elsewhere = messages.elsewhere(scope)
        if held.is_empty:
            return CommandReply(text=messages.NO_DATA + elsewhere)
        document = await self._executor(_document, held, scope.person, command.argument.strip())
        return CommandReply(text=f"Your data:{elsewhere}", attachment=document)

    async def _forget(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        scope = command.scope
        held = await self._executor(self._memory.privacy.holdings, scope.workspace, scope.person)
        elsewhere = messages.elsewhere(scope)
        if held.is_empty:
            return CommandReply(text=messages.NO_DATA + elsewhere)
        if command.argument.strip().casefold() not in ("yes", "me yes"):
            erase = Choice(label="Erase all of it", command="forget", argument="yes", is_danger=True)
            question = forget_question(held, spell("forget yes"))
            return CommandReply(text=question + elsewhere, choices=(erase,))
        erased = await self._executor(self._memory.privacy.forget, scope.workspace, scope.person)
        return CommandReply(text=forgotten(erased) + elsewhere)


def _document(held: Holdings, person: str, wanted: str) -> Attachment:
    """A person's data as a file: everything as json, or their episodes as csv or as lesson text."""
    if wanted == "csv":
        return _attachment("csv", export_memories(held.episodes, "csv"), "text/csv")
    if wanted == "prompt":
        return _attachment("txt", export_memories(held.episodes, "prompt"), "text/plain")
    text = json.dumps(export_person(held, person), ensure_ascii=False, indent=2)
    return _attachment("json", text, "application/json")


def _attachment(ending: str, text: str, media_type: str) -> Attachment:
    return Attachment(name=f"goodbot-export.{ending}", content=text.encode(), media_type=media_type)


def find_run(memory: Memory, event: PersonCommand) -> str | None:
    """The answer a command or correction means: the named message's, else the newest one in the thread.

    Where the bot has not answered in that thread, or there are no threads, the newest one in the channel.
    """
    if event.message_id:
        return memory.answers.of_message(event.scope, event.message_id, event.at)
    return memory.answers.newest(event.scope)
