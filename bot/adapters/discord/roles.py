"""Roles of people, and who may use the bot, by their ids and those of their Discord roles."""

from collections.abc import Iterable

import discord

from bot.config import DiscordSettings
from memory.model import Role

Somebody = discord.User | discord.Member


class Roles:
    """Reads the lists in `[discord]`."""

    def __init__(self, settings: DiscordSettings) -> None:
        self._admins = frozenset(settings.admins)
        self._teachers = frozenset(settings.teachers)
        self._managers_teach = settings.managers_teach == "yes"
        self._people = frozenset(settings.allowed_people)
        self._channels = frozenset(settings.allowed_channels)

    def of(self, somebody: Somebody) -> Role:
        """What a person may decide. A direct message does not tell their roles: there only their own id counts."""
        if somebody.bot:
            return Role.BOT
        role = self.of_id(*_ids(somebody))
        manages = isinstance(somebody, discord.Member) and somebody.guild_permissions.manage_guild
        return Role.TEACHER if role is Role.MEMBER and manages and self._managers_teach else role

    def of_id(self, *ids: str) -> Role:
        """The same from ids alone."""
        if self._admins & set(ids):
            return Role.ADMIN
        return Role.TEACHER if self._teachers & set(ids) else Role.MEMBER

    def admit(self, somebody: Somebody, channels: Iterable[int | None], *, is_direct: bool) -> bool:
        """Whether this person may use the bot here. `channels` are the channel and, of a thread, its parent."""
        if self._people and not self._people & set(_ids(somebody)):
            return False
        return not self._channels or is_direct or bool(self._channels & {str(channel) for channel in channels})


def _ids(somebody: Somebody) -> list[str]:
    roles = somebody.roles if isinstance(somebody, discord.Member) else []
    return [str(somebody.id), *(str(role.id) for role in roles)]
