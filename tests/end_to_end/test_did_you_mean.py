"""A question with options behind the real client libraries: it is posted, pressed after a restart, by others, twice."""

from collections.abc import AsyncIterator

import pytest

from bot.model import PersonEvent
from memory.model import ASK, Verdict
from memory.ports import EpisodeFilter
from tests.doubles.conversation import Chat
from tests.doubles.discord import Callback, DiscordServer, Message as DiscordMessage
from tests.doubles.discord_driver import connected as on_discord
from tests.doubles.model import call
from tests.doubles.slack import Person, SlackServer
from tests.doubles.slack.state import Message
from tests.doubles.slack_driver import connected as on_slack

GOAL, YARD = "where do I leave it?", "In the yard."
HOSTILE = "<!channel> @everyone <@U123> ```**bold** [click](https://evil.example) " + "very " * 60 + "long"


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    options = [{"answer": YARD}, {"answer": HOSTILE, "label": HOSTILE}, {"answer": "In the cellar."}]
    chat.oracle.answers[GOAL] = call("ask_person", question="Which one?", options=options)
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def votes(chat: Chat) -> list[tuple[str, str, Verdict]]:
    """Who has what verdict on which action, oldest first."""
    (workspace,) = chat.world.memory.audit.workspaces()
    found = chat.world.memory.audit.episodes(workspace, EpisodeFilter(roots_only=True))
    return [(each.action, each.output[:12], each.verdict) for each in sorted(found, key=lambda each: each.id)]


def slack_button(message: Message, number: int) -> str:
    """The action id of a button under a question, from 1."""
    buttons = [element for block in message.blocks for element in block.get("elements", ()) if "text" in element]
    return str(buttons[number - 1]["action_id"])


async def slack_question(server: SlackServer, asker: Person, channel: str) -> Message:
    question = asker.says(channel, GOAL)
    await server.wait_for(lambda: server.said_by_bot(channel, question.ts))
    [message] = server.said_by_bot(channel, question.ts)
    return message


@pytest.mark.parametrize("answers", ["post", "stream"])
async def test_slack_the_buttons_of_a_question_work_after_a_restart(chat: Chat, answers: str) -> None:
    async with SlackServer() as server:
        ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_slack(server, sink=sink, answers=answers) as session:
            message = await slack_question(server, ana, channel)
            await chat.bot.idle()
            assert "None of these" in str(message.blocks)
            assert "feedback_buttons" not in str(message.blocks)
            labels = [e["text"]["text"] for b in message.blocks for e in b.get("elements", ()) if "text" in e]
            assert max(map(len, labels)) <= 75
            assert "<!channel>" not in str(message.blocks[0])
        async with on_slack(server, sink=sink, answers=answers) as session:
            for _ in range(2):
                await ana.clicks(message, slack_button(message, 1)).answered()
            thread = message.thread_ts or message.ts
            await server.wait_for(lambda: len(server.said_by_bot(channel, thread)) == 2)
            answer = server.said_by_bot(channel, thread)[-1]
            assert YARD in answer.text
            await server.wait_for(lambda: "brain" in answer.reactions)
            await ben.clicks(message, slack_button(message, 3)).answered()
            [noted] = server.ephemerals(ben)
            assert "somebody else" in noted.text
            await chat.bot.idle()
            assert len(server.said_by_bot(channel, thread)) == 2
            assert [each[2] for each in sorted(votes(chat))] == [Verdict.SUCCESS, Verdict.SUCCESS, Verdict.PENDING]
        assert server.slack.complaints == []


async def test_slack_none_of_these_opens_the_form_and_refuses_all(chat: Chat) -> None:
    async with SlackServer() as server:
        ana, channel = server.person("ana"), server.channel("general")

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_slack(server, sink=sink) as session:
            message = await slack_question(server, ana, channel)
            await ana.clicks(message, slack_button(message, 4)).answered()
            assert votes(chat) == [(ASK, "Which one?\n\n", Verdict.FAILURE)]
            assert "none of these" in server.ephemerals(ana)[0].text
            await ana.submits({"better": "At the desk."}).answered()
            await chat.bot.idle()
            assert ("answer", "At the desk.", Verdict.SUCCESS) in votes(chat)
            await ana.commands(channel, "/goodbot", "forget yes").answered()
            said = len(server.ephemerals(ana))
            await ana.clicks(message, slack_button(message, 1)).answered()
            assert "do not know that question" in server.ephemerals(ana)[said:][0].text
        assert server.slack.complaints == []


async def test_slack_in_direct_messages_the_question_stays_when_it_is_pressed(chat: Chat) -> None:
    async with SlackServer() as server:
        ana = server.person("ana")

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_slack(server, sink=sink) as session:
            channel = ana.dm
            message = await slack_question(server, ana, channel)
            before = str(message.blocks)
            await ana.clicks(message, slack_button(message, 4)).answered()
            await ana.clicks(message, slack_button(message, 1)).answered()
            thread = message.thread_ts or message.ts
            await server.wait_for(lambda: any(each.text == YARD for each in server.said_by_bot(channel, thread)))
            assert str(message.blocks) == before
            await chat.bot.idle()
        assert server.slack.complaints == []


def labels(message: DiscordMessage) -> list[str]:
    return [str(button["label"]) for row in message.components for button in row["components"]]


async def test_discord_the_buttons_of_a_question_work_after_a_restart(chat: Chat) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_discord(server, sink=sink) as session:
            session.asks(GOAL)
            await server.until(lambda: server.said(session.general))
            [message] = server.said(session.general)
            offered = labels(message)
            assert (offered[0], offered[-1]) == (YARD, "None of these")
            assert max(map(len, offered)) <= 80
            assert len(message.content) <= 2000
        async with on_discord(server, sink=sink) as session:
            ben = server.person("ben", session.guild)
            press = server.clicks(session.ana, message, YARD)
            await server.until(lambda: len(server.said(session.general)) == 2)
            answer = server.said(session.general)[-1]
            assert answer.content.startswith(YARD)
            await server.until(lambda: "🧠" in server.marks(answer))
            assert (press.answer, press.replies) == (Callback.DEFERRED_UPDATE, [])
            again = server.clicks(session.ana, message, YARD)
            other = server.clicks(ben, message, "In the cellar.")
            await server.until(lambda: again.answer and "somebody else" in other.text)
            assert [each.ephemeral_to for each in other.replies] == [ben.id]
            await chat.bot.idle()
            assert labels(server.current(message)) == offered
            assert len(server.said(session.general)) == 2
            assert [each[2] for each in sorted(votes(chat))] == [Verdict.SUCCESS, Verdict.SUCCESS, Verdict.PENDING]


async def test_discord_none_of_these_opens_the_form_and_a_forgotten_question_says_so(chat: Chat) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_discord(server, sink=sink) as session:
            session.asks(GOAL)
            await server.until(lambda: server.said(session.general))
            [message] = server.said(session.general)
            press = server.clicks(session.ana, message, "None of these")
            await server.until(lambda: press.modal and "none of these" in press.text)
            assert votes(chat) == [(ASK, "Which one?\n\n", Verdict.FAILURE)]
            form = server.submits(press, {"better": "At the desk."})
            await server.until(lambda: form.text)
            assert ("answer", "At the desk.", Verdict.SUCCESS) in votes(chat)
            chat.world.memory.privacy.forget(session.workspace, session.ana.id)
            late = server.clicks(session.ana, message, YARD)
            await server.until(lambda: "do not know that question" in late.text)
            assert [each.ephemeral_to for each in late.replies] == [session.ana.id]


async def test_discord_in_direct_messages_the_question_stays_when_it_is_pressed(chat: Chat) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_discord(server, sink=sink) as session:
            direct = server.dm(session.ana)
            server.says(session.ana, direct, GOAL)
            await server.until(lambda: server.said(direct))
            [message] = server.said(direct)
            server.clicks(session.ana, message, YARD)
            await server.until(lambda: any(each.content.startswith(YARD) for each in server.said(direct)))
            assert server.current(message).content == message.content
            await chat.bot.idle()
