"""Slack channels that change who reads them: the bot hears it at once, and looks them up anew."""

import pytest

from bot.model import ChannelChanged, PersonMessage
from memory.model import Visibility
from tests.doubles.slack import ServerBroken, SlackServer
from tests.doubles.slack_driver import connected


async def test_every_change_of_who_reads_a_channel_is_told(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, f"<@{server.workspace.bot.id}> hello")
        for is_private in (True, False):
            await session.settled()
            server.convert(channel, ana, private=is_private)
        for is_shared in (True, False):
            await session.settled()
            server.share(channel, shared=is_shared)
        await session.settled()
        ana.says(channel, f"<@{server.workspace.bot.id}> and now?")
        await session.settled()
    told = [event for event in session.heard.events if isinstance(event, ChannelChanged)]
    public, private, shared = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.SHARED
    assert [event.scope.visibility for event in told] == [private, public, shared, public]
    bot = server.workspace.bot.id
    assert [event.scope.person for event in told] == [ana.id, ana.id, bot, bot]
    assert {(event.scope.workspace, event.scope.channel) for event in told} == {(session.workspace, channel)}
    asked = [event.scope.visibility for event in session.heard.events if isinstance(event, PersonMessage)]
    assert asked == [public, public]


@pytest.mark.parametrize("private", [False, True])
async def test_a_channel_is_told_by_its_new_name(server: SlackServer, private: bool) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        server.convert(channel, ana, private=private)
        await session.settled()
        server.rename(channel, ana, "announcements")
        await session.settled()
        ana.says(channel, f"<@{server.workspace.bot.id}> hello")
        await session.settled()
    assert [event.scope.place for event in session.heard.events] == ["#general", "#announcements", "#announcements"]
    assert [type(event) for event in session.heard.events] == [ChannelChanged, ChannelChanged, PersonMessage]


async def test_a_change_while_slack_cannot_be_asked_is_to_nobody_knows_what(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, f"<@{server.workspace.bot.id}> hello")
        await session.settled()
        server.faults.next("conversations.info", ServerBroken(503), times=None)
        server.convert(channel, ana, private=True)
        await session.settled()
    (told,) = [event for event in session.heard.events if isinstance(event, ChannelChanged)]
    assert (told.scope.visibility, told.scope.is_visibility_known) == (Visibility.PRIVATE, False)


async def test_archiving_a_channel_and_leaving_it_change_nobody_s_view(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        server.archive(channel, ana)
        server.remove_bot(channel)
        await session.settled()
    assert session.heard.events == []
