"""How many files a reader follows: from a question in Slack to its answer, from a reaction on Discord to its verdict.

A file counts when one of its functions runs, at import excepted; generated methods of value classes have no file. The
offline model does not count: it stands in for a language model, which is no code of ours.
"""

import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests import CHECKOUT
from tests.doubles.discord import DiscordServer
from tests.doubles.slack import SlackServer
from tests.doubles.whole_bot import discord_bot, slack_bot

_PRODUCT = tuple(f"{CHECKOUT / package}/" for package in ("bot", "memory"))
_STAND_IN = f"{CHECKOUT / 'bot' / 'adapters' / 'llm' / 'offline'}/"

SLACK_MESSAGE, DISCORD_REACTION = 77, 30
"""At most so many files. They may become fewer."""


class FilesFollowed:
    """The product's files of which a function ran, in the order they were entered."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._until = ""
        self._is_watching = False

    @contextmanager
    def ready(self) -> Iterator["FilesFollowed"]:
        """Whatever threads begin inside can be watched too."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield self
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def watching(self, until: str = "") -> Iterator[None]:
        """What runs inside counts, `until` a function of this name returns."""
        self._is_watching, self._until = True, until
        try:
            yield
        finally:
            self._is_watching = False

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        name, code = frame.f_code.co_filename, frame.f_code
        if not self._is_watching or not name.startswith(_PRODUCT) or name.startswith(_STAND_IN):
            return
        if event == "return" and code.co_qualname == self._until:
            self._is_watching = False
        elif event == "call" and code.co_flags & inspect.CO_OPTIMIZED and not _is_importing(frame):
            shown = str(Path(name).relative_to(CHECKOUT))
            self.names += [] if shown in self.names else [shown]


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


async def test_from_a_question_in_slack_to_its_answer(tmp_path: Path) -> None:
    async with SlackServer() as server:
        with FilesFollowed().ready() as followed:
            async with slack_bot(server, tmp_path) as bot:
                ana, channel = server.person("ana"), server.channel("general")
                with followed.watching():
                    question = ana.says(channel, "what is 6*7?")
                    await bot.session.settled()
                    await bot.idle()
                [answer] = server.said_by_bot(channel, question.ts)
    assert "42" in answer.text
    assert len(followed.names) <= SLACK_MESSAGE, "\n".join(followed.names)


async def test_from_a_reaction_on_discord_to_its_verdict(tmp_path: Path) -> None:
    async with DiscordServer() as server:
        with FilesFollowed().ready() as followed:
            async with discord_bot(server, tmp_path) as bot:
                bot.session.asks("what is 6*7?")
                await server.until(lambda: server.said(bot.session.general))
                await bot.idle()
                [answer] = server.said(bot.session.general)
                with followed.watching(until="Teaching.react"):
                    server.reacts(bot.session.ana, answer, "👍")
                    await server.until(lambda: server.marks(answer) == ["🧠"])
    assert len(followed.names) <= DISCORD_REACTION, "\n".join(followed.names)
