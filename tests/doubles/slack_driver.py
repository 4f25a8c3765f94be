"""The Slack messenger connected to the local stand-in, for tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from bot.adapters.slack.messenger import SlackMessenger
from bot.config import SlackSettings
from bot.model import BotMessage, MessageRef
from bot.ports import ConversationQueries, EventSink
from memory.adapters.system import utc_now
from tests.bot.adapters.messenger_contract import Heard, taking_in
from tests.doubles.queries import QUERIES
from tests.doubles.slack import Person, SlackServer
from tests.doubles.slack.core import APP_TOKEN, SIGNING_SECRET
from tests.doubles.slack.state import Message
from tests.doubles.sleep import Naps


def slack_settings(server: SlackServer, **more: Any) -> SlackSettings:
    """Settings that point at the stand-in.

    On a busy machine a ping may wait longer than a second. A connection that is replaced then loses what was not
    acknowledged on it, as the stand-in sends nothing again by itself.
    """
    return SlackSettings(
        **{
            "bot_token": SecretStr(server.workspace.bot_token),
            "app_token": SecretStr(APP_TOKEN),
            "signing_secret": SecretStr(SIGNING_SECRET),
            "api_url": server.api_url,
            "ping_interval_s": 5,
            "answers": "post",
            **more,
        }
    )


def make_messenger(
    server: SlackServer,
    *,
    naps: Naps | None = None,
    queries: ConversationQueries = QUERIES,
    **settings: Any,
) -> SlackMessenger:
    """A messenger that is not connected yet."""
    return SlackMessenger(
        slack_settings(server, **settings),
        clock=utc_now,
        queries=queries,
        sleep=naps or Naps(),
    )


@dataclass
class Session:
    """A connected messenger, what it heard, and the workspace it is in."""

    server: SlackServer
    messenger: SlackMessenger
    heard: Heard
    task: "asyncio.Task[None]"

    @property
    def workspace(self) -> str:
        return f"slack:{self.server.workspace.id}"

    def answer(self, channel: str, text: str = "Paris.", *, thread: str = "", **more: Any) -> BotMessage:
        """An answer of the bot."""
        return BotMessage(
            **{
                "workspace": self.workspace,
                "channel": channel,
                "text": text,
                "thread": thread,
                "is_answer": True,
                **more,
            }
        )

    def notice(self, channel: str, person: Person, text: str = "Noted.", **more: Any) -> BotMessage:
        """Something said to one person."""
        return BotMessage(workspace=self.workspace, channel=channel, text=text, private_to=person.id, **more)

    def message(self, ref: MessageRef) -> Message:
        """The message behind a ref."""
        return self.server.workspace.message(ref.channel, ref.message_id)

    async def settled(self) -> None:
        """Until everything that was sent to the bot is acknowledged."""
        await self.server.settled()


@asynccontextmanager
async def connected(
    server: SlackServer, *, sink: EventSink | None = None, heard: Heard | None = None, **more: Any
) -> AsyncIterator[Session]:
    """A connected messenger, closed at the end. `more` are settings, `naps` and `queries`."""
    heard = heard or Heard()
    messenger = make_messenger(server, **more)
    async with taking_in(messenger, sink or heard) as task:
        if more.get("mode") != "http":
            await server.connected()
        yield Session(server, messenger, heard, task)
