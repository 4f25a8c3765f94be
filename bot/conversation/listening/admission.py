"""Admission: applies the lists set in chat to each event, who teaches and who may use the bot where."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.conversation.counts import count
from bot.conversation.executor import Executor
from bot.conversation.notifications import try_to_notify
from bot.model import (
    ChannelChanged,
    PersonCommand,
    PersonDeletion,
    PersonEdit,
    PersonEvent,
)
from bot.ports import Messenger
from memory.services import Memory

_ADMITTED_ALWAYS = (ChannelChanged, PersonDeletion, PersonEdit)
"""Events that are handled regardless of who may use the bot."""
OWN_DATA = frozenset({"forget", "export", "privacy", "stop", "undo", "ratings", "reminders", "unrate"})
"""Commands by which anybody may see, take back and erase their own data."""

NOT_ADMITTED = "I may not be used here, or not by you. Ask an administrator of mine."


class Admitter:
    """Admits events by the lists, read for each event: changes take effect at once in every process."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor

    async def admitted(self, messenger: Messenger, event: PersonEvent) -> PersonEvent | None:
        """The event with its person's role; None if they may not use the bot there. Stores the channel's visibility."""
        admitted = await self._with_role(messenger, event)
        is_unaddressed_edit = isinstance(event, PersonEdit) and not event.is_addressed
        if admitted is not None and not is_unaddressed_edit:
            await self._executor(self._memory.channels.note, event.scope)
        return admitted

    async def _with_role(self, messenger: Messenger, event: PersonEvent) -> PersonEvent | None:
        if isinstance(event, _ADMITTED_ALWAYS):
            return event
        admission = await self._executor(self._memory.chat_settings.admission, event.scope, event.role)
        if not admission.is_admitted and not (isinstance(event, PersonCommand) and event.name in OWN_DATA):
            if isinstance(event, PersonCommand):  # otherwise it would vanish without a word
                await try_to_notify(messenger, event, NOT_ADMITTED)
            return None
        return replace(event, role=admission.role) if admission.role is not event.role else event

    async def set_in_chat(self, workspace: str) -> Mapping[str, str]:
        """The settings made in chat for a workspace. Raises `StoreUnavailable`."""
        return await self._executor(self._memory.chat_settings.values, workspace)


def rate_limited(rest: timedelta) -> str:
    """The message to a rate-limited person."""
    minutes = round(rest.total_seconds() / 60)
    return (
        f"You write faster than I can keep up with, so I answer you here again in {count(minutes, 'minute')}: please "
        "ask then what I have not answered. Corrections, reactions, buttons and the slash command work all the same."
    )
