"""The local Slack, and who is there."""

from collections.abc import AsyncIterator

import pytest

from bot.adapters.slack.outgoing import streaming
from tests.doubles.slack import Person, SlackServer


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer() as running:
        yield running
        assert running.slack.complaints == []
        assert running.slack.unknown_methods() == []


@pytest.fixture
def ana(server: SlackServer) -> Person:
    return server.person("ana")


@pytest.fixture
def ben(server: SlackServer) -> Person:
    return server.person("ben")


@pytest.fixture
def general(server: SlackServer) -> str:
    return server.channel("general")


@pytest.fixture
def short_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of every length are streamed."""
    monkeypatch.setattr(streaming, "SHORTEST", 0)
