"""The context of a command: memory, the command itself, and how commands are typed there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.conversation import messages
from bot.conversation.commands.lesson_access import LessonAccess
from bot.conversation.reply import CommandReply, ItemReference, item_reference
from bot.errors import CommandRefused
from bot.model import PersonCommand
from memory.model import Episode, Role, Scope
from memory.services import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """One command of a person, with what it needs. Blocking: to be used off the event loop."""

    memory: Memory
    command: PersonCommand
    how_to_type: messages.HowToType
    actions: Sequence[str] = ()
    """The names of the agent's tools."""

    @property
    def scope(self) -> Scope:
        """Who gave the command, and where."""
        return self.command.scope

    @property
    def role(self) -> Role:
        """The role of who gave the command."""
        return self.command.role

    def role_for(self, lesson: Episode) -> Role:
        """The person's role towards a lesson: a channel's creator has no special role in other channels."""
        is_elsewhere = self.command.is_role_local and lesson.channel != self.scope.channel
        return Role.MEMBER if is_elsewhere else self.role

    @property
    def argument(self) -> str:
        """What was typed after the command."""
        return self.command.argument.strip()

    @property
    def lessons(self) -> LessonAccess:
        """Access to the lessons that a person may see."""
        return LessonAccess(self.memory)

    def target(self, list_command: str) -> ItemReference:
        """The lesson in the argument. Raises `CommandRefused` without one, naming `list_command`, which shows ids."""
        target = item_reference(self.argument)
        if target is None:
            raise CommandRefused(
                messages.missing_id(
                    "lesson", self.how_to_type(f"{self.command.name} ID"), self.how_to_type(list_command)
                )
            )
        return target

    def find(self, target: ItemReference | None) -> Episode:
        """The lesson with this reference. Raises `CommandRefused` if the person may see no such lesson here."""
        lesson = self.lessons.find(self.scope, self.role, target.id) if target is not None else None
        if lesson is not None and self.role_for(lesson) is not self.role:
            lesson = self.lessons.find(self.scope, Role.MEMBER, lesson.id)
        if lesson is None:
            raise CommandRefused(messages.NO_SUCH_LESSON)
        return lesson


Handler = Callable[[CommandContext], CommandReply]
