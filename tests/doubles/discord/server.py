"""A local Discord that the real discord.py connects to: REST, gateway, CDN, and the people behind it.

In the test's own loop, or in a thread of its own for a test without a loop or a bot in another process:

    async with DiscordServer() as discord: ...
    with DiscordServer() as discord: ...

Every method works the same in both, from any thread, before and after the start. A bot needs `discord.api_url` and
`discord.token`; `echo_bot` shows how discord.py is redirected.

    guild = discord.guild("Home")
    general, ana = discord.channel(guild, "general"), discord.person("ana", guild)
    discord.says(ana, general, f"{discord.bot.mention} capital of France?")
    [answer] = await discord.until(lambda: discord.said(general))
    discord.reacts(ana, answer, "👍🏽")
    click = discord.clicks(ana, answer, "👎")
    await discord.until(lambda: click.modal)
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from threading import Thread
from types import TracebackType
from typing import Self

from aiohttp import web

from memory.adapters.system import utc_now
from tests.doubles.discord import http, payloads
from tests.doubles.discord.breaking import Breaking
from tests.doubles.discord.forms import Forms
from tests.doubles.discord.handshake import Handshake
from tests.doubles.discord.http import Http
from tests.doubles.discord.interaction_routes import InteractionRoutes
from tests.doubles.discord.message_routes import MessageRoutes
from tests.doubles.discord.model import Intent
from tests.doubles.discord.people import People
from tests.doubles.discord.place_routes import PlaceRoutes
from tests.doubles.discord.routing import Router
from tests.doubles.discord.setup import Setup
from tests.doubles.discord.using import Using
from tests.doubles.discord.watching import Watching

HOST = "127.0.0.1"
TOKEN = "discord-token-for-tests"
HEARTBEAT_INTERVAL_MS = 41_250
_SHUTDOWN_TIMEOUT_S = 0.1


class DiscordServer(Setup, People, Using, Watching, Breaking):
    """See the module. `granted` are the privileged intents switched on in the portal."""

    def __init__(
        self,
        *,
        token: str = TOKEN,
        granted: Intent = Intent.NONE,
        shards: int = 1,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(token=token, clock=clock, granted=granted)
        self.token = token
        self.shards = shards
        self._handshake = Handshake(self.state, self.gateway)
        forms = Forms(self.happenings)
        router = Router(
            {
                "GET /gateway": lambda _: {"url": self.gateway_url},
                "GET /gateway/bot": lambda _: payloads.gateway_info(self.gateway_url, self.shards),
            },
            MessageRoutes(self.happenings, forms).table(),
            PlaceRoutes(self.happenings).table(),
            InteractionRoutes(self.happenings, forms).table(),
        )
        self._http = Http(self.state, self.journal, self.faults, router, self._open_socket)
        self._runner: web.AppRunner | None = None
        self._thread: Thread | None = None
        self._port = 0
        self._ending = asyncio.Event()

    @property
    def api_url(self) -> str:
        """What `DISCORD_API_URL` must be."""
        return f"http://{HOST}:{self._port}{http.API}"

    @property
    def gateway_url(self) -> str:
        """Where sessions begin."""
        return f"ws://{HOST}:{self._port}{http.SOCKET}"

    async def _open_socket(self, request: web.Request) -> web.StreamResponse:
        hello = {"heartbeat_interval": HEARTBEAT_INTERVAL_MS}
        return await self.gateway.serve(request, self._handshake.handle, hello)

    # in the test's loop

    async def __aenter__(self) -> Self:
        self.stage.enter()
        self._runner = web.AppRunner(self._http.app(), access_log=None, shutdown_timeout=_SHUTDOWN_TIMEOUT_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        self._port = self._runner.addresses[0][1]
        self.state.base_url = f"http://{HOST}:{self._port}"
        self._handshake.resume_url = f"{self.gateway_url}/resume"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._http.is_closing = True
        self.faults.clear()
        self.cuts_gateway()
        if self._runner:
            await self._runner.cleanup()
        self.stage.leave()

    # in a thread of its own

    def __enter__(self) -> Self:
        started: Future[None] = Future()
        self._thread = Thread(target=self._run, args=(started,), name="discord-double")
        self._thread.start()
        started.result()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self.stage.loop.call_soon_threadsafe(self._ending.set)
        if self._thread:
            self._thread.join()

    def _run(self, started: Future[None]) -> None:
        try:
            asyncio.run(self._live(started))
        finally:
            started.cancel()  # Without effect unless the start failed: then nobody waits in vain.

    async def _live(self, started: Future[None]) -> None:
        async with self:
            started.set_result(None)
            await self._ending.wait()
