"""`goodbot run`, `slack`, `discord`: the bot on chat platforms, until it is told to end."""

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from bot.app.build import Running, assemble
from bot.app.lock import only_one
from bot.config import Settings
from bot.conversation.goodbot import Goodbot
from bot.errors import BotError, ConfigError, MessengerError
from bot.ports import Messenger
from memory.adapters.system import utc_now
from memory.service import Memory

log = logging.getLogger(__name__)

DRAIN_S = 25.0
"""How long running answers may take to end after SIGTERM; hosts kill after 30 s."""

REDELIVERY_S = 60.0
"""How often parts that a platform would not take are offered again."""


def configured(settings: Settings) -> list[str]:
    """The platforms that have a token."""
    tokens = {
        "slack": settings.slack.bot_token.get_secret_value(),
        "discord": settings.discord.token.get_secret_value(),
    }
    return [name for name, token in tokens.items() if token]


async def serve(settings: Settings, memory: Memory, platforms: Sequence[str]) -> None:
    """Run the bot on these platforms. One that fails is logged and the others go on.

    Raises `ConfigError` if there is none, and `MessengerError` if every one of them failed.
    """
    if not platforms:
        raise ConfigError(
            "no platform is configured: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or DISCORD_TOKEN; "
            "`goodbot chat` needs neither"
        )
    running = assemble(settings, memory)
    messengers = [make_messenger(settings, name, memory, running.goodbot) for name in platforms]
    stop = asyncio.Event()
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with ExitStack() as stack:
        for messenger in messengers:
            if stack.enter_context(only_one(settings, messenger.platform)):
                await running.goodbot.recover(messenger)
        try:
            await _until_stopped(running, messengers, stop)
        finally:
            await _drain(running)


async def _until_stopped(running: Running, messengers: Sequence[Messenger], stop: asyncio.Event) -> None:
    parts = {asyncio.create_task(_run(running, messenger)): messenger for messenger in messengers}
    redelivery = asyncio.create_task(_redeliver(running, messengers))
    stopped = asyncio.create_task(stop.wait())
    failures: list[BotError] = []
    waiting: set[asyncio.Task[None]] = set(parts)
    while waiting and not stop.is_set():
        done, _ = await asyncio.wait({*waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        for task in done & waiting:
            failures += [error for error in [task.exception()] if isinstance(error, BotError)]
            waiting.discard(task)
    for messenger in messengers:
        await messenger.close()
    redelivery.cancel()
    stopped.cancel()
    await asyncio.gather(*parts, redelivery, stopped, return_exceptions=True)
    if failures and len(failures) == len(messengers) and not stop.is_set():
        raise MessengerError("; ".join(str(failure) for failure in failures))


async def _run(running: Running, messenger: Messenger) -> None:
    try:
        await messenger.run(running.goodbot.sink(messenger))
        log.info("%s has ended", messenger.platform)
    except BotError as error:
        log.error("%s has failed: %s", messenger.platform, error)
        raise


async def _redeliver(running: Running, messengers: Sequence[Messenger]) -> None:
    while True:
        await asyncio.sleep(REDELIVERY_S)
        for messenger in messengers:
            await running.goodbot.redeliver(messenger)


async def _drain(running: Running) -> None:
    """Let running answers end; what is not answered in time is answered after the next start."""
    try:
        await asyncio.wait_for(running.goodbot.idle(), DRAIN_S)
    except TimeoutError:
        log.warning("answers were still running after %g s and are left to the next start", DRAIN_S)
    await running.close()


def make_messenger(settings: Settings, platform: str, memory: Memory, goodbot: Goodbot) -> Messenger:
    """The messenger of one platform. Raises `ConfigError` when its library is not installed."""
    try:
        if platform == "slack":
            from bot.adapters.slack.messenger import SlackMessenger

            return SlackMessenger(settings=settings.slack, clock=utc_now, new_id=memory.new_id, teaches=goodbot.teaches)
        from bot.adapters.discord.messenger import DiscordMessenger

        return DiscordMessenger(settings=settings.discord, clock=utc_now, new_id=memory.new_id, teaches=goodbot.teaches)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{platform} needs a library that is not installed ({error.name}); run pip install 'goodbot[{platform}]'"
        ) from error
