"""A tool with effects behind the real client libraries: shown in full, pressed by a bystander, by its asker, twice."""

from collections.abc import AsyncIterator, Mapping

import pytest

from bot.agent.tools.registry import Tool, ToolContext
from bot.model import PersonEvent
from tests.doubles.conversation import Chat
from tests.doubles.discord import DiscordServer, Message as DiscordMessage
from tests.doubles.discord_driver import connected as on_discord
from tests.doubles.model import call
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import Message
from tests.doubles.slack_driver import connected as on_slack

GOAL, HOSTILE = "tell everybody", "<!channel> @everyone <@U123> ```**bold** [click](https://evil.example)\u202e"
LABELS = ["Do it", "Allow for 10 minutes", "Always allow here", "Don't"]


@pytest.fixture
def sent() -> list[Mapping[str, object]]:
    return []


@pytest.fixture
async def chat(sent: list[Mapping[str, object]]) -> AsyncIterator[Chat]:
    async def send(arguments: Mapping[str, object], _: ToolContext) -> str:
        sent.append(arguments)
        made.oracle.answers[GOAL] = "It is sent."
        return "It is sent."

    takes = {"type": "object", "properties": {"text": {"type": "string"}}}
    tool = Tool(name="send", description="Sends it.", parameters=takes, run=send, has_side_effects=True)
    made = Chat(tools=[tool])
    made.oracle.answers[GOAL] = call("send", text=HOSTILE)
    yield made
    await made.bot.idle()
    made.executor.close()
    assert made.world.memory.audit.check() == []


def buttons(message: Message) -> dict[str, str]:
    """Action ids of the buttons under a question, by label."""
    found = [each for block in message.blocks for each in block.get("elements", ()) if "text" in each]
    return {str(each["text"]["text"]): str(each["action_id"]) for each in found if "action_id" in each}


async def test_slack(chat: Chat, sent: list[Mapping[str, object]]) -> None:
    async with SlackServer() as server:
        ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_slack(server, sink=sink) as session:
            question = ana.says(channel, GOAL)
            await server.wait_for(lambda: server.said_by_bot(channel, question.ts))
            [message] = server.said_by_bot(channel, question.ts)
            assert list(buttons(message))[:4] == LABELS
            assert "<!channel>" not in str(message.blocks)
            assert "\u202e" not in str(message.blocks)
            assert "everyone" in str(message.blocks)
            await chat.bot.idle()
        async with on_slack(server, sink=sink) as session:
            await ben.clicks(message, buttons(message)["Do it"]).answered()
            assert "for whoever asked" in server.ephemerals(ben)[-1].text
            await ana.clicks(message, buttons(message)["Always allow here"]).answered()
            assert "Only a teacher" in server.ephemerals(ana)[-1].text
            assert sent == []
            await ana.clicks(message, buttons(message)["Do it"]).answered()
            thread = message.thread_ts or message.ts
            await server.wait_for(
                lambda: any("It is sent." in each.text for each in server.said_by_bot(channel, thread))
            )
            await ana.clicks(message, buttons(message)["Do it"]).answered()
            await chat.bot.idle()
            assert "decided already" in server.ephemerals(ana)[-1].text
            assert sent == [{"text": HOSTILE}]
        assert server.slack.complaints == []


def labels(message: DiscordMessage) -> list[str]:
    return [str(button["label"]) for row in message.components for button in row["components"]]


async def test_discord(chat: Chat, sent: list[Mapping[str, object]]) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_discord(server, sink=sink) as session:
            session.asks(GOAL)
            await server.until(lambda: server.said(session.general))
            [message] = server.said(session.general)
            assert labels(message)[:4] == LABELS
            assert "\u202e" not in message.content
            await chat.bot.idle()
        async with on_discord(server, sink=sink) as session:
            ben = server.person("ben", session.guild)
            stranger = server.clicks(ben, message, "Do it")
            await server.until(lambda: "for whoever asked" in stranger.text)
            assert [each.ephemeral_to for each in stranger.replies] == [ben.id]
            assert sent == []
            server.clicks(session.ana, message, "Do it")
            await server.until(lambda: len(server.said(session.general)) == 2)
            again = server.clicks(session.ana, message, "Do it")
            await server.until(lambda: "decided already" in again.text)
            await chat.bot.idle()
            assert sent == [{"text": HOSTILE}]
