"""The playground: a messenger on the web, beside the bot's platforms."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.app.processes.lock import only_one
from bot.app.wiring.build import Running
from bot.app.wiring.extras import needs_extra
from bot.config import Settings
from memory.adapters.system import utc_now
from memory.services import Memory

if TYPE_CHECKING:
    from bot.adapters.web.playground.messenger import PlaygroundMessenger


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
            await goodbot.recover_alone(messenger)
            await goodbot.recover(messenger)
        delivering = asyncio.create_task(messenger.run(running.sink(messenger)))
        try:
            yield messenger
        finally:
            await messenger.close()
            await delivering
