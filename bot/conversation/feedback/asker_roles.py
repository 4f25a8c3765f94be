"""The roles of people who write messages, looked up when they are needed."""

from dataclasses import dataclass, field

from bot.conversation.executor import Executor
from bot.errors import MessengerError
from bot.model import PersonEdit, PersonMessage
from memory.model import Incoming, Role
from memory.services import Memory


@dataclass(frozen=True, slots=True)
class AskerRoles:
    """Looks up the roles of people who may use the bot where they write."""

    _memory: Memory
    _executor: Executor
    events: dict[str, PersonMessage] = field(default_factory=dict[str, PersonMessage], init=False)
    """The events not answered yet, by event id. Lost on a restart."""

    async def of(self, message: Incoming) -> Role | None:
        """The role of the message's asker; None where it cannot be determined now."""
        if message.tap is not None:
            role = await self._executor(self._memory.choices.askers_role, message.scope, message.tap)
            if role is not None:
                return role
        event = self.events.get(message.event_id)
        return await self.of_author(event) if event is not None else None

    async def of_author(self, event: PersonMessage | PersonEdit) -> Role | None:
        """The role of a message's author; None if it cannot be determined now, or they may not use the bot there."""
        try:
            role = event.role if event.find_role is None else await event.find_role()
        except MessengerError:
            return None
        admission = await self._executor(self._memory.chat_settings.admission, event.scope, role)
        return admission.role if admission.is_admitted else None
