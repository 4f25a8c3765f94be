"""Reports channels whose visibility changed, so that memory updates what was said there."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import discord

from bot.adapters.discord.directory import ChannelInfo, visibility_of
from bot.adapters.discord.incoming.context import HandlerContext
from bot.model import ChannelChanged


class ChannelChanges:
    """Turns the gateway's events about channels and roles into `ChannelChanged` events."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context
        self.handlers: dict[str, Callable[[Any], object]] = {
            "guild_channel_update": self._changed,
            "guild_channel_delete": self._vanished,
            "guild_role_update": self._role_changed,
        }
        """By the library's name of an event."""

    def _changed(self, before: discord.abc.GuildChannel) -> None:
        """Report a changed channel if its visibility differs. Most changes are of its name or its position."""
        if visibility_of(before.guild.get_channel(before.id)) is not visibility_of(before):
            self._look_again(before)

    def _role_changed(self, before: discord.Role) -> None:
        """Report all channels after a change of the role @everyone, whose rights they may inherit."""
        for channel in before.guild.text_channels if before.is_default() else ():
            self._look_again(channel)

    def _look_again(self, channel: discord.abc.GuildChannel) -> None:
        self._start(channel, partial(self._context.channels.of, channel.id, channel.guild.id))

    def _vanished(self, channel: discord.abc.GuildChannel) -> None:
        self._start(channel, partial(self._context.channels.hidden, channel))

    def _start(self, channel: discord.abc.GuildChannel, look_up: Callable[[], Awaitable[ChannelInfo | None]]) -> None:
        async def tell() -> None:
            if place := await look_up():
                context, now = self._context, self._context.clock()
                event_id = f"channel/{place.id}/{now.isoformat()}"
                await context.sink(ChannelChanged(event_id=event_id, scope=place.scope(str(context.client.me)), at=now))

        self._context.tasks.start(channel.id, tell)
