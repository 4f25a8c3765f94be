"""The whole bot behind the real client libraries: what it offers as buttons does what it says, on both platforms."""

from collections.abc import AsyncIterator

import pytest

from bot.model import PersonEvent
from memory.model import Role
from tests.doubles.conversation import Chat
from tests.doubles.discord import DiscordServer
from tests.doubles.discord_driver import connected as on_discord
from tests.doubles.slack import SlackServer
from tests.doubles.slack_driver import connected as on_slack


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


async def test_slack_from_a_thumb_over_the_memory_page_to_the_archive_and_home(chat: Chat) -> None:
    async with SlackServer() as server:
        ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with on_slack(server, sink=sink) as session:
            question = ana.says(channel, "lunch?")
            await server.wait_for(lambda: server.said_by_bot(channel, question.ts))
            [answer] = server.said_by_bot(channel, question.ts)
            await ana.rates(answer, good=True).answered()
            await server.wait_for(lambda: "brain" in answer.reactions)
            await ana.commands(channel, "/goodbot", "memory").answered()
            [page] = server.ephemerals(ana)
            assert "lunch?" in page.text
            archive = next(b for block in page.blocks for b in block.get("elements", ()) if "rchive" in str(b))
            await ana.clicks(page, archive["action_id"]).answered()
            assert "estore" in str(page.blocks)
            await server.wait_for(lambda: "brain" not in answer.reactions)
            for person in (ana, ben):
                person.opens_home()
                home = await server.wait_for(lambda who=person: server.workspace.home(who.id))  # type: ignore[misc]
                assert ("lunch?" in str(home.body)) == (person is ana)
        assert server.slack.complaints == []


async def test_discord_from_a_thumb_over_the_memory_page_to_the_archive(chat: Chat) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            assert event.role is Role.MEMBER
            await chat.bot.sink(session.messenger)(event)

        async with on_discord(server, sink=sink) as session:
            session.asks("lunch?")
            await server.until(lambda: server.said(session.general))
            [answer] = server.said(session.general)
            server.clicks(session.ana, answer, "👍")
            await server.until(lambda: "🧠" in server.marks(answer))
            use = server.slash(session.ana, session.general, "goodbot memory")
            await server.until(lambda: "lunch?" in use.text)
            [page] = use.private_replies
            archive = next(b for row in page.components for b in row["components"] if "rchive" in b["label"])
            server.clicks(session.ana, page, archive["custom_id"])
            await server.until(lambda: "estore" in str(server.current(page).components))
            await server.until(lambda: "🧠" not in server.marks(answer))
