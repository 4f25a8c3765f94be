"""Mentions in what people teach on Discord: kept and said by the names of the time, never by id; nobody is called."""

from pathlib import Path

import pytest

from bot.model import PersonMessage
from tests.doubles.discord import DiscordServer, Message
from tests.doubles.discord_driver import connected
from tests.doubles.stores import content
from tests.doubles.whole_bot import DiscordBot, discord_bot

ASKED, SAVED = "who has the spare key?", "Saved as your lesson"


async def ask(bot: DiscordBot) -> Message:
    """Ask, and return the bot's answer."""
    server, general = bot.session.server, bot.session.general
    question = bot.session.asks(ASKED)
    await server.until(lambda: [message for message in server.said(general) if message.reply_to == question.id])
    await bot.idle()
    return server.said(general)[-1]


async def teach(bot: DiscordBot, answer: Message, text: str, way: str) -> None:
    """Say what would have been right, and wait until the bot says that it is stored."""
    server, ana, general = bot.session.server, bot.session.ana, bot.session.general
    if way == "form":
        click = server.clicks(ana, answer, "👎")
        await server.until(lambda: click.modal)
        form = server.submits(click, {"What would have been right?": text})
        await server.until(lambda: SAVED in form.text)
    elif way == "slash":
        use = server.slash(ana, general, "goodbot correct", {"answer": text})
        await server.until(lambda: SAVED in use.text)
    else:
        bot.session.asks(f"correct: {text}")
        await server.until(lambda: [one for one in server.said(general) if SAVED in one.content])


@pytest.mark.parametrize("way", ["typed", "form", "slash"])
async def test_who_and_what_a_lesson_mentions_is_said_by_name(server: DiscordServer, tmp_path: Path, way: str) -> None:
    async with discord_bot(server, tmp_path) as bot:
        guild = bot.session.guild
        ben, desk = server.person("ben", guild), server.channel(guild, "help")
        keepers = server.role(guild, "keepers")
        unknown = await ask(bot)
        await teach(bot, unknown, f"Ask <@{ben.id}> or <@&{keepers.id}> in <#{desk.id}>", way)
        answer = await ask(bot)
        stored = content(bot.memory.store)
    assert "Ask @Ben or @keepers in #help" in answer.content
    assert answer.pings == frozenset()
    assert not [each for each in (ben.id, desk.id, keepers.id) if each.encode() in stored]


async def test_a_channel_that_its_author_may_not_see_is_not_named(server: DiscordServer) -> None:
    async with connected(server) as session:
        ben = server.person("ben", session.guild)
        secret = server.channel(session.guild, "takeover", private_to=[ben])
        session.asks(f"what is <#{secret.id}>?")
        session.asks(f"what is <#{secret.id}>?", person=ben)
        session.asks("who is <@424242424242>, <@&434343434343>?")
        events = await session.settled()
    assert [event.text for event in events if isinstance(event, PersonMessage)] == [
        "what is #a-channel?",
        "what is #takeover?",
        "who is @somebody, @a-role?",
    ]
