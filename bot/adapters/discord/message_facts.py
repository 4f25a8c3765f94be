"""What a message tells by itself: whether a person wrote it, where it stands, and what it replies to."""

import discord

from bot.adapters.discord.directory import ChannelInfo

_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
"""Messages in which people say something; every other kind is a notice of Discord's."""


def is_by_person(message: discord.Message) -> bool:
    """Whether a person wrote it, rather than a bot or Discord itself."""
    return not message.author.bot and message.webhook_id is None and message.type in _SPOKEN


def order(message: discord.Message) -> tuple[int, ...]:
    """What is taken in one after the other: a thread's or direct conversation's messages; elsewhere one person's."""
    channel = message.channel
    is_one_conversation = isinstance(channel, discord.Thread) or guild_id(message) is None
    return (channel.id,) if is_one_conversation else (channel.id, message.author.id)


def guild_id(message: discord.Message) -> int | None:
    """The server a message stands in, also while that is unavailable; None for direct messages."""
    if message.guild is not None:
        return message.guild.id
    return getattr(message.channel, "guild_id", None)


def reply_target(message: discord.Message, place: ChannelInfo) -> str:
    """The id of the message it replies to, in the same place; empty without one."""
    reference = message.reference
    is_here = reference is not None and reference.channel_id == message.channel.id
    return place.message_id(reference.message_id) if reference and is_here and reference.message_id else ""
