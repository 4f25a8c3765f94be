"""Reports channels whose readers change, so that memory files anew what was said there."""

from collections.abc import Callable
from typing import Any

import discord

from bot.adapters.discord.channels import ChannelInfo, visibility_of
from bot.adapters.discord.context import HandlerContext
from bot.model import ChannelChanged


class ChannelChanges:
    """Turns the gateway's events about channels and roles into `ChannelChanged` events."""

    def __init__(self, handlers: HandlerContext) -> None:
        self._context = handlers
        self._handlers: dict[str, Callable[[Any], None]] = {
            "guild_channel_update": self._changed,
            "guild_channel_delete": self._vanished,
            "guild_role_update": self._role_changed,
        }

    def on_event(self, name: str, payload: object) -> None:
        """Take in one event; those of no interest are dropped."""
        handler = self._handlers.get(name)
        if handler is not None:
            handler(payload)

    def _changed(self, before: discord.abc.GuildChannel) -> None:
        """Compares a channel before and after a change. Most changes are to its name or its position."""
        if visibility_of(before.guild.get_channel(before.id)) is not visibility_of(before):
            self._look_again(before)

    def _role_changed(self, before: discord.Role) -> None:
        """A change of the role @everyone: every channel may inherit what it may see."""
        for channel in before.guild.text_channels if before.is_default() else ():
            self._look_again(channel)

    def _look_again(self, channel: discord.abc.GuildChannel) -> None:
        self._context.tasks.start(channel.id, lambda: self._on_change(channel))

    def _vanished(self, channel: discord.abc.GuildChannel) -> None:
        self._context.tasks.start(channel.id, lambda: self._on_vanished(channel))

    async def _on_change(self, channel: discord.abc.GuildChannel) -> None:
        await self._tell(await self._context.channels.of(channel.id, channel.guild.id))

    async def _on_vanished(self, channel: discord.abc.GuildChannel) -> None:
        place = await self._context.channels.hidden(channel)
        if place is not None:
            await self._tell(place)

    async def _tell(self, place: ChannelInfo) -> None:
        handlers, now = self._context, self._context.clock()
        event_id = f"channel/{place.id}/{now.isoformat()}"
        await handlers.sink(ChannelChanged(event_id=event_id, scope=place.scope(str(handlers.me)), at=now))
