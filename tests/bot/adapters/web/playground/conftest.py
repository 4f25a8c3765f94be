"""The real bot in the playground, served over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from bot.adapters.llm.offline.model import OfflineModel
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.adapters.web.playground.persona import WORKSPACE
from memory.model import Episode, Origin
from memory.ports import EpisodeFilter
from tests.doubles.conversation import Chat
from tests.doubles.memory_world import World
from tests.doubles.playground_driver import PlaygroundDriver, make_messenger, served


class Playing(PlaygroundDriver):
    """People at their tabs, and the bot that they talk to."""

    def __init__(self, url: str, messenger: PlaygroundMessenger, stack: AsyncExitStack, chat: Chat) -> None:
        super().__init__(url, messenger, stack)
        self.url, self.chat = url, chat

    @property
    def memory(self) -> World:
        """What the bot remembers."""
        return self.chat.world

    async def asks(self, text: str, person: str = "ana") -> str:
        """Ask and wait; the id of the newest answer."""
        tab = await self.tab(person)
        await tab.does("write", text=text)
        await self.chat.bot.idle()
        return self.answer_id()

    def about(self, question: str) -> Episode:
        """What became of a question."""
        found = self.chat.world.memory.audit.episodes(WORKSPACE, EpisodeFilter(roots_only=True))
        return next(each for each in found if each.goal == question and each.origin is Origin.RUN)

    def answer_id(self, channel: str = "general") -> str:
        """Of the newest answer in a channel."""
        shown = self.messenger.messages.seen(channel, "ana").messages
        return next(each.id for each in reversed(shown) if each.is_answer)


@asynccontextmanager
async def _played(chat: Chat) -> AsyncIterator[Playing]:
    async with AsyncExitStack() as stack:
        messenger = make_messenger(chat.world.clock)
        delivering = asyncio.create_task(messenger.run(chat.bot.sink(messenger)))
        url = await stack.enter_async_context(served(chat.world.memory, messenger))
        yield Playing(url, messenger, stack, chat)
    await delivering
    await chat.bot.idle()
    chat.executor.close()


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    """A bot that has an answer to everything."""
    async with _played(Chat()) as found:
        yield found


@pytest.fixture
async def learning() -> AsyncIterator[Playing]:
    """A bot that knows what it was taught."""
    world = World()
    async with _played(Chat(world, OfflineModel(world.memory.embedder.embed))) as found:
        yield found


@pytest.fixture
def world() -> World:
    return World()
