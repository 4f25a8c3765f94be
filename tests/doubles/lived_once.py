"""A short life of a bot before processes are forked: none of them compiles its statements and patterns anew.

That was a third of the time of a command.
"""

import asyncio
import tempfile
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path

from bot.adapters.llm.offline.model import OfflineModel
from bot.app.bench.fresh_bot import FreshBot, SimulatedClock, fresh_bot
from bot.app.bench.people import CHANNEL as SCOPE
from bot.config import load_settings
from bot.model import PersonCommand, PersonCorrection, PersonEvent, PersonMessage, PersonReaction
from memory.adapters.embedding import HashingEmbedder
from memory.model import Role
from memory.ports import EpisodeFilter
from memory.services import Memory
from tests.doubles.compiled_once import compile_once
from tests.doubles.packages_once import search_packages_once

_ASKED = ("what time is it in Tokyo and what is 15% of 80?", "who waters the plants?", "where is the van key?")
_COMMANDS = ("why", "memory", "ratings", "undo")


def live_once() -> None:
    """Returns when nothing is left of that bot but what is compiled."""
    compile_once()
    search_packages_once()
    with tempfile.TemporaryDirectory(prefix="goodbot-lived-") as folder:
        asyncio.run(_live(Path(folder)))


async def _live(folder: Path) -> None:
    settings = load_settings({"GOODBOT_EMBEDDER_NAME": "hashing"}, config_path=None, cwd=folder, data_dir=folder)
    embedder, clock = HashingEmbedder(), SimulatedClock()
    async with fresh_bot(settings, embedder, clock, OfflineModel(embedder.embed)) as bot:
        await _use(bot, clock)
        _look(bot.memory)


async def _use(bot: FreshBot, clock: SimulatedClock) -> None:
    events = (f"event-{number}" for number in count())

    async def sends(kind: Callable[..., PersonEvent], **what: object) -> None:
        clock.advance(timedelta(seconds=30))
        await bot.send(kind(event_id=next(events), scope=SCOPE, at=clock(), role=Role.ADMIN, **what))

    for text in _ASKED * 2:
        await sends(PersonMessage, message_id=f"asks-{next(events)}", text=text)
        assert bot.messenger.answer
        answer = bot.messenger.answer.message_id
        await sends(PersonReaction, message_id=answer, emoji="👎", added=True)
        await sends(PersonCorrection, message_id=answer, text="In the drawer.")
        await sends(PersonMessage, message_id=f"says-{next(events)}", text="thanks, that worked")
    for name in _COMMANDS:
        await sends(PersonCommand, name=name, argument="")


def _look(memory: Memory) -> None:
    assert memory.audit.check() == []
    for root in memory.audit.episodes(SCOPE.workspace, EpisodeFilter(roots_only=True)):
        memory.audit.run(SCOPE.workspace, root.run_id)
