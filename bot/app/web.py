"""The web application put together: as a process of its own, and beside the bot."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.config import Settings
from bot.errors import ConfigError
from memory.services import Memory

if TYPE_CHECKING:
    from starlette.applications import Starlette


State = Callable[[], str]
"""What a part is in, in a word or two; raises, with the reason, where it is not ready."""


def is_configured(settings: Settings) -> bool:
    """Whether the web is served beside the bot: there is a key that somebody could use."""
    return bool(settings.web.api_key.get_secret_value())


def make_web(settings: Settings, memory: Memory, states: Mapping[str, State] | None = None) -> "Starlette":
    """The application. Raises `ConfigError` where its libraries are not installed."""
    try:
        from bot.adapters.web.application import WebParts, make_application
        from bot.adapters.web.authentication import Keys, RequestPace, first_key
        from bot.adapters.web.health import Check
    except ImportError as error:
        raise ConfigError(
            f"the web needs a library that is not installed ({error.name}); run pip install 'goodbot[web]'"
        ) from error
    from memory.rules.emoji import EmojiMap

    asked = {"database": _database(memory), "embedder": _embedder(memory), **(states or {})}
    web, secret = settings.web, settings.web.api_key.get_secret_value()
    first = first_key(web.workspace, memory) if secret else None
    parts = WebParts(
        memory=memory,
        emoji=EmojiMap(settings.teaching.emoji_success, settings.teaching.emoji_failure),
        keys=Keys(memory.api_keys, first, secret),
        pace=RequestPace(web.requests_per_minute),
        checks=tuple(Check(*each) for each in asked.items()),
    )
    return make_application(parts)


def _database(memory: Memory) -> State:
    return lambda: f"{len(memory.audit.workspaces())} workspaces"


def _embedder(memory: Memory) -> State:
    def state() -> str:
        memory.embedder.embed(["ready?"])
        return memory.embedder.name

    return state


@asynccontextmanager
async def web_running(
    settings: Settings, memory: Memory, states: Mapping[str, State] | None = None
) -> AsyncIterator[str]:
    """The web, served for as long as the context lasts; its URL. Raises `ConfigError`."""
    application = make_web(settings, memory, states)
    from bot.adapters.web.server import serving

    async with serving(application, host=settings.web.host, port=settings.web.port) as url:
        yield url


async def serve_web(settings: Settings, memory: Memory, show: Callable[[str], object]) -> None:
    """Serve the web until the process is told to end. `show` is given its URL."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with web_running(settings, memory) as url:
        show(url)
        await stop.wait()
