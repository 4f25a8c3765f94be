"""The local Discord, and a messenger that is connected to it."""

from collections.abc import AsyncIterator

import pytest

from tests.doubles.discord import DiscordServer
from tests.doubles.discord_driver import Session, connected


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as running:
        yield running


@pytest.fixture
async def session(server: DiscordServer) -> AsyncIterator[Session]:
    async with connected(server) as running:
        yield running
