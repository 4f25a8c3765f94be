"""A server and a client for tests of the stand-in."""

from collections.abc import AsyncIterator

import pytest

from tests.doubles.discord.client import Client, connected
from tests.doubles.discord.model import Channel, Guild, Person
from tests.doubles.discord.server import DiscordServer


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as running:
        yield running


@pytest.fixture
def guild(server: DiscordServer) -> Guild:
    return server.guild("Home")


@pytest.fixture
def general(server: DiscordServer, guild: Guild) -> Channel:
    return server.channel(guild, "general")


@pytest.fixture
def ana(server: DiscordServer, guild: Guild) -> Person:
    return server.person("ana", guild)


@pytest.fixture
def client_kind() -> type[Client]:
    return Client


@pytest.fixture
async def client(
    server: DiscordServer, general: Channel, ana: Person, client_kind: type[Client]
) -> AsyncIterator[Client]:
    async with connected(server, client_kind()) as running:
        yield running
