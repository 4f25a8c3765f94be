"""Handles the choice of what a question offered ("Did you mean ...?"), on any platform."""

import re
from collections.abc import Sequence

from bot.conversation.choice_messages import NONE_OF_THESE
from bot.conversation.commands import find_run
from bot.conversation.executor import Executor
from bot.conversation.reply import CHOOSE
from bot.model import Choice, PersonCommand
from memory.errors import NotFound
from memory.model import Option
from memory.services import Chosen, Memory

_NONE = "none"
CHOICE = re.compile(r"(?:(?P<run>[0-9a-f]{8,32})\s+)?(?P<which>[1-9]\d?|none)", re.IGNORECASE)


def option_choices(run_id: str, options: Sequence[Option]) -> tuple[Choice, ...]:
    """A button for each option of a question, and "none of these"."""
    offered = [
        Choice(label=option.label, command=CHOOSE, argument=f"{run_id} {number}")
        for number, option in enumerate(options, start=1)
    ]
    return (*offered, Choice(label=NONE_OF_THESE, command=CHOOSE, argument=f"{run_id} {_NONE}"))


class ChoiceHandler:
    """Finds the question that a choice is about, and takes the choice in."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor

    async def choose(self, event: PersonCommand) -> Chosen | None:
        """What came of it. None where there is no such question here, or it is gone, or not theirs to see."""
        found = CHOICE.fullmatch(event.argument.strip())
        if found is None:
            return None
        return await self._executor(self._choose, event, found["run"], found["which"].lower())

    def _choose(self, event: PersonCommand, run: str | None, which: str) -> Chosen | None:
        run_id = run.lower() if run else find_run(self._memory, event.scope, event.message_id, event.at)
        try:
            return self._memory.asking.choose(
                event.scope,
                run_id or "",
                None if which == _NONE else int(which),
                role=event.role,
                at=event.at,
                event_id=event.event_id,
            )
        except NotFound:
            return None
