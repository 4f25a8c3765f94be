"""Sharing of messages among processes on one PostgreSQL: this process polls at each notification, and every second."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from bot.app.processes.watchdog import count_inherited_exits
from bot.app.wiring.build import Running
from bot.config import Settings
from bot.conversation.answers.sharing import Sharing
from bot.conversation.executor import Executor
from bot.ports import Messenger
from memory.errors import MemoryFault
from memory.services import Memory

if TYPE_CHECKING:
    from memory.adapters.sql.engines.process_notifications import ProcessNotifications

POLL_S = 1.0
"""How often to poll without a notification."""


def shared_platforms(settings: Settings) -> frozenset[str]:
    """The platforms on which several processes answer.

    Slack sends each event to one of the connected processes; Discord, with several shards, to the one that holds the
    server's shard (`bot.app.processes.shards`). On other platforms a login allows only one connected process
    (`bot.app.processes.logins`).
    """
    if settings.storage.is_file:
        return frozenset()
    slack, discord = settings.slack, settings.discord
    is_shared = {
        "slack": slack.bot_token.get_secret_value() or slack.client_id,
        "discord": discord.token.get_secret_value() and discord.shards > 1,
    }
    return frozenset(platform for platform, shared in is_shared.items() if shared)


def shared_by(settings: Settings, memory: Memory, running: Running, owner: str) -> Sharing | None:
    """The sharing of this process, named `owner`, with others; None where the database is a local file.

    On a database server it is needed even without shared platforms, so that this process's death is noticed soon.
    """
    if settings.storage.is_file:
        return None
    conversations, platforms = running.goodbot.conversations, shared_platforms(settings)
    sharing = Sharing(memory, running.executor, conversations, process=owner, platforms=platforms)
    conversations.turns, running.answering.delivery.post = sharing, sharing.post
    return sharing


@asynccontextmanager
async def sharing_running(
    settings: Settings, memory: Memory, sharing: Sharing | None, messengers: Sequence[Messenger]
) -> AsyncIterator[None]:
    """Take turns on these platforms until the end, then leave unfinished messages to the other processes."""
    if sharing is None:
        yield
        return
    sharing.on_inherited = partial(count_inherited_exits, settings, memory)
    sharing.messengers.update({each.platform: each for each in messengers})
    from memory.adapters.sql.engines.process_notifications import ProcessNotifications

    polling, listening = Executor(threads=1), Executor(threads=1)
    with closing(ProcessNotifications(settings.storage.database_url.get_secret_value())) as news:
        running = asyncio.create_task(_run(sharing, news, polling, listening))
        try:
            yield
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            with suppress(MemoryFault):  # its lease expires
                await polling(memory.conversation_leases.end, sharing.process)
            polling.close()
            listening.close()


async def _run(sharing: Sharing, news: "ProcessNotifications", polling: Executor, listening: Executor) -> None:
    found = frozenset[str]()
    listens: asyncio.Task[frozenset[str]] | None = None
    while True:
        await sharing.poll(polling, found)
        listens = listens or asyncio.create_task(listening(news.wait, POLL_S))
        woken = asyncio.create_task(sharing.awake.wait())
        await asyncio.wait({listens, woken}, return_when=asyncio.FIRST_COMPLETED)
        woken.cancel()
        found = frozenset()
        if listens.done():
            found, listens = listens.result(), None
