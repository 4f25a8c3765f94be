"""`purge`: a teacher takes back everything one person taught, after seeing how much that is."""

import re

from bot.conversation import messages
from bot.conversation.executor import Executor
from bot.conversation.reply import CommandReply
from bot.model import Choice, PersonCommand
from memory.errors import InvalidInput
from memory.services import Memory, Purge

_MENTION = re.compile(r"<@[!]?(?P<id>[^>|\s]+)(?:\|[^>]*)?>")
_YES = re.compile(r"(?<!\s)\s++yes\Z", re.IGNORECASE)


def person_in(text: str) -> str:
    """The id of a person who is written as `<@U123>`, `<@!123>`, `<@U123|ana>`, `@U123` or `U123`."""
    found = _MENTION.fullmatch(text.strip())
    return found["id"] if found else text.strip().removeprefix("@").strip()


def read_argument(argument: str) -> tuple[str, bool]:
    """`PERSON [yes]`: the person's id, and whether `yes` confirms it."""
    text = argument.strip()
    person = _YES.sub("", text)
    return person_in(person), person != text


class PurgeCommand:
    """The command `purge`, which asks for confirmation first."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor

    async def purge(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`purge PERSON [yes]`: without `yes` it only counts."""
        person, is_confirmed = read_argument(command.argument)
        if not person:
            return CommandReply(text=messages.whom_to_purge(spell("purge")))
        try:
            return await (self._purge(command, person) if is_confirmed else self._ask(command, person, spell))
        except InvalidInput as error:
            return CommandReply(text=str(error))

    async def _ask(self, command: PersonCommand, person: str, spell: messages.Spell) -> CommandReply:
        planned: Purge = await self._executor(
            self._memory.purging.plan, command.scope.workspace, person, role=command.role
        )
        if planned.is_empty:
            return CommandReply(text=messages.nothing_to_purge(person))
        choice = Choice(label="Take all of it back", command="purge", argument=f"{person} yes", is_danger=True)
        return CommandReply(text=messages.purge_question(planned, spell(f"purge {person} yes")), choices=(choice,))

    async def _purge(self, command: PersonCommand, person: str) -> CommandReply:
        done: Purge = await self._executor(
            self._memory.purging.purge,
            command.scope.workspace,
            person,
            actor=command.scope.person,
            at=command.at,
            role=command.role,
        )
        if done.is_empty:
            return CommandReply(text=messages.nothing_to_purge(person))
        return CommandReply(text=messages.purged(done), changed_runs=done.runs)
