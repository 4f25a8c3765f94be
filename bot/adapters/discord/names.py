"""Names of people on Discord."""

import logging
from datetime import timedelta

from bot.adapters.discord.client import Client
from bot.adapters.discord.rest import Rest
from bot.adapters.ttl_cache import TtlCache
from bot.errors import MessengerError
from memory.ports import Clock

log = logging.getLogger(__name__)


class Names:
    """Asks Discord for people's names, and keeps them for a while."""

    def __init__(self, client: Client, rest: Rest, clock: Clock) -> None:
        self._client = client
        self._rest = rest
        self._known: TtlCache[str, str] = TtlCache(clock, size=5000, keep=timedelta(hours=1))

    async def of(self, person: str) -> str:
        """Their display name; nothing if Discord does not say."""
        name = self._known.get(person)
        if name is None and person.isdecimal():
            try:
                user = await self._rest(f"asking who {person} is", lambda: self._client.fetch_user(int(person)))
            except MessengerError as error:
                log.info("%s is shown by id: %s", person, error)
                return ""
            name = user.display_name
            self._known.put(person, name)
        return name or ""
