"""Who can approve lessons in a Slack workspace: by name for people to read, by id to write to them."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from bot.adapters.slack.directory import OWNERS, Channels, Roles
from bot.adapters.slack.events import Location
from bot.adapters.slack.mentions import Mentions
from bot.config import SlackSettings
from bot.errors import MessengerError
from memory.rules.chat_settings import TEACHERS

log = logging.getLogger(__name__)

_MOST = 100
"""People of all user groups together who are written to."""


@dataclass(frozen=True, slots=True)
class Teachers:
    """Looks up who teaches by the settings, of the file and of the chat, and what Slack says of them."""

    _settings: SlackSettings
    _channels: Channels
    _roles: Roles
    _mentions: Mentions
    _set_in_chat: Callable[[], Awaitable[Mapping[str, str]]]

    async def names(self, location: Location) -> list[str]:
        """Who may approve for others at a location, by name as far as Slack tells."""
        settings, names = self._settings, list[str]()
        creator = await self._creator(location) if settings.creators == "teachers" else ""
        for each in dict.fromkeys((creator, *settings.admins, *settings.teachers, *await self._named_in_chat())):
            if each and (name := await self._mentions.name_of(each)):
                group = "the group " if each.startswith("S") else ""
                names.append(f"{group}{name}{' (made this channel)' if each == creator else ''}")
        return [*names, *([OWNERS] if settings.owners != "members" else [])]

    async def _creator(self, location: Location) -> str:
        """Who made the channel, if that makes them a teacher: not guests, people of others, and who has left."""
        creator = await self._channels.creator(location)
        try:
            role = await self._roles.of(replace(location, user=creator, team="")) if creator else None
        except MessengerError as error:
            log.info("could not check whether channel creator %s teaches there: %s", creator, error)
            return creator
        return creator if role is not None and role.may_promote else ""

    async def ids(self) -> list[str]:
        """The people who teach in the whole workspace; its owners only where nobody else is known."""
        found: dict[str, None] = {}
        named = (*self._settings.admins, *self._settings.teachers, *await self._named_in_chat())
        for each in (*named, self._roles.installer):
            if each.startswith("S"):
                found |= dict.fromkeys(sorted(await self._roles.members(each))[:_MOST])
            elif each:
                found[each] = None
        if not found and self._settings.owners != "members":
            try:
                return await self._roles.owners()
            except MessengerError as error:
                log.info("could not look up the workspace's owners: %s", error)
        return list(found)

    async def _named_in_chat(self) -> list[str]:
        return (await self._set_in_chat()).get(TEACHERS, "").split()
