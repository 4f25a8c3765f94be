"""An answer while it is written, on each platform: the model's stream is held in the middle, and looked at."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from threading import Event

import pytest

from bot.adapters.commonmark import INVISIBLE
from tests.doubles.discord import DiscordServer, Message as DiscordMessage
from tests.doubles.openai_server import OpenAIServer, Scripted, tool_call
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import Message as SlackMessage
from tests.doubles.whole_bot import discord_bot, slack_bot

BEGINNING = "The spare key hangs behind the front desk,"
LONG = f"{BEGINNING} on the left, <!channel> below the clock that is always late, and nobody else knows."
QUIET = LONG.replace("<!channel>", f"@{INVISIBLE}channel")
LINKED = f"{BEGINNING} and there is a picture at https://wiki.example/key of it, which everybody should know."


def final(said: str) -> Scripted:
    return tool_call("final_answer", json.dumps({"text": said}))


class LeasedMessage:
    """A model whose stream stops in the middle until it is let go."""

    def __init__(self, server: OpenAIServer, at: int) -> None:
        self.server, self._left = server, at
        self.go_on = Event()
        server.between = self._between

    def _between(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.go_on.wait(15)


@pytest.fixture
def model() -> Iterator[LeasedMessage]:
    with OpenAIServer() as server:
        held = LeasedMessage(server, 16)
        yield held
        held.go_on.set()


def environment(model: LeasedMessage) -> Mapping[str, str]:
    return {
        "GOODBOT_MODEL": "openai:test-model",
        "OPENAI_BASE_URL": model.server.base_url,
        "OPENAI_API_KEY": "sk-test",
    }


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not condition():  # noqa: ASYNC110 - the platform calls nobody
            await asyncio.sleep(0.01)


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as running:
        yield running


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as running:
        yield running


async def test_on_slack_as_a_native_stream(slack: SlackServer, model: LeasedMessage, tmp_path: Path) -> None:
    general = slack.channel("general")
    model.server.script(final(LONG))

    def streamed() -> list[SlackMessage]:
        return [each for each in slack.said_by_bot(general) if each.stream is not None]

    async with slack_bot(slack, tmp_path, environment(model), answers="stream") as bot:
        slack.person("ana").says(general, "where is the spare key of the van?", mention=True)
        await until(lambda: any(BEGINNING in each.text for each in streamed()))
        (partial,) = streamed()
        assert partial.stream is not None
        assert (partial.stream.state, partial.blocks) == ("open", [])
        assert QUIET.startswith(partial.text)
        model.go_on.set()
        await bot.session.settled()
        await bot.idle()
        (message,) = slack.said_by_bot(general)
        assert (message.ts, message.text) == (partial.ts, QUIET)
        assert message.stream is not None
        assert message.stream.state == "stopped"
        assert message.blocks  # the buttons
        assert slack.calls("chat.update") == []
        slack.person("ana").reacts(message, "+1")
        await bot.session.settled()
        assert [value for _, value in bot.votes(bot.session.workspace)] == [1]


async def test_on_slack_a_link_makes_it_an_ordinary_message(
    slack: SlackServer, model: LeasedMessage, tmp_path: Path
) -> None:
    general = slack.channel("general")
    model.server.script(final(LINKED))
    async with slack_bot(slack, tmp_path, environment(model), answers="stream") as bot:
        slack.person("ana").says(general, "where is the spare key of the van?", mention=True)
        await until(lambda: any(BEGINNING in each.text for each in slack.said_by_bot(general)))
        model.go_on.set()
        await bot.session.settled()
        await bot.idle()
        (message,) = slack.said_by_bot(general)
    assert message.stream is None
    assert "https://wiki.example/key" in message.text
    assert message.sent["unfurl_links"] in (False, "false", 0, "0")


async def test_on_discord_as_edits(discord: DiscordServer, model: LeasedMessage, tmp_path: Path) -> None:
    model.server.script(final(LONG))
    async with discord_bot(discord, tmp_path, environment(model)) as bot:
        asked = bot.session.asks("where is the spare key of the van?")

        def said() -> list[DiscordMessage]:
            return discord.said(asked.channel_id)

        await discord.until(lambda: any(BEGINNING in each.content for each in said()))
        (partial,) = said()
        shown = partial.content.removesuffix(" …")
        assert partial.content != shown
        assert LONG.startswith(shown)
        assert not partial.components
        assert partial.reply_to == asked.id
        model.go_on.set()
        await discord.until(lambda: any(each.components for each in said()))
        await bot.idle()
        (message,) = said()
        assert message.id == partial.id
        assert message.content.startswith(BEGINNING)
        assert message.content.endswith("and nobody else knows.")


async def test_an_edited_question_leaves_no_beginning_behind(
    slack: SlackServer, model: LeasedMessage, tmp_path: Path
) -> None:
    general = slack.channel("general")
    model.server.script(final(LONG), final("It hangs somewhere else by now, they say."))
    async with slack_bot(slack, tmp_path, environment(model), answers="stream") as bot:
        question = slack.person("ana").says(general, "where is the spare key of the van?", mention=True)
        await until(lambda: any(BEGINNING in each.text for each in slack.said_by_bot(general)))
        slack.person("ana").edits(question, "where is the spare key of the bus?")
        await until(lambda: bool(slack.calls("chat.delete")))
        model.go_on.set()
        await bot.session.settled()
        await bot.idle()
        assert [each.text for each in slack.said_by_bot(general)] == ["It hangs somewhere else by now, they say."]
