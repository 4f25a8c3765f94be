"""Says when the bot is new in a server."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import discord

from bot.adapters.discord.context import HandlerContext
from bot.adapters.discord.lookups import teacher_names
from bot.model import BotInvited

_NEW = timedelta(days=1)
"""How long after it was invited: it may have been away then."""


class Arrivals:
    """Delivers `BotInvited` for each server that invited the bot lately, where there is a channel to say something."""

    def __init__(self, handlers: HandlerContext) -> None:
        self._context = handlers
        self.handlers: dict[str, Callable[[Any], object]] = {
            "shard_ready": self._ready,
            "guild_available": self._seen,
            "guild_join": self._seen,
        }
        """By the library's name of an event."""

    def _ready(self, shard: int) -> None:
        for guild in self._context.client.guilds:
            if guild.shard_id == shard and not guild.unavailable:
                self._seen(guild)

    def _seen(self, guild: discord.Guild) -> None:
        since = guild.me.joined_at
        if since is not None and self._context.clock() - since < _NEW:
            self._context.tasks.start(("arrival", guild.id), lambda: self._tell(guild))

    async def _tell(self, guild: discord.Guild) -> None:
        channel = self._channel(guild)
        if channel is not None:
            place = await self._context.channels.of(channel.id, guild.id)
            await self._context.sink(
                BotInvited(
                    event_id=f"arrival/{guild.id}",
                    scope=place.scope(str(self._context.client.me)),
                    at=self._context.clock(),
                    teachers=partial(teacher_names, self._context, guild),
                    is_server=True,
                )
            )

    def _channel(self, guild: discord.Guild) -> discord.TextChannel | None:
        """Where newcomers are greeted, else the first channel that everybody sees, else any, if the bot may write."""
        order = sorted(
            guild.text_channels,
            key=lambda each: (not each.permissions_for(guild.default_role).view_channel, each != guild.system_channel),
        )
        may_write = (each for each in order if _may_write(guild, each))
        admits = self._context.roles.admit
        return next((each for each in may_write if admits(guild.me, [each.id], is_direct=False)), None)


def _may_write(guild: discord.Guild, channel: discord.TextChannel) -> bool:
    rights = channel.permissions_for(guild.me)
    return rights.view_channel and rights.send_messages
