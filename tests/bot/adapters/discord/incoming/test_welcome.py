"""The first minute on Discord: in a server that invites the bot and to whom writes to it, one message, never again."""

import logging
from pathlib import Path

import pytest

from tests.doubles.discord import Channel, DiscordServer, Guild, Permission
from tests.doubles.whole_bot import DiscordBot, discord_bot

ON = {"GOODBOT_LISTENING_WELCOME": "on"}
SUM = "what is 6*7?"
WRITE = Permission.SEND_MESSAGES


def uninvited(server: DiscordServer) -> tuple[Guild, Channel, Channel]:
    """A server without the bot: a private channel, one where it may not write, and two to choose from."""
    guild = server.guild("Club", has_bot=False)
    server.channel(guild, "staff", private_to=[server.person("tea", guild)])
    rules = server.channel(guild, "rules")
    server.rights(rules, server.bot, deny=WRITE)
    return guild, server.channel(guild, "hello"), server.channel(guild, "more")


async def asked(bot: DiscordBot, direct: Channel) -> None:
    """Ask in direct messages, and wait for the answer."""
    server = bot.session.server
    question = server.says(bot.session.ana, direct, SUM)
    await server.until(lambda: any(each.reply_to == question.id for each in server.said(direct)))
    await bot.idle()


def said(server: DiscordServer, *channels: Channel) -> list[str]:
    return [message.content for channel in channels for message in server.said(channel)]


@pytest.mark.parametrize("is_away", [False, True])
async def test_a_server_that_invites_the_bot_is_welcomed_once_where_everybody_reads(
    server: DiscordServer, tmp_path: Path, is_away: bool
) -> None:
    home = server.guild("Home")  # invited it a month ago
    lobby = server.channel(home, "lobby")
    guild, hello, more = uninvited(server)
    tea, keepers = server.person("tea"), server.role(guild, "Keepers")
    if is_away:
        server.invites_bot(guild)
    async with discord_bot(server, tmp_path, ON, teachers=(tea.id, keepers.id)) as bot:
        if not is_away:
            server.invites_bot(guild)
        await bot.settled()
        [text] = said(server, hello, more)
        server.removes_bot(guild)
        server.invites_bot(guild)
        await bot.settled()
    async with discord_bot(server, tmp_path, ON) as bot:
        await bot.settled()
    assert said(server, hello, more, lobby) == [text]
    assert "Hello! Mention me" in text
    for name in ("Tea", "the role Keepers", "the server's managers and moderators."):
        assert name in text
    assert "`/goodbot forget-me` erases" in text
    assert [message.pings for message in server.said(hello)] == [frozenset()]


@pytest.mark.parametrize("why", ["mute", "not allowed", "off"])
async def test_where_it_may_not_or_shall_not_it_is_quiet(
    server: DiscordServer, tmp_path: Path, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    guild, hello, more = uninvited(server)
    settings = {"allowed_channels": ("1",)} if why == "not allowed" else {}
    for channel in (hello, more) if why == "mute" else ():
        server.rights(channel, server.bot, deny=WRITE)
    environment = {"GOODBOT_LISTENING_WELCOME": "off"} if why == "off" else ON
    server.guild("Home")
    async with discord_bot(server, tmp_path, environment, **settings) as bot:
        server.invites_bot(guild)
        direct = server.dm(bot.session.ana)
        await asked(bot, direct)
        if bot.session.messenger._context:
            await bot.session.messenger._context.tasks.finished()
    assert said(server, hello, more) == []
    assert ("Hello!" in str(said(server, direct))) == (why != "off")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_who_writes_first_is_welcomed_before_the_answer_and_never_again(
    server: DiscordServer, tmp_path: Path
) -> None:
    direct = server.dm(server.person("ana"))
    for _ in range(2):
        async with discord_bot(server, tmp_path, ON) as bot:
            for _ in range(2):
                await asked(bot, direct)
    first, *answers = said(server, direct)
    assert first.startswith("Hello! Ask me anything")
    assert "what you teach me here counts for you alone." in first
    assert len(answers) == 4
    assert not any("Hello!" in each for each in answers)
