"""`goodbot run`, `slack`, `discord`: the bot on chat platforms, until it is told to end."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial

from bot.app.processes.gc_tuning import keep_pauses_short
from bot.app.processes.lock import only_one
from bot.app.processes.log_file import TOLD_OTHERWISE
from bot.app.processes.logins import Login, SharedLogin
from bot.app.processes.platform_runner import PlatformRunner, TakeOver
from bot.app.processes.scheduler import (
    JOBS_S,
    SHARED_JOBS_S,
    grading_running,
    jobs_running,
    owner_name,
    reminders_running,
)
from bot.app.processes.shards import shard_keeper
from bot.app.processes.sharing import shared_by, shared_platforms, sharing_running
from bot.app.processes.watchdog import count_inherited_exits, reporting, watching
from bot.app.web import has_playground, is_configured, playground_running, web_running
from bot.app.wiring.build import Running, assemble
from bot.app.wiring.extras import needs_extra
from bot.app.wiring.knowledge import reloading
from bot.app.wiring.metering import Metering, make_metering
from bot.app.wiring.slack_installations import installation_database
from bot.app.wiring.startup import stop_event
from bot.config import Settings
from bot.conversation.goodbot import Goodbot
from bot.errors import BotError, ConfigError, MessengerError
from bot.ports import HoldsShards, Messenger
from memory.adapters.system import utc_now
from memory.errors import MemoryFault
from memory.services import Memory

log = logging.getLogger(__name__)

DRAIN_S = 20.0
"""How long running answers may take to finish after SIGTERM. The whole shutdown takes less than the usual 30 s."""

_END_S, _CANCEL_S, _LOG_OUT_S = 2.0, 1.0, 4.0
"""Then: how long they may take when asked to stop, when cancelled, and how long platforms may take to log out."""

_NOTHING_CONFIGURED = (
    "no platform is configured: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN (or SLACK_CLIENT_ID for several "
    "workspaces), or DISCORD_TOKEN; GOODBOT_API_KEY or GOODBOT_WEB_PASSWORD serves the web alone; "
    "`goodbot chat` needs none of them"
)
REDELIVERY_S = 60.0
"""How often parts that a platform refused are posted again."""


def configured_platforms(settings: Settings) -> list[str]:
    """The platforms that have a token."""
    tokens = {
        "slack": settings.slack.bot_token.get_secret_value() or settings.slack.client_id,
        "discord": settings.discord.token.get_secret_value(),
    }
    return [name for name, token in tokens.items() if token]


async def serve(settings: Settings, memory: Memory, platforms: Sequence[str]) -> None:
    """Run the bot on these platforms. If one fails, it is logged and the others go on.

    Without platforms, only the web and the jobs run. Raises `ConfigError` if the web is not configured either, and
    `MessengerError` if every platform ended without being asked to.
    """
    if not platforms and not is_configured(settings):
        raise ConfigError(_NOTHING_CONFIGURED)
    stop = stop_event()
    async with AsyncExitStack() as stack:
        report = stack.enter_context(reporting(settings, memory))
        metering = make_metering(memory) if is_configured(settings) else None
        if metering is not None:
            stack.enter_context(metering.errors())
        running = assemble(settings, memory, report.record_in_progress, metering=metering)
        watch = watching(running, limit_s=settings.limits.frozen_after_s, trace=report.trace)
        await stack.enter_async_context(watch)
        gc_task = asyncio.create_task(keep_pauses_short(running.warm_up))
        owner = owner_name(memory.new_id)
        sharing = shared_by(settings, memory, running, owner)
        messengers = [make_messenger(settings, name, memory, running.goodbot) for name in platforms]
        runners = [await _runner(stack, settings, memory, each, owner) for each in messengers]
        stack.push_async_callback(running.close)
        stack.callback(gc_task.cancel)
        for runner in runners:
            await runner.login.take()
        own_messengers = [
            runner.messenger
            for runner in runners
            if runner.is_sole_holder and _is_only_one(stack, settings, runner.messenger)
        ]
        await _recover_suspects(running.goodbot, own_messengers, stop)
        await _begin_jobs(stack, settings, memory, owner, every_s=JOBS_S if sharing is None else SHARED_JOBS_S)
        await running.goodbot.recovery.resume(*own_messengers)
        shared = [runner.messenger for runner in runners if isinstance(runner.login, SharedLogin)]
        await stack.enter_async_context(sharing_running(settings, memory, sharing, shared))
        own_messengers += shared
        await stack.enter_async_context(reminders_running(running, memory, own_messengers))
        await stack.enter_async_context(reloading(running.agent_tools.knowledge, memory.clock))
        if is_configured(settings):
            await _serve_web(stack, settings, memory, running, runners, metering)
        take_over = partial(_take_over, settings, memory, running.goodbot, stack, own_messengers)
        await _until_stopped(running, runners, own_messengers, take_over, stop)


def _is_only_one(stack: AsyncExitStack, settings: Settings, messenger: Messenger) -> bool:
    """Whether no other process of this machine works on the platform; it is kept so while the stack lasts."""
    return bool(stack.enter_context(only_one(settings, messenger.platform)))


async def _begin_jobs(stack: AsyncExitStack, settings: Settings, memory: Memory, owner: str, *, every_s: float) -> None:
    """Run the store's jobs, and the grading by a model, while the stack lasts."""
    if settings.upkeep.jobs == "on":
        await stack.enter_async_context(jobs_running(memory.upkeep, owner, clock=utc_now, every_s=every_s))
    await stack.enter_async_context(grading_running(settings, memory, owner))


async def _serve_web(
    stack: AsyncExitStack,
    settings: Settings,
    memory: Memory,
    running: Running,
    runners: Sequence[PlatformRunner],
    metering: Metering | None,
) -> None:
    """Serve the web while the stack lasts. If that is impossible, chat goes on without it.

    Raises `ConfigError` if there is no chat platform.
    """
    try:
        playground = None
        if has_playground(settings):
            playground = await stack.enter_async_context(playground_running(settings, memory, running))
        await stack.enter_async_context(web_running(settings, memory, runners, playground, metering))
    except ConfigError as error:
        if not runners:
            raise
        log.error("the web is not served by this process: %s", error)


async def _runner(
    stack: AsyncExitStack, settings: Settings, memory: Memory, messenger: Messenger, owner: str
) -> PlatformRunner:
    if messenger.platform in shared_platforms(settings):
        shards = shard_keeper(settings, memory, messenger, owner) if isinstance(messenger, HoldsShards) else None
        return PlatformRunner(messenger=messenger, login=SharedLogin(), shards=shards)
    login = Login(settings, messenger.platform, memory.leases, owner)
    return PlatformRunner(messenger=messenger, login=await stack.enter_async_context(login))


async def _take_over(
    settings: Settings,
    memory: Memory,
    goodbot: Goodbot,
    stack: AsyncExitStack,
    own_messengers: list[Messenger],
    messenger: Messenger,
) -> None:
    """Finish what the former process on this platform left."""
    if not _is_only_one(stack, settings, messenger):
        return
    count_inherited_exits(settings, memory)
    await goodbot.recovery.resume(messenger)
    own_messengers.append(messenger)


async def _recover_suspects(goodbot: Goodbot, own_messengers: Sequence[Messenger], stop: asyncio.Event) -> None:
    """First answer, one by one, the messages that may have crashed an earlier process, unless told to stop."""
    recovering = asyncio.create_task(goodbot.recovery.answer_suspects(*own_messengers))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({recovering, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if stop.is_set():
        goodbot.shut_down()
    await recovering


async def _until_stopped(
    running: Running,
    runners: Sequence[PlatformRunner],
    own_messengers: Sequence[Messenger],
    take_over: TakeOver,
    stop: asyncio.Event,
) -> None:
    """Run the platforms until all have ended or the process is told to stop.

    Refused parts are posted again on `own_messengers`. Without platforms the web is served until the process is told to
    stop.
    """
    sink = running.sink
    live = {
        runner.messenger.platform: asyncio.create_task(runner.run(sink(runner.messenger), take_over))
        for runner in runners
    }
    stopped = asyncio.create_task(stop.wait())
    redelivery = asyncio.create_task(_redeliver(running.goodbot, own_messengers, live))
    ends: list[str] = []
    while (live or not runners) and not stop.is_set():
        await asyncio.wait({*live.values(), stopped}, return_when=asyncio.FIRST_COMPLETED)
        over = [name for name, task in live.items() if task.done()]
        is_last = len(over) == len(live) and not stop.is_set()
        ends = [_how_it_ended(platform, live.pop(platform), is_told=is_last) for platform in over]
    redelivery.cancel()
    stopped.cancel()
    await _drain(running.goodbot)
    for runner in runners:
        if not runner.login.is_held and (standing_by := live.pop(runner.messenger.platform, None)):
            standing_by.cancel()
    if runners:
        await _log_out([runner.messenger for runner in runners], live)
    await asyncio.gather(redelivery, stopped, return_exceptions=True)
    if not stop.is_set():
        raise MessengerError("; ".join(ends))


def _how_it_ended(platform: str, task: "asyncio.Task[None]", *, is_told: bool) -> str:
    """Log how a platform's run ended, and return a short text about it, which `is_told` as the end of the process."""
    error = task.exception()
    if error is None:
        log.info("%s has ended", platform)
        return f"{platform} has ended; the log says why"
    if not isinstance(error, BotError):
        log.error("%s has failed: %s", platform, error, exc_info=error)
        return f"{platform}: {error!r}"
    log.error("%s has failed: %s", platform, error, extra=TOLD_OTHERWISE if is_told else None)
    return str(error)


async def _redeliver(
    goodbot: Goodbot, messengers: Sequence[Messenger], live: Mapping[str, "asyncio.Task[None]"]
) -> None:
    """Post refused parts again, and send due digests, on each platform that is still running."""
    while True:
        await asyncio.sleep(REDELIVERY_S)
        for messenger in messengers:
            if messenger.platform not in live:
                continue
            try:
                await goodbot.recovery.redeliver(messenger)
                await goodbot.digest.send(messenger)
            except MemoryFault as error:
                log.error("could not offer messages to %s again: %s", messenger.platform, error)


async def _drain(goodbot: Goodbot) -> None:
    """Let running answers finish; what is not answered in time, or not begun, is answered after the next start."""
    goodbot.conversations.start_draining()
    if await _idle_within(goodbot, DRAIN_S):
        return
    log.warning("answers were still running after %g s and are left to the next start", DRAIN_S)
    goodbot.shut_down()
    if not await _idle_within(goodbot, _END_S):
        await goodbot.conversations.cancel_all(_CANCEL_S)


async def _idle_within(goodbot: Goodbot, seconds: float) -> bool:
    try:
        await asyncio.wait_for(goodbot.idle(), seconds)
    except TimeoutError:
        return False
    return True


async def _log_out(messengers: Sequence[Messenger], live: Mapping[str, "asyncio.Task[None]"]) -> None:
    """Close all platforms at the same time. One that does not end in time is cancelled."""
    closing = [asyncio.create_task(messenger.close()) for messenger in messengers]
    tasks = [*closing, *live.values()]
    _, late = await asyncio.wait(tasks, timeout=_LOG_OUT_S)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late, timeout=_CANCEL_S)
    for task in tasks:
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            log.warning("while logging out: %s", error)


def make_messenger(settings: Settings, platform: str, memory: Memory, goodbot: Goodbot) -> Messenger:
    """The messenger of one platform. Raises `ConfigError` when its library is not installed."""
    with needs_extra(platform, platform):
        if platform == "slack":
            return _make_slack(settings, memory, goodbot)
        from bot.adapters.discord.messenger import DiscordMessenger

        return DiscordMessenger(
            settings=settings.discord,
            clock=utc_now,
            new_id=memory.new_id,
            queries=goodbot.queries(),
            shares_shards=platform in shared_platforms(settings),
        )


def _make_slack(settings: Settings, memory: Memory, goodbot: Goodbot) -> Messenger:
    """The messenger of one workspace by its token, the default, or of every workspace that installs the app."""
    if settings.slack.bot_token.get_secret_value() or not settings.slack.client_id:
        from bot.adapters.slack.messenger import SlackMessenger

        return SlackMessenger(
            settings=settings.slack,
            clock=utc_now,
            queries=goodbot.queries(),
        )
    from bot.adapters.slack.installations.workspaces import SlackWorkspaces

    return SlackWorkspaces(
        settings.slack,
        database=installation_database(settings.storage),
        clock=utc_now,
        queries=goodbot.queries(),
    )
