"""Notifications to one person: a thank-you, a question, a refusal."""

import logging

from bot.errors import MessengerError
from bot.model import BotMessage, PersonEvent
from bot.ports import Messenger
from memory.model import Incoming, Scope

log = logging.getLogger(__name__)


async def say(messenger: Messenger, event: PersonEvent | Incoming, text: str) -> None:
    """Post a notice where the person acted, to them alone where the platform can. Raises `MessengerError`."""
    await messenger.post(notice(event.scope, text))


async def tell(messenger: Messenger, event: PersonEvent | Incoming, text: str) -> bool:
    """Tell the person why something was not done. False if the platform does not allow it."""
    try:
        await say(messenger, event, text)
    except MessengerError as failure:
        log.error("the person could not be told about event %s: %s", event.event_id, failure)
        return False
    return True


def notice(scope: Scope, text: str) -> BotMessage:
    """A message to one person, where they are."""
    return BotMessage(
        workspace=scope.workspace, channel=scope.channel, thread=scope.thread, text=text, private_to=scope.person
    )
