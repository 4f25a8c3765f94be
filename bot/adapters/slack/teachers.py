"""Who can approve lessons in a Slack workspace: by name for people to read, by id to write to them."""

import logging
from dataclasses import dataclass

from bot.adapters.slack.directory import OWNERS, Channels, Roles
from bot.adapters.slack.events import Location
from bot.adapters.slack.mentions import Mentions
from bot.config import SlackSettings
from bot.errors import MessengerError

log = logging.getLogger(__name__)

_MOST = 100
"""People of all user groups together who are written to."""


@dataclass(frozen=True, slots=True)
class Teachers:
    """Looks up teachers and administrators by the settings, and what Slack says of groups, channels and names."""

    _settings: SlackSettings
    _channels: Channels
    _roles: Roles
    _mentions: Mentions

    async def names(self, location: Location) -> list[str]:
        """Who may approve for others at a location, by name as far as Slack tells."""
        settings, names = self._settings, list[str]()
        creator = await self._channels.creator(location) if settings.creators == "teachers" else ""
        for each in dict.fromkeys((creator, *settings.admins, *settings.teachers)):
            if each and (name := await self._mentions.name_of(each)):
                group = "the group " if each.startswith("S") else ""
                names.append(f"{group}{name}{' (made this channel)' if each == creator else ''}")
        return [*names, *([OWNERS] if settings.owners != "members" else [])]

    async def ids(self) -> list[str]:
        """The people who teach in the whole workspace; its owners only where nobody else is known."""
        found: dict[str, None] = {}
        for each in (*self._settings.admins, *self._settings.teachers, self._roles.installer):
            if each.startswith("S"):
                found |= dict.fromkeys(sorted(await self._roles.members(each))[:_MOST])
            elif each:
                found[each] = None
        if not found and self._settings.owners != "members":
            try:
                return await self._roles.owners()
            except MessengerError as error:
                log.info("the owners of the workspace are not known: %s", error)
        return list(found)
