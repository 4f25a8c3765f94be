"""Mentions in what people teach in Slack: kept and said by the names of the time, never by id, and nobody is called."""

from pathlib import Path

import pytest

from bot.adapters import forms
from bot.adapters.slack.outgoing import blocks
from bot.model import PersonMessage
from tests.doubles.slack import Person, Refused, SlackServer
from tests.doubles.slack.state import Message
from tests.doubles.slack_driver import connected
from tests.doubles.stores import content
from tests.doubles.whole_bot import SlackBot, slack_bot

ASKED = "who has the spare key?"


async def ask(bot: SlackBot, person: Person, channel: str) -> Message:
    """Ask, and return the bot's answer."""
    question = person.says(channel, ASKED)
    await bot.session.settled()
    await bot.idle()
    return bot.session.server.said_by_bot(channel, question.ts)[-1]


async def teach(bot: SlackBot, ana: Person, answer: Message, text: str, way: str) -> None:
    """Say what would have been right."""
    if way == "typed":
        ana.says(answer.channel, f"correct: {text}", thread_ts=answer.thread_ts)
    elif way == "form":
        await ana.rates(answer, good=False).answered()
        await ana.submits({forms.BETTER: text}).answered()
    else:
        said = ana.says(answer.channel, text, mention=False)
        await ana.uses_shortcut(said, blocks.TEACH_SHORTCUT).answered()
        await ana.submits({forms.QUESTION: ASKED}).answered()
    await bot.session.settled()
    await bot.idle()


@pytest.mark.parametrize("way", ["typed", "form", "shortcut"])
async def test_who_and_what_a_lesson_mentions_is_said_by_name(server: SlackServer, tmp_path: Path, way: str) -> None:
    ana, ben = server.person("ana"), server.person("ben", user_id="U60734E3B1")
    general, help_desk = server.channel("general"), server.channel("help")
    group = server.workspace.add_group("keepers", [ben.id])
    async with slack_bot(server, tmp_path) as bot:
        unknown = await ask(bot, ana, general)
        await teach(bot, ana, unknown, f"Ask <@{ben.id}> or <!subteam^{group.id}> in <#{help_desk}|>", way)
        # The name of the time: what people are called later is not looked up.
        ben.user.name = ben.user.real_name = "somebody else"
        answer = await ask(bot, ana, general)
        ana.says(ana.dm, "export json")
        await bot.session.settled()
        stored = content(bot.memory.store)
    [exported] = [file.content for message in server.said_by_bot(ana.dm) for file in message.files]
    assert "Ask @ben or @keepers in #help" in answer.text
    assert b"Ask @ben or @keepers in #help" in exported
    assert not [each for each in (ben.id, group.id, help_desk) if each.encode() in stored + exported]


async def test_a_question_names_whom_it_mentions_and_a_purge_keeps_the_id(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, f"what does <@{ben.id}> do?")
        ana.says(channel, f"purge <@{ben.id}>")
        await session.settled()
    question, command = session.heard.events
    assert isinstance(question, PersonMessage)
    assert question.text == "what does @ben do?"
    assert getattr(command, "argument", "") == ben.id


async def test_a_private_channel_is_named_only_in_itself(server: SlackServer) -> None:
    ana, general = server.person("ana"), server.channel("general")
    secret = server.channel("takeover", private=True)
    async with connected(server) as session:
        ana.says(general, f"who is in <#{secret}>?")
        ana.says(secret, f"who is in <#{secret}>?")
        await session.settled()
    asked = {event.scope.channel: event.text for event in session.heard.events if isinstance(event, PersonMessage)}
    assert asked == {general: "who is in #a-channel?", secret: "who is in #takeover?"}


async def test_where_slack_tells_no_name_there_is_still_no_id(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    server.faults.next("users.info", Refused("missing_scope"), times=None)
    server.faults.next("usergroups.list", Refused("missing_scope"), times=None)
    async with connected(server) as session:
        ana.says(channel, f"ask <@{ben.id}> or <!subteam^S0123>")
        await session.settled()
    assert [event.text for event in session.heard.events if isinstance(event, PersonMessage)] == [
        "ask @somebody or @a-group"
    ]
