"""Looks up people and channels on their platform."""

import asyncio
import logging
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from bot.errors import MessengerError
from bot.model import ChannelCard, Profile
from bot.ports import KnowsPeople, Messenger
from memory.model import Scope

log = logging.getLogger(__name__)


class People:
    """Asks the messenger of a scope. Unknown values are empty."""

    def __init__(self, messengers: Mapping[str, Messenger], zone: str = "") -> None:
        self._messengers = messengers
        self._zone = zone

    async def profile(self, scope: Scope) -> Profile:
        """The profile of the scope's person. Never raises."""
        messenger = self._messengers.get(scope.platform)
        if not isinstance(messenger, KnowsPeople):
            return Profile()
        try:
            return await messenger.profile(scope)
        except MessengerError as error:
            log.info("could not look up person %s in %s: %s", scope.person, scope.workspace, error)
            return Profile()

    async def channel(self, scope: Scope) -> ChannelCard:
        """The card of the scope's channel. Never raises."""
        messenger = self._messengers.get(scope.platform)
        if not isinstance(messenger, KnowsPeople):
            return ChannelCard(name=scope.place)
        try:
            return await messenger.channel_card(scope)
        except MessengerError as error:
            log.info("could not look up channel %s in %s: %s", scope.channel, scope.workspace, error)
            return ChannelCard(name=scope.place)

    async def zone_of(self, scope: Scope) -> str:
        """The person's time zone, else that of the settings, else this machine's. Never raises."""
        zone = (await self.profile(scope)).zone
        return zone if _is_zone(zone) else self._zone or await asyncio.to_thread(_own_zone)


def _is_zone(name: str) -> bool:
    """Whether a name is a time zone. Checked by loading it, as listing all zones reads many files."""
    try:
        return bool(name) and bool(ZoneInfo(name))
    except (LookupError, OSError, ValueError):  # what is no zone may be the name of a folder, or of nothing
        return False


def _own_zone() -> str:
    from tzlocal import get_localzone_name

    try:
        name = get_localzone_name()
    except (LookupError, ValueError):
        return "UTC"
    return name if _is_zone(name) else "UTC"
