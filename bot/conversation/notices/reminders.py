"""Reminders in chat: adding them and posting those that are due."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.agent.tools.reminders import due_text
from bot.conversation.executor import Executor
from bot.ports import Messenger
from memory.errors import InvalidInput, MemoryFault
from memory.model import Scope
from memory.model.scope import platform_of
from memory.rules.recurrence import Recurrence
from memory.services import Memory
from memory.services.conversation.reminders import Reminder

log = logging.getLogger(__name__)

_LOOKED_THROUGH = 20
"""How many of a person's newest messages are searched for the one that asks for the reminder."""
_KEEPS_OFFERING = timedelta(minutes=5)


def add_reminder(
    memory: Memory, scope: Scope, text: str, first: datetime, zone: str, repeat: Recurrence, asked: str
) -> Reminder:
    """Store a reminder, to be posted as a reply to the message that asks for it. Blocking. Raises `MemoryFault`."""
    latest = memory.exchanges.messages_of(scope, _LOOKED_THROUGH)
    message_id = next((each.message_id for each in latest if each.text == asked), None)
    if message_id is None:  # of somebody else's request, tried again: their words would stay when they are forgotten
        raise InvalidInput("that was asked by somebody else; ask for it in your own words")
    return memory.reminders.add(scope, text, first, zone, repeat, message_id)


@dataclass(frozen=True, slots=True)
class ReminderNotifier:
    """Hands due reminders to the outbox, and has them posted like answers, by `redeliver`."""

    _memory: Memory
    _executor: Executor
    _redeliver: Callable[[Messenger], Awaitable[object]]
    _messengers: Sequence[Messenger]
    _offered_until: dict[str, datetime] = field(default_factory=dict[str, datetime], init=False)

    async def post_due(self) -> None:
        """Post the reminders that are due; what a platform refuses is tried again, like an answer. Never raises."""
        for messenger in list(self._messengers):
            platform, now = messenger.platform, self._memory.clock()
            try:
                if await self._executor(self._fire, platform):
                    self._offered_until[platform] = now + _KEEPS_OFFERING
                if now < self._offered_until.get(platform, now):
                    await self._redeliver(messenger)
            except MemoryFault as error:
                log.error("could not check reminders on %s: %s", platform, error)

    def _fire(self, platform: str) -> int:
        """Hand the due reminders to the outbox. Returns their number. Blocking."""
        here = [each for each in self._memory.store.workspaces() if platform_of(each) == platform]
        return sum(self._memory.reminders.fire(workspace, due_text) for workspace in here)
