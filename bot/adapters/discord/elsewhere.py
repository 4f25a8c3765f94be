"""Acting about another place than the one a person is in: only where they may look just now."""

from dataclasses import dataclass

import discord

from bot.adapters.discord.desk import Desk
from bot.adapters.discord.places import Place
from bot.errors import ChannelNotFound, NotPermitted
from memory.model import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where somebody acts, and what they may decide there."""

    place: Place
    role: Role


async def standing_in(desk: Desk, channel_id: int, person: int) -> Standing | None:
    """The person's standing in a channel or thread of a server; None where they may not look or use the bot.

    Raises `MessengerUnavailable` or `RateLimited` when Discord cannot say.
    """
    channel = desk.client.get_channel(channel_id)
    if isinstance(channel, discord.Thread):
        parent: object = channel.parent
        is_open = not channel.is_private()
    else:
        parent, is_open = channel, True
    if not isinstance(parent, discord.abc.GuildChannel) or not is_open:
        return None
    guild = parent.guild
    try:
        member = await desk.rest(f"looking up member {person}", lambda: guild.fetch_member(person))
    except (NotPermitted, ChannelNotFound):
        return None
    may_look = parent.permissions_for(member).view_channel
    if not may_look or not desk.roles.admit(member, (channel_id, parent.id), is_direct=False):
        return None
    return Standing(place=await desk.places.of(channel_id, guild.id), role=desk.roles.of(member))
