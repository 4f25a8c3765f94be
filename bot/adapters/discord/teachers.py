"""Who can approve lessons in a Discord server: by name for people to read, by id to write to them."""

import discord

from bot.adapters.discord.context import HandlerContext
from bot.adapters.naming import plain_name


async def teacher_names(handlers: HandlerContext, guild: discord.Guild) -> list[str]:
    """Who may approve for others, by name as far as Discord tells."""
    named: list[str] = []
    for each in handlers.roles.deciders:
        role = guild.get_role(int(each)) if each.isdecimal() else None
        if role is not None:
            named.append(f"the role {plain_name(role.name)}")
        elif name := plain_name(await handlers.posting.names.of(each)) if each.isdecimal() else each:
            named.append(name)
    return named


def teacher_ids(handlers: HandlerContext, guild: discord.Guild) -> list[str]:
    """The people named in the settings; the server's owner where none is. Members of roles are not told to bots."""
    roles = {str(role.id) for role in guild.roles}
    named = [each for each in handlers.roles.deciders if each.isdecimal() and each not in roles]
    return named or ([str(guild.owner_id)] if guild.owner_id else [])
