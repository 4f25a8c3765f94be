"""Handles changes of servers: announces new ones, reads what was asked meanwhile, reports changed channels.

Discord does not send again what was asked while the bot was away, so it is read from the channels: messages of the last
hour that mention the bot and have no reply of its. Memory knows which of them an earlier process received, so each is
answered once.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import discord

from bot.adapters.discord.directory import ChannelInfo, visibility_of
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.lookups import teacher_names
from bot.errors import MessengerError
from bot.model import BotInvited, ChannelChanged

log = logging.getLogger(__name__)

_READING = discord.Permissions(view_channel=True, read_message_history=True)
_WRITING = discord.Permissions(view_channel=True, send_messages=True)
_Readable = discord.TextChannel | discord.VoiceChannel | discord.Thread
_NEW = timedelta(days=1)
"""How long a server counts as new after the bot was invited, as the bot may have been away then."""
_AWAY = timedelta(hours=1)
_MOST = 500
"""The most messages read in one channel, the oldest first; a request returns a hundred."""


class Servers:
    """Delivers `BotInvited` for each server that invited the bot lately, if there is a channel to write in.

    Delivers `ChannelChanged` for each channel that others may read now.
    `take` is called with each message that mentioned the bot while it was away.
    """

    def __init__(self, context: HandlerContext, take: Callable[[discord.Message], None]) -> None:
        self._context = context
        self._take = take
        self.handlers: dict[str, Callable[[Any], object]] = {
            "shard_ready": self._ready,
            "guild_available": self._in_view,
            "guild_join": self._in_view,
            "guild_channel_update": self._changed,
            "guild_channel_delete": self._vanished,
            "guild_role_update": self._role_changed,
        }
        """By the library's name of an event."""

    def _ready(self, shard: int) -> None:
        """Handle the servers of a session that began. Those that are unavailable now follow later."""
        for guild in self._context.client.guilds:
            if guild.shard_id == shard and not guild.unavailable:
                self._in_view(guild)

    def _in_view(self, guild: discord.Guild) -> None:
        now, since = self._context.clock(), guild.me.joined_at
        self._context.tasks.start(("catch up", guild.id), lambda: self._read(guild, now))
        if since is not None and now - since < _NEW:
            self._context.tasks.start(("arrival", guild.id), lambda: self._tell(guild))

    async def _read(self, guild: discord.Guild, now: datetime) -> None:
        there: list[_Readable] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        for channel in there:
            newest = channel.last_message_id
            is_recent = newest is not None and discord.utils.snowflake_time(newest) > now - _AWAY
            if is_recent and channel.permissions_for(guild.me) >= _READING:
                try:
                    await self._read_channel(guild, channel, now)
                except MessengerError as error:
                    log.info("could not read messages sent while the bot was away: %s", error)

    async def _read_channel(self, guild: discord.Guild, channel: _Readable, now: datetime) -> None:
        me, rest, what = self._context.client.me, self._context.rest, f"reading a channel of server {guild.id}"
        messages = await rest.all_of(
            what, lambda: channel.history(limit=_MOST, after=now - _AWAY, before=now, oldest_first=True)
        )
        answered = {each.reference.message_id for each in messages if each.author.id == me and each.reference}
        for message in messages:
            is_for_me = any(user.id == me for user in message.mentions)
            if not is_for_me or message.id in answered or message.author.bot:
                continue
            # Authors in a channel's history lack their roles.
            fetch = partial(guild.fetch_member, message.author.id)
            try:
                message.author = await rest(f"looking up member {message.author.id}", fetch)
            except MessengerError as error:
                log.info("could not answer a question asked while the bot was away: %s", error)
            else:
                self._take(message)

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
        """The channel where new members are greeted, else the first public one, else any the bot may write in."""
        order = sorted(
            guild.text_channels,
            key=lambda each: (not each.permissions_for(guild.default_role).view_channel, each != guild.system_channel),
        )
        may_write = (each for each in order if each.permissions_for(guild.me) >= _WRITING)
        admits = self._context.roles.admit
        return next((each for each in may_write if admits(guild.me, [each.id], is_direct=False)), None)

    # Channels whose visibility changed: memory updates what was said there ------------------------------------------

    def _changed(self, before: discord.abc.GuildChannel) -> None:
        """Report a changed channel if its visibility differs. Most changes are of its name or its position."""
        if visibility_of(before.guild.get_channel(before.id)) is not visibility_of(before):
            self._look_again(before)

    def _role_changed(self, before: discord.Role) -> None:
        """Report all channels after a change of the role @everyone, whose rights they may inherit."""
        for channel in before.guild.text_channels if before.is_default() else ():
            self._look_again(channel)

    def _look_again(self, channel: discord.abc.GuildChannel) -> None:
        self._report(channel, partial(self._context.channels.of, channel.id, channel.guild.id))

    def _vanished(self, channel: discord.abc.GuildChannel) -> None:
        self._report(channel, partial(self._context.channels.hidden, channel))

    def _report(self, channel: discord.abc.GuildChannel, look_up: Callable[[], Awaitable[ChannelInfo | None]]) -> None:
        async def tell() -> None:
            if place := await look_up():
                context, now = self._context, self._context.clock()
                event_id = f"channel/{place.id}/{now.isoformat()}"
                await context.sink(ChannelChanged(event_id=event_id, scope=place.scope(str(context.client.me)), at=now))

        self._context.tasks.start(channel.id, tell)
