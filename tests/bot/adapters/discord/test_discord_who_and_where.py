"""What Discord tells about who asks and where: a name and a topic, and nobody's time zone."""

from bot.ports import KnowsPeople
from memory.model import Scope
from tests.doubles.discord import DiscordServer
from tests.doubles.discord_driver import connected


async def test_who_asks_and_where() -> None:
    async with DiscordServer() as server, connected(server) as session:
        assert isinstance(session.messenger, KnowsPeople)
        plans = server.channel(session.guild, "plans", topic="What is built next")
        workspace = session.workspace
        scope = Scope(workspace=workspace, channel=plans.id, person=session.ana.id, place="#plans")
        await session.settled()
        profile, card = await session.messenger.profile(scope), await session.messenger.channel_card(scope)
        general = await session.messenger.channel_card(Scope(workspace=workspace, channel="C1", person=session.ana.id))
    assert (profile.name, profile.zone) == ("Ana", "")
    assert (card.name, card.topic) == ("#plans", "What is built next")
    assert (general.name, general.topic) == ("", "")
