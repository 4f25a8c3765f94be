"""Who is there, for tests that have a `server`."""

import pytest

from bot.adapters.slack.outgoing import streaming
from tests.doubles.slack import Person, SlackServer


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
