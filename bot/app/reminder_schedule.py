"""Reminders on APScheduler's clock, over what memory keeps: who holds a platform tells what is due there."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from bot.app.build import Running
from bot.app.periodic import run_periodically
from bot.conversation.reminders import ReminderNotifier
from bot.ports import Messenger
from memory.services import Memory

LOOK_S = 10.0
"""How often it is looked for what is due."""


@asynccontextmanager
async def reminders_running(running: Running, memory: Memory, messengers: Sequence[Messenger]) -> AsyncIterator[None]:
    """Tell what is due on these platforms; the list may grow. What was missed while nothing ran is told late, once."""
    teller = ReminderNotifier(memory, running.executor, running.goodbot, messengers)
    async with run_periodically({"reminders": teller.look}, every_s=LOOK_S, clock=memory.clock):
        yield
