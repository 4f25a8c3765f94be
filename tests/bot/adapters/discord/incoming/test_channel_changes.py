"""Discord channels that change who reads them: the bot hears it at once."""

from dataclasses import replace

from bot.model import ChannelChanged
from memory.model import Visibility
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord_driver import connected


async def test_a_channel_that_is_closed_to_everyone_is_told_and_again_when_it_opens(server: DiscordServer) -> None:
    async with connected(server) as session:
        everyone, general = server.state.roles[session.guild.id], session.general
        server.rights(general, server.bot, allow=Permission.VIEW_CHANNEL)
        server.rights(general, everyone, deny=Permission.VIEW_CHANNEL)
        server.rights(general, everyone, deny=Permission.SEND_MESSAGES)
        await session.settled()
        server.rights(general, everyone, allow=Permission.VIEW_CHANNEL)
        events = await session.settled()
    told = [event for event in events if isinstance(event, ChannelChanged)]
    assert [event.scope.visibility for event in told] == [Visibility.PRIVATE, Visibility.PUBLIC]
    assert {event.scope.channel for event in told} == {general.id}
    assert {event.scope.workspace for event in told} == {session.workspace}


async def test_what_everyone_may_see_changes_every_channel(server: DiscordServer) -> None:
    async with connected(server) as session:
        server.rights(session.general, server.bot, allow=Permission.VIEW_CHANNEL)
        everyone = server.state.roles[session.guild.id]
        server.changes_role(replace(everyone, permissions=everyone.permissions & ~int(Permission.VIEW_CHANNEL)))
        told = await session.heard.of(ChannelChanged, 1)
    assert [(each.scope.channel, each.scope.visibility) for each in told] == [(session.general.id, Visibility.PRIVATE)]


async def test_a_channel_that_the_bot_may_no_longer_see_is_private_and_a_deleted_one_stays_as_it_was(
    server: DiscordServer,
) -> None:
    async with connected(server) as session:
        everyone = server.state.roles[session.guild.id]
        gone = server.channel(session.guild, "gone")
        server.deletes_channel(gone)
        server.rights(session.general, everyone, deny=Permission.VIEW_CHANNEL)
        await session.heard.of(ChannelChanged, 1)
        told = [event for event in await session.settled() if isinstance(event, ChannelChanged)]
    assert [(each.scope.channel, each.scope.visibility) for each in told] == [(session.general.id, Visibility.PRIVATE)]
