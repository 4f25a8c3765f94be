"""Sends notices to one person: confirmations, questions, refusals."""

import logging
from dataclasses import replace

from bot.errors import MessengerError
from bot.model import BotMessage, PersonEvent, PersonMessage
from bot.ports import Messenger
from memory.model import Incoming, Scope

log = logging.getLogger(__name__)


async def notify(messenger: Messenger, event: PersonEvent | Incoming, text: str) -> None:
    """Post a notice where the person acted, visible to them alone if the platform can. Raises `MessengerError`.

    To a message it is a reply, where the platform has replies, so that everybody sees whom it is for.
    """
    answered = event.message_id if isinstance(event, PersonMessage | Incoming) else ""
    await messenger.post(replace(notice(event.scope, text), reply_to=answered))


async def try_to_notify(messenger: Messenger, event: PersonEvent | Incoming, text: str) -> bool:
    """Post a notice as `notify` does, but log a failure and return False instead of raising."""
    try:
        await notify(messenger, event, text)
    except MessengerError as failure:
        log.error("the person could not be told about event %s: %s", event.event_id, failure)
        return False
    return True


def notice(scope: Scope, text: str) -> BotMessage:
    """A private message to one person, where they acted."""
    return BotMessage(
        workspace=scope.workspace, channel=scope.channel, thread=scope.thread, text=text, private_to=scope.person
    )
