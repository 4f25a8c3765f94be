"""Who may do what in a channel, computed as Discord's documentation lays out."""

from collections.abc import Iterable
from enum import IntFlag
from functools import reduce

from tests.doubles.discord.model import Channel, ChannelKind, Guild, Member, Role


class Permission(IntFlag):
    """The bits that are checked here."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


ALL = reduce(lambda one, other: one | other, Permission)
NONE = Permission(0)
EVERYONE = (
    Permission.ADD_REACTIONS
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)
"""What @everyone may do in a new guild."""


def in_guild(guild: Guild, member: Member, roles: Iterable[Role]) -> Permission:
    """The member's permissions before any channel has a say."""
    if guild.owner_id == member.person_id:
        return ALL
    mine = {guild.id, *member.roles}
    granted = reduce(lambda bits, role: bits | role.permissions, (role for role in roles if role.id in mine), 0)
    return ALL if granted & Permission.ADMINISTRATOR else Permission(granted)


def in_channel(guild: Guild, channel: Channel, member: Member, roles: Iterable[Role]) -> Permission:
    """The member's permissions in a channel (a thread's are asked with its parent's overwrites)."""
    granted = in_guild(guild, member, roles)
    if granted == ALL:
        return ALL
    everyone = [o for o in channel.overwrites if not o.of_person and o.target_id == guild.id]
    by_role = [o for o in channel.overwrites if not o.of_person and o.target_id in member.roles]
    by_person = [o for o in channel.overwrites if o.of_person and o.target_id == member.person_id]
    for tier in (everyone, by_role, by_person):
        denied = reduce(lambda bits, o: bits | o.deny, tier, 0)
        allowed = reduce(lambda bits, o: bits | o.allow, tier, 0)
        granted = Permission((granted & ~denied) | allowed)
    return granted if granted & Permission.VIEW_CHANNEL else NONE


def in_direct(channel: Channel, person_id: str) -> Permission:
    """In a direct conversation its people may do everything that makes sense there."""
    assert channel.kind is ChannelKind.DM
    return EVERYONE if person_id in channel.recipients else NONE
