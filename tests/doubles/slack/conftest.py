"""A server for tests of the stand-in."""

from collections.abc import AsyncIterator

import pytest

from tests.doubles.slack import SlackServer


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer() as running:
        yield running
