"""Replaces ids of people by their names in what the bot says."""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

from cachetools import TTLCache

from bot.errors import MessengerError
from bot.model import BotMessage
from memory.ports import Clock

log = logging.getLogger(__name__)

AskName = Callable[[str], Awaitable[str]]
"""Asks the platform for a person's name by their id. Raises `MessengerError`."""

_LONGEST = 30
_UNPLAIN = re.compile(r"[^\w .'’-]+")


async def by_name(message: BotMessage, name_of: Callable[[str], Awaitable[str]]) -> BotMessage:
    """The message with names in place of people's ids. An answer's own text is not changed, as the ledger has it.

    `name_of` returns a person's own name, or an empty text if there is none.
    """
    names = {person: name for person in message.people if (name := plain_name(await name_of(person)))}
    if not names:
        return message
    found = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")

    def named(text: str) -> str:
        return found.sub(lambda match: names[match[0]], text)

    text = message.text if message.is_answer else named(message.text)
    return replace(message, text=text, lessons=tuple(map(named, message.lessons)))


def plain_name(name: str) -> str:
    """A name as a few plain words, without characters that would format text, make links or mention people."""
    return " ".join(_UNPLAIN.sub(" ", name).split())[:_LONGEST].rstrip()


class Names:
    """People's names as the platform gives them, cached for an hour."""

    def __init__(self, ask: AskName, clock: Clock) -> None:
        self._ask = ask
        self._known: TTLCache[str, str, datetime] = TTLCache(5000, timedelta(hours=1), clock)

    async def of(self, person: str) -> str:
        """A person's name; empty if the platform does not tell."""
        name = self._known.get(person)
        if name is None:
            try:
                name = await self._ask(person)
            except MessengerError as error:
                log.info("%s is shown by id: %s", person, error)
                return ""
            self._known[person] = name
        return name
