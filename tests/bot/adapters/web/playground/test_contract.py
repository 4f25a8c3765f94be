"""The playground under the contract of all messengers, over HTTP and its stream of events."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.bot.adapters.messenger_contract import Driver, MessengerContract, overridden
from tests.doubles.memory_world import World
from tests.doubles.playground_driver import PlaygroundDriver, make_messenger, served


class TestPlayground(MessengerContract):
    @pytest.fixture(autouse=True)
    async def _web(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as self.stack:
            yield

    async def make_driver(self) -> Driver:
        messenger = make_messenger()
        url = await self.stack.enter_async_context(served(World().memory, messenger))
        return PlaygroundDriver(url, messenger, self.stack)


def test_nothing_of_the_contract_is_weakened() -> None:
    assert overridden(TestPlayground) == []
