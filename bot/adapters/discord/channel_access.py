"""Checks that a person may act on another channel than the one they are in: only where they may look now."""

from dataclasses import dataclass

import discord

from bot.adapters.discord.channels import ChannelInfo
from bot.adapters.discord.context import HandlerContext
from bot.errors import ChannelNotFound, NotPermitted
from memory.model import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAccess:
    """Finds a person's scope and role in another channel of their server."""

    place: ChannelInfo
    role: Role


async def standing_in(handlers: HandlerContext, channel_id: int, person: int) -> ChannelAccess | None:
    """The person's scope and role in a channel or thread; None where they may not look or use the bot.

    Raises `MessengerUnavailable` or `RateLimited` when Discord cannot say.
    """
    try:
        channel = handlers.client.get_channel(channel_id) or await _archived_thread(handlers, channel_id)
        parent: object = channel.parent if isinstance(channel, discord.Thread) else channel
        if not isinstance(parent, discord.abc.GuildChannel):
            return None
        guild = parent.guild
        member = await handlers.rest(f"looking up member {person}", lambda: guild.fetch_member(person))
        if isinstance(channel, discord.Thread) and channel.is_private():
            thread = channel
            await handlers.rest(f"looking for {person} in thread {channel_id}", lambda: thread.fetch_member(person))
    except (NotPermitted, ChannelNotFound):
        return None
    may_look = parent.permissions_for(member).view_channel
    if not may_look or not handlers.roles.admit(member, (channel_id, parent.id), is_direct=False):
        return None
    return ChannelAccess(place=await handlers.channels.of(channel_id, guild.id), role=handlers.roles.of(member))


async def _archived_thread(handlers: HandlerContext, channel_id: int) -> object:
    """An archived thread, by REST: the gateway does not send those."""
    return await handlers.rest(f"looking up channel {channel_id}", lambda: handlers.client.fetch_channel(channel_id))
