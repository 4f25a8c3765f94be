"""Who can approve lessons in a Discord server: by name for people to read, by id to write to them."""

import discord

from bot.adapters.discord.context import HandlerContext
from bot.adapters.discord.directory import PLATFORM
from bot.adapters.naming import plain_name
from memory.rules.chat_settings import TEACHERS


async def teacher_names(handlers: HandlerContext, guild: discord.Guild) -> list[str]:
    """Who may approve for others, by name as far as Discord tells."""
    named: list[str] = []
    for each in dict.fromkeys([*await _named_in_chat(handlers, guild), *handlers.roles.deciders]):
        role = guild.get_role(int(each)) if each.isdecimal() else None
        if role is not None:
            named.append(f"the role {plain_name(role.name)}")
        elif name := plain_name(await handlers.posting.names.of(each)) if each.isdecimal() else each:
            named.append(name)
    return named


async def _named_in_chat(handlers: HandlerContext, guild: discord.Guild) -> list[str]:
    return (await handlers.queries.set_in_chat(f"{PLATFORM}:{guild.id}")).get(TEACHERS, "").split()


async def teacher_ids(handlers: HandlerContext, guild: discord.Guild) -> list[str]:
    """The people named in the settings; the server's owner where none is. Members of roles are not told to bots."""
    roles = {str(role.id) for role in guild.roles}
    deciders = dict.fromkeys([*handlers.roles.deciders, *await _named_in_chat(handlers, guild)])
    named = [each for each in deciders if each.isdecimal() and each not in roles]
    return named or ([str(guild.owner_id)] if guild.owner_id else [])
