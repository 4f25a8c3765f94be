"""Replaces the ids in Discord's mentions by names."""

from collections.abc import Iterable

import discord

from bot.adapters.discord.directory import Somebody
from bot.adapters.discord.plain_text import MENTION, UNNAMED, plain_text
from bot.adapters.discord.rest import Rest
from bot.adapters.naming import Names, plain_name
from bot.errors import MessengerError


class Mentions:
    """Looks up the present names of people, roles and channels."""

    def __init__(self, client: discord.Client, rest: Rest, names: Names) -> None:
        self._client = client
        self._rest = rest
        self._names = names

    async def names(self, text: str, author: Somebody, known: Iterable[Somebody] = ()) -> dict[str, str]:
        """The names for the mentions in a text, by id; of channels only if its author may view them.

        `known` are people whose names Discord sent with the text.
        """
        names = {str(user.id): plain_name(user.display_name) for user in known}
        for found in MENTION.finditer(text):
            if not names.get(found["id"]):
                name = await self._name(found["kind"], int(found["id"]), author)
                names[found["id"]] = plain_name(name) or UNNAMED[found["kind"]]
        return names

    async def plain(self, text: str, author: Somebody, known: Iterable[Somebody] = ()) -> str:
        """Discord's text as people read it."""
        return plain_text(text, await self.names(text, author, known))

    async def _name(self, kind: str, target: int, author: Somebody) -> str:
        guild = author.guild if isinstance(author, discord.Member) else None
        if kind == "#":
            return self._channel(target, author)
        if kind == "@&":
            role = guild.get_role(target) if guild is not None else None
            return role.name if role is not None else ""
        if guild is not None:
            try:
                member = await self._rest(f"asking who {target} is", lambda: guild.fetch_member(target))
            except MessengerError:
                return await self._names.of(str(target))  # somebody who left
            return member.display_name
        return await self._names.of(str(target))

    def _channel(self, target: int, author: Somebody) -> str:
        channel = self._client.get_channel(target)
        place = channel.parent if isinstance(channel, discord.Thread) else channel
        if not isinstance(place, discord.abc.GuildChannel) or not isinstance(author, discord.Member):
            return ""
        is_theirs = place.guild == author.guild and place.permissions_for(author).view_channel
        return str(getattr(channel, "name", "")) if is_theirs else ""
