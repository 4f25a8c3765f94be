"""The real discord.py, pointed at the stand-in, writing down what it hears."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import yarl

from tests.doubles.discord.journal import Journal
from tests.doubles.discord.library import DiscordWebSocket, Route, commands, discord
from tests.doubles.discord.server import DiscordServer

USED_INTENTS = discord.Intents(
    guilds=True, guild_messages=True, dm_messages=True, guild_reactions=True, dm_reactions=True
)
WAIT_S = 10.0


@contextmanager
def redirected(api_url: str) -> Iterator[None]:
    """discord.py asks this REST API, until the end of the block. Both values are global to the library."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE = api_url
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


class Client(commands.AutoShardedBot):
    """Listens to raw events, as the bot does."""

    def __init__(self, intents: discord.Intents = USED_INTENTS, **options: Any) -> None:
        # Without it discord.py waits two seconds for more guilds before it is ready, and leaves that wait behind.
        options.setdefault("guild_ready_timeout", 0)
        super().__init__(command_prefix=(), intents=intents, max_messages=None, **options)
        self.heard: list[tuple[str, Any]] = []
        """Name of the event (`message`, `raw_reaction_add`, ...) and what came with it."""
        self._journal = Journal()

    async def setup_hook(self) -> None:
        """After an invalid session discord.py goes to this gateway, not to the one that the API named."""
        _, gateway, _ = await self.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Do not wait the five seconds between identifies that the real Discord wants."""

    def dispatch(self, event_name: str, /, *args: Any, **kwargs: Any) -> None:
        """Write down every event."""
        super().dispatch(event_name, *args, **kwargs)
        self.heard.append((event_name, args[0] if args else None))
        self._journal.changed()

    def all_of(self, name: str) -> list[Any]:
        """What came with each event of a kind so far."""
        return [value for event, value in self.heard if event == name]

    async def hears(self, name: str, times: int = 1) -> list[Any]:
        """The same, once there are so many."""

        def enough() -> list[Any] | None:
            found = self.all_of(name)
            return found if len(found) >= times else None

        found = await self._journal.until(enough, WAIT_S)
        assert found
        return found

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """A handler of a test failed: do not hide it."""
        raise


@asynccontextmanager
async def connected(server: DiscordServer, client: Client) -> AsyncIterator[Client]:
    """A client that runs until the end of the block; whatever happens after the start, it hears."""
    with redirected(server.api_url):
        running = asyncio.create_task(client.start(server.token))
        try:
            await server.until(lambda: server.is_connected(server.shards) or running.done())
            if running.done():
                running.result()
            yield client
        finally:
            await client.close()
            with suppress(discord.ConnectionClosed, discord.PrivilegedIntentsRequired):
                await running
