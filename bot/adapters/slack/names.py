"""What people are called in a workspace."""

import logging
from datetime import timedelta

from bot.adapters.slack.web import Web
from bot.adapters.ttl_cache import TtlCache
from bot.errors import MessengerError
from memory.ports import Clock

log = logging.getLogger(__name__)

_AT_ONCE_S = 0.0
"""A name is a courtesy: nothing waits for it."""


class Names:
    """Asks Slack for people's names, and keeps them for a while."""

    def __init__(self, web: Web, clock: Clock) -> None:
        self._web = web
        self._known: TtlCache[str, str] = TtlCache(clock, size=5000, keep=timedelta(hours=1))

    async def of(self, user: str) -> str:
        """Their display name, else their full one; nothing if Slack does not say."""
        name = self._known.get(user)
        if name is None:
            try:
                answer = await self._web.once(self._web.client.users_info, user, patience_s=_AT_ONCE_S, user=user)
            except MessengerError as error:
                log.info("%s is shown by id: %s", user, error)
                return ""
            profile = answer["user"].get("profile") or {}
            name = str(profile.get("display_name") or profile.get("real_name") or answer["user"].get("name") or "")
            self._known.put(user, name)
        return name
