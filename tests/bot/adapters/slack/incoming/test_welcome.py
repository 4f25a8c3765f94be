"""The first minute in Slack: where the bot is invited and to whom opens it, one short message, and never again."""

import logging
from pathlib import Path

import pytest

from tests.bot.adapters.slack.conversing import say
from tests.doubles.slack import Person, Refused, SlackServer
from tests.doubles.whole_bot import SlackBot, slack_bot

ON = {"GOODBOT_LISTENING_WELCOME": "on"}
SUM = "what is 6*7?"


async def invited(bot: SlackBot, channel: str, by: Person) -> list[str]:
    """What the bot has said there, once it has been taken out and invited."""
    bot.session.server.remove_bot(channel)
    bot.session.server.invite_bot(channel, by)
    await bot.settled()
    return [message.text for message in bot.session.server.said_by_bot(channel)]


async def opened(bot: SlackBot, person: Person) -> list[str]:
    """What stands in a person's direct messages, once they have opened them."""
    person.opens_home("messages")
    await bot.settled()
    return [message.text for message in bot.session.server.said_by_bot(person.dm)]


async def home(bot: SlackBot, person: Person) -> str:
    """A person's page, once they have opened it."""
    person.opens_home()
    await bot.settled()
    view = bot.session.server.workspace.home(person.id)
    assert view is not None
    return str(view.body)


async def test_an_invited_bot_says_once_what_it_is_for_and_who_teaches_by_name(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    tea, ben = server.person("tea"), server.person("ben")
    group = server.workspace.add_group("keepers", [ben.id])
    server.workspace.channel(general).creator = ben.id
    async with slack_bot(server, tmp_path, ON, teachers=(tea.id, group.id)) as bot:
        [text] = await invited(bot, general, ana)
        ana.joins(general)
        assert await invited(bot, general, ana) == [text]
    async with slack_bot(server, tmp_path, ON) as bot:
        assert await invited(bot, general, ana) == [text]
    assert "Hello! Mention me" in text
    who = "ben (made this channel), tea, the group keepers and the workspace's owners and admins."
    assert f"*Who teaches here:* {who} What" in text
    assert "`@goodbot correct: ...`" in text
    assert "`@goodbot forget` erases" in text
    [posted] = server.calls("chat.postMessage")
    assert "<@" not in str(posted.args)
    assert "<!" not in str(posted.args)


async def test_where_nobody_teaches_it_says_so_and_to_another_organisation_it_names_nobody(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    partners = server.channel("partners", shared=True)
    async with slack_bot(server, tmp_path, ON, owners="members") as bot:
        [text] = await invited(bot, general, ana)
    assert "*Who teaches here:* nobody yet." in text
    async with slack_bot(server, tmp_path, ON, teachers=(ana.id,)) as bot:
        [text] = await invited(bot, partners, ana)
    assert "Hello!" in text
    assert "teaches" not in text


@pytest.mark.parametrize("why", ["refused", "not allowed", "not for them", "off"])
async def test_where_it_may_not_or_shall_not_it_is_quiet_and_answers_all_the_same(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    other = server.channel("other")
    allowed = {"not allowed": {"allowed_channels": (other,)}, "not for them": {"allowed_users": ("U0BOSS",)}}
    welcome = {"GOODBOT_LISTENING_WELCOME": "off"} if why == "off" else ON
    if why == "refused":
        server.faults.next("chat.postMessage", Refused("restricted_action"))
    async with slack_bot(server, tmp_path, welcome, **allowed.get(why, {})) as bot:
        assert await invited(bot, general, ana) == []
        if why == "off":
            assert await opened(bot, ana) == []
        if why in ("refused", "off"):
            question = await say(bot, ana, general, SUM)
            assert "42" in server.said_by_bot(general, question.ts)[0].text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_who_opens_the_conversation_is_welcomed_there_once(
    server: SlackServer, ana: Person, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path, ON, teachers=(server.person("tea").id,)) as bot:
        [text] = await opened(bot, ana)
        assert await opened(bot, ana) == [text]
        assert "Hello!" not in await home(bot, ana)
    async with slack_bot(server, tmp_path, ON) as bot:
        assert await opened(bot, ana) == [text]
        await say(bot, ana, ana.dm, SUM)
        assert sum("Hello!" in message.text for message in server.said_by_bot(ana.dm)) == 1
    assert "approves it: tea and the workspace's owners and admins." in text


async def test_who_opens_the_page_first_is_welcomed_on_it(server: SlackServer, ana: Person, tmp_path: Path) -> None:
    async with slack_bot(server, tmp_path, ON) as bot:
        first, second = await home(bot, ana), await home(bot, ana)
        assert "Hello! Ask me anything" in first
        assert "Hello!" not in second
        assert await opened(bot, ana) == []


async def test_who_writes_first_is_welcomed_before_the_answer_and_as_somebody_new_after_being_forgotten(
    server: SlackServer, ana: Person, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path, ON) as bot:
        for text in (SUM, SUM, "forget me yes", SUM):
            await say(bot, ana, ana.dm, text)
    said = [message.text.split("\n")[0][:6] for message in server.said_by_bot(ana.dm)]
    assert said == ["Hello!", "6 * 7 ", "6 * 7 ", "Erased", "Hello!", "6 * 7 "]


async def test_who_only_greets_at_first_is_greeted_once(server: SlackServer, ana: Person, tmp_path: Path) -> None:
    async with slack_bot(server, tmp_path, ON) as bot:
        ana.says(ana.dm, "Hi!")
        await bot.settled()
        assert [each.text[:10] for each in server.said_by_bot(ana.dm)] == ["Hello! Ask"]
        ana.says(ana.dm, "hi")
        await bot.settled()
    async with slack_bot(server, tmp_path, ON) as bot:
        await say(bot, ana, ana.dm, SUM)
    said = [message.text for message in server.said_by_bot(ana.dm)]
    assert [each[:10] for each in said] == ["Hello! Ask", "Hello! Ask", "6 * 7 = 42"]
    assert sum("I am a machine" in each for each in said) == 1


async def test_what_it_keeps_of_who_only_looked_in_is_told_and_erased(
    server: SlackServer, ana: Person, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path, ON) as bot:
        await opened(bot, ana)
        for text in ("forget me", "forget me yes", "forget me"):
            await say(bot, ana, ana.dm, text)
    said = [message.text for message in server.said_by_bot(ana.dm)][1:]
    assert said[0].startswith("This erases that you were here. It cannot be undone.")
    assert said[1:] == ["Erased: that you were here.", "I keep nothing about you here."]
