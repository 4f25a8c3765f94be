"""Builds and runs the web application and its playground, in a process of its own or beside the bot."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from bot.app.processes.lock import only_one
from bot.app.processes.platform_runner import PlatformRunner
from bot.app.wiring.build import Running, assemble
from bot.app.wiring.extras import needs_extra
from bot.app.wiring.policies import emoji_map
from bot.app.wiring.startup import stop_event
from bot.config import Settings
from memory.adapters.system import utc_now
from memory.services import Memory

if TYPE_CHECKING:
    from bot.adapters.web.playground.messenger import PlaygroundMessenger
    from bot.app.wiring.metering import Metering


def is_configured(settings: Settings) -> bool:
    """Whether the web is served beside the bot: there is a key or an account with which it can be used."""
    web = settings.web
    return bool(web.api_key.get_secret_value() or web.password.get_secret_value() or web.accounts)


@asynccontextmanager
async def web_running(
    settings: Settings,
    memory: Memory,
    runners: Sequence[PlatformRunner] = (),
    playground: "PlaygroundMessenger | None" = None,
    metering: "Metering | None" = None,
) -> AsyncIterator[str]:
    """Serve the web while the context lasts. Returns its URL.

    Raises `ConfigError` if its libraries are not installed, or if it were open to anybody.
    """
    with needs_extra("web", "the web"):
        from bot.adapters.web.application import WebParts, make_application
        from bot.adapters.web.authentication import Keys
        from bot.adapters.web.server import serving
        from bot.adapters.web.token_buckets import TokenBuckets
        from bot.app.pages import make_site
        from bot.app.processes.readiness import checks_of
        from bot.app.wiring.metering import make_metering

    web, emoji = settings.web, emoji_map(settings)
    checks = checks_of(settings, memory, runners)
    metering = metering or make_metering(memory)
    parts = WebParts(
        memory=memory,
        emoji=emoji,
        keys=Keys(memory, web.workspace, web.api_key.get_secret_value()),
        pace=TokenBuckets(web.requests_per_minute),
        checks=checks,
        site=make_site(settings, memory, emoji, checks, playground) if web.pages == "on" else None,
        metrics=metering.metrics if metering is not None else None,
    )
    async with serving(make_application(parts), host=web.host, port=web.port) as url:
        try:
            yield url
        finally:
            if playground is not None:
                playground.end()  # pages that follow it would keep the server waiting


def has_playground(settings: Settings) -> bool:
    """Whether the playground is configured."""
    return settings.web.pages == "on" and settings.web.playground == "on"


@asynccontextmanager
async def playground_running(
    settings: Settings, memory: Memory, running: Running
) -> AsyncIterator["PlaygroundMessenger"]:
    """Run the playground's messenger with this bot. Raises `ConfigError` if a library is not installed."""
    with needs_extra("web", "the web"):
        from bot.adapters.web.playground.messenger import PlaygroundMessenger

    goodbot = running.goodbot
    messenger = PlaygroundMessenger(clock=utc_now, new_id=memory.new_id)
    with only_one(settings, messenger.platform) as is_only:
        if is_only:
            await goodbot.recovery.answer_suspects(messenger)
            await goodbot.recovery.resume(messenger)
        delivering = asyncio.create_task(messenger.run(running.sink(messenger)))
        try:
            yield messenger
        finally:
            await messenger.close()
            await delivering


async def serve_web(settings: Settings, memory: Memory, show: Callable[[str], object]) -> None:
    """Serve the web until the process is told to end. `show` is given its URL."""
    stop = stop_event()
    from bot.app.wiring.metering import make_metering

    async with AsyncExitStack() as stack:
        playground, metering = None, make_metering(memory)
        if metering is not None:
            stack.enter_context(metering.errors())
        if has_playground(settings):
            running = assemble(settings, memory, metering=metering)
            stack.push_async_callback(running.close)
            playground = await stack.enter_async_context(playground_running(settings, memory, running))
        show(await stack.enter_async_context(web_running(settings, memory, playground=playground, metering=metering)))
        await stop.wait()


def password_digest(password: str) -> str:
    """The digest of a password for `[web] accounts`. Raises `ConfigError` as `web_running` does."""
    with needs_extra("web", "the web"):
        from bot.adapters.web.pages import access
    return access.password_digest(password)
