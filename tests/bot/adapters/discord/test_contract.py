"""Discord under the contract of all messengers, through the real discord.py: in a channel and in direct messages."""

from collections.abc import AsyncIterator

import pytest

from bot.model import MessageRef
from tests.bot.adapters.messenger_contract import Driver, MessengerContract, overridden
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.client import redirected
from tests.doubles.discord_driver import make_messenger


class DiscordDriver:
    """People in one channel, who mention the bot in what they write."""

    def __init__(self, server: DiscordServer) -> None:
        self._server = server
        self._guild = server.guild("Home")
        self._custom = server.emoji(self._guild, "partyparrot")
        self.messenger = make_messenger(server)
        self.workspace = f"discord:{self._guild.id}"
        self._channel = server.channel(self._guild, "general")
        self.channel = self._channel.id

    async def person_posts(self, text: str, person: str = "ana") -> None:
        await self._connected()
        somebody = self._server.person(person, self._guild)
        self._server.says(somebody, self._channel, f"{self._server.bot.mention} {text}")

    async def person_reacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        await self._connected()
        self._server.reacts(self._server.person(person, self._guild), ref.message_id, emoji)

    async def person_unreacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        self._server.unreacts(self._server.person(person, self._guild), ref.message_id, emoji)

    async def ends(self) -> None:
        await self._connected()
        self._server.revokes_token()

    async def _connected(self) -> None:
        await self._server.until(self._server.is_connected)

    def sent(self) -> str:
        return "\n".join(message.content for message in self._server.said(self._channel))

    def emoji_spellings(self) -> list[str]:
        return ["👍", "👍🏽", "👎", "✔️", self._custom, "👩‍💻", "1️⃣", "🇫🇷"]


class TestDiscord(MessengerContract):
    @pytest.fixture(autouse=True)
    async def _discord(self) -> AsyncIterator[None]:
        async with DiscordServer() as self._server:
            with redirected(self._server.api_url):
                yield

    async def make_driver(self) -> Driver:
        return DiscordDriver(self._server)


def test_nothing_of_the_contract_is_weakened() -> None:
    assert overridden(TestDiscord) == []
