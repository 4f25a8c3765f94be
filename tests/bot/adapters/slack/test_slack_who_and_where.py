"""Slack's profile decides when a reminder is, and tells who asks and where."""

from pathlib import Path

from bot.ports import KnowsPeople
from memory.model import Scope, Visibility
from tests.doubles.slack import SlackServer
from tests.doubles.whole_bot import slack_bot


async def test_reminders_are_in_the_time_zone_of_the_profile(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, channel = server.person("ana"), server.channel("general")
        question = ana.says(channel, "remind me tomorrow at 9 to call Bob")
        await bot.session.settled()
        await bot.idle()
        [answer] = server.said_by_bot(channel, question.ts)
    assert "09:00 (Europe/Amsterdam)" in answer.text


async def test_who_asks_and_where(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, channel = server.person("ana"), server.channel("general")
        assert isinstance(bot.messenger, KnowsPeople)
        scope = Scope(workspace=bot.session.workspace, channel=channel, person=ana.id, place="#general")
        profile, card = await bot.messenger.profile(scope), await bot.messenger.channel_card(scope)
    assert (profile.zone, bool(profile.name)) == ("Europe/Amsterdam", True)
    assert (card.name, card.visibility) == ("#general", Visibility.PUBLIC)
