"""Slack under the contract of all messengers, through the real slack-bolt and slack-sdk: in a channel and in a DM."""

from collections.abc import AsyncIterator

import pytest

from bot.model import MessageRef
from tests.bot.adapters.messenger_contract import Driver, MessengerContract, overridden
from tests.doubles.slack import SlackServer
from tests.doubles.slack_driver import make_messenger


class SlackDriver:
    """People in one channel. What they write mentions the bot, so each message arrives as two events."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server
        self.messenger = make_messenger(server)
        self.workspace = f"slack:{server.workspace.id}"
        self.channel = server.channel("general")

    async def person_posts(self, text: str, person: str = "ana") -> None:
        self._server.person(person).says(self.channel, text)

    async def person_reacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        message = self._server.workspace.message(ref.channel, ref.message_id)
        self._server.person(person).reacts(message, emoji)

    async def person_unreacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        message = self._server.workspace.message(ref.channel, ref.message_id)
        self._server.person(person).unreacts(message, emoji)

    async def ends(self) -> None:
        self._server.uninstall()

    def sent(self) -> str:
        return "\n".join(message.text for message in self._server.said_by_bot(self.channel))

    def emoji_spellings(self) -> list[str]:
        return ["+1", "thumbsup", "+1::skin-tone-3", "-1", "white_check_mark", "partyparrot", "woman-tipping-hand"]


class TestSlack(MessengerContract):
    @pytest.fixture(autouse=True)
    async def _slack(self) -> AsyncIterator[None]:
        async with SlackServer() as self._server:
            yield

    async def make_driver(self) -> Driver:
        return SlackDriver(self._server)


def test_nothing_of_the_contract_is_weakened() -> None:
    assert overridden(TestSlack) == []
