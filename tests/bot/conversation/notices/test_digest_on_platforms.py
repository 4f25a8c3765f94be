"""What waits reaches teachers privately, with buttons that work, and its author hears what they decided."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters import forms
from memory.adapters.system import utc_now
from memory.services.conversation.notices import Digests
from tests.doubles.discord import DiscordServer, Intent
from tests.doubles.slack import Person, SlackServer
from tests.doubles.slack.faults import Refused
from tests.doubles.slack.state import Message
from tests.doubles.whole_bot import SlackBot, WholeBot, discord_bot, slack_bot

QUESTION, RIGHT = "where is the spare key?", "Under the blue pot."
EDITED = "Under the red pot."
READING: dict[str, Any] = {"reads": "everything", "answers": "post"}


async def a_day_later(bot: WholeBot) -> int:
    return await hours_later(bot, 25)


async def hours_later(bot: WholeBot, hours: int) -> int:
    # From the next midnight on, so that it is never a question of the hour whether that is another day.
    midnight = utc_now().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    bot.memory.clock = lambda: midnight + timedelta(hours=hours)
    bot.memory.digests = Digests(replace(bot.memory.core, clock=bot.memory.clock))
    return await bot.running.goodbot.digest.send(bot.messenger)


async def corrects(bot: SlackBot, person: Person, channel: str, question: str = QUESTION) -> str:
    """A member asks and corrects; what they are told."""
    server = bot.session.server
    root = person.says(channel, question, mention=True)
    await bot.settled()
    before = len(server.ephemerals(person))
    person.says(channel, f"correct: {RIGHT}", thread_ts=root.ts, mention=True)
    await server.wait_for(lambda: len(server.ephemerals(person)) > before)
    return server.ephemerals(person)[-1].text


async def test_slack(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            told = await corrects(bot, ana, general)
            assert "Who can approve it: tess and the workspace's owners and admins." in told
            assert await a_day_later(bot) == 1
            assert await a_day_later(bot) == 0
            await bot.settled()
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            [digest] = server.said_by_bot(tess.dm)
            assert RIGHT in digest.text
            [approve] = [
                each for block in digest.blocks if block["type"] == "actions" for each in block["elements"]
                if each["text"]["text"] == "Approve 1"
            ]  # fmt: skip
            await tess.clicks(digest, approve["action_id"]).answered()
            await bot.settled()
            await server.wait_for(lambda: server.said_by_bot(ana.dm))
            [told_once] = server.said_by_bot(ana.dm)
            assert f"approved: “{QUESTION}” counts for #general now" in told_once.text
            asked = ben.says(general, QUESTION, mention=True)
            await bot.settled()
            assert server.said_by_bot(general, asked.ts)[0].text.startswith(RIGHT)


def button(message: Message, label: str) -> str:
    """The action of a button under a message."""
    [found] = [
        each
        for block in message.blocks
        if block["type"] == "actions"
        for each in block["elements"]
        if each["text"]["text"] == label
    ]
    return str(found["action_id"])


@pytest.mark.parametrize("label", ["Edit 1", "Reject 1"])
async def test_what_a_teacher_edits_or_rejects_in_slack(tmp_path: Path, label: str) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            await corrects(bot, ana, general)
            await a_day_later(bot)
            [digest] = server.said_by_bot(tess.dm)
            await tess.clicks(digest, button(digest, label)).answered()
            if label == "Edit 1":
                await server.wait_for(lambda: tess.modal)
                assert RIGHT in str(tess.modal()), "the form has what is to be changed"
                assert QUESTION in str(tess.modal())
                await tess.submits({forms.ANSWER: EDITED}).answered()
            await bot.settled()
            await server.wait_for(lambda: server.said_by_bot(ana.dm))
            await tess.clicks(digest, button(digest, "Edit 1")).answered()
            await bot.settled()
            assert tess.workspace.modal(tess.id) is None, "a form for what is decided would be filled in for nothing"
            await tess.clicks(digest, button(digest, "Reject 1")).answered()
            await bot.settled()
            assert server.said_by_bot(tess.dm)[0].text == digest.text, "its other buttons are still needed"
            [told_once] = server.said_by_bot(ana.dm)
            assert f"not taken over as it was: “{QUESTION}”" in told_once.text
            assert server.ephemerals(ben) == []
            asked = ben.says(general, QUESTION, mention=True)
            await bot.settled()
            [answer] = server.said_by_bot(general, asked.ts)
            assert answer.text.startswith(EDITED if label == "Edit 1" else "I don't know that.")


async def test_a_channels_creator_decides_there_and_nowhere_else(tmp_path: Path) -> None:
    async with SlackServer() as server:
        cleo, ana = server.person("cleo"), server.person("ana")
        theirs, other = server.channel("theirs"), server.channel("other")
        server.workspace.channel(theirs).creator = cleo.id
        async with slack_bot(server, tmp_path) as bot:
            await corrects(bot, ana, theirs)
            await corrects(bot, ana, other, "who has the ladder?")
            for channel, is_teacher in ((theirs, True), (other, False)):
                cleo.joins(channel)
                before = len(server.ephemerals(cleo))
                cleo.says(channel, "review", mention=True)
                await server.wait_for(lambda before=before: len(server.ephemerals(cleo)) > before)  # type: ignore[misc]
                assert (RIGHT in server.ephemerals(cleo)[-1].text) is is_teacher


async def test_a_guest_who_made_a_channel_is_not_said_to_decide_there(tmp_path: Path) -> None:
    async with SlackServer() as server:
        gus, cleo, ana = server.person("gus", guest="single"), server.person("cleo"), server.person("ana")
        async with slack_bot(server, tmp_path) as bot:
            for creator in (gus, cleo):
                channel = server.channel(f"made-by-{creator.user.name}")
                server.workspace.channel(channel).creator = creator.id
                told = await corrects(bot, ana, channel)
                assert ("(made this channel)" in told) is (creator is cleo)


@pytest.mark.parametrize("label", ["Edit 1", "Reject 1"])
async def test_what_a_teacher_edits_or_rejects_in_discord(tmp_path: Path, label: str) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            server.person("tess", bot.session.guild)
            ben = server.person("ben", bot.session.guild)
            ana, general = bot.session.ana, bot.session.general
            for words in (QUESTION, f"correct: {RIGHT}"):
                bot.session.asks(words)
                await bot.settled()
            await a_day_later(bot)
            [digest] = server.said(server.dm(tess))
            click = server.clicks(tess, digest, label)
            if label == "Edit 1":
                await server.until(lambda: click.modal)
                assert RIGHT in str(click.modal), "the form has what is to be changed"
                assert QUESTION in str(click.modal)
                server.submits(click, {forms.ANSWER: EDITED})
            await server.until(lambda: [each for each in server.said(server.dm(ana)) if "as it was:" in each.content])
            server.clicks(tess, digest, "Reject 1")
            await bot.settled()
            told = [each.content for each in server.said(server.dm(ana)) if "A teacher looked" in each.content]
            assert len(told) == 1
            assert server.said(server.dm(tess))[0].content == digest.content, "its other buttons are still needed"
            bot.session.asks(QUESTION, person=ben)
            await bot.settled()
            assert server.said(general)[-1].content.startswith(EDITED if label == "Edit 1" else "I don't know that.")


async def test_what_the_digest_decides_in_discord_is_taken_back_by_the_button_under_the_reply(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            server.person("tess", bot.session.guild)
            for words in (QUESTION, f"correct: {RIGHT}"):
                bot.session.asks(words)
                await bot.settled()
            await a_day_later(bot)
            [digest] = server.said(server.dm(tess))
            approved = server.clicks(tess, digest, "Approve 1")
            await server.until(lambda: approved.replies)
            undone = server.clicks(tess, approved.replies[-1], "Take it back")
            await server.until(lambda: undone.text)
            assert undone.text == f"“{QUESTION}” counts for its author alone now."


async def test_a_gap_of_the_digest_is_answered_by_its_form(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            server.person("tess", bot.session.guild)
            bot.session.asks(QUESTION)
            await bot.settled()
            await a_day_later(bot)
            [digest] = server.said(server.dm(tess))
            click = server.clicks(tess, digest, f"Answer 1: {QUESTION}")
            await server.until(lambda: click.modal)
            form = server.submits(click, {forms.ANSWER: RIGHT})
            await server.until(lambda: form.text)
            assert form.text.startswith("Saved as a lesson for everybody in #general.")
            again = server.clicks(tess, digest, f"Answer 1: {QUESTION}")
            await server.until(lambda: again.modal)
            assert RIGHT in str(again.modal), "it was answered meanwhile"
            bot.session.asks(QUESTION)
            await bot.settled()
            assert server.said(bot.session.general)[-1].content.startswith(RIGHT)


async def test_discord(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            server.person("tess", bot.session.guild)
            ana, general = bot.session.ana, bot.session.general
            bot.session.asks(QUESTION)
            await bot.settled()
            bot.session.asks(f"correct: {RIGHT}")
            await bot.settled()
            assert "Who can approve it: Tess and the server's managers" in server.said(general)[-1].content
            assert await a_day_later(bot) == 1
            [digest] = server.said(server.dm(tess))
            assert RIGHT in digest.content
            server.clicks(tess, digest, "Approve 1")
            await server.until(lambda: [each for each in server.said(server.dm(ana)) if "approved:" in each.content])
            ben = server.person("ben", bot.session.guild)
            bot.session.asks(QUESTION, person=ben)
            await bot.settled()
            assert server.said(general)[-1].content.startswith(RIGHT)


async def test_where_nobody_is_named_the_owner_of_a_discord_server_gets_it_and_decides(tmp_path: Path) -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        discord_bot(server, tmp_path, **READING) as bot,
    ):
        owner = server.state.people[bot.session.guild.owner_id]
        ben = server.person("ben", bot.session.guild)
        for words in (QUESTION, f"correct: {RIGHT}"):
            bot.session.asks(words, person=ben)
            await bot.settled()
        assert await a_day_later(bot) == 1
        [digest] = server.said(server.dm(owner))
        server.clicks(owner, digest, "Approve 1")
        await server.until(lambda: [each for each in server.said(server.dm(ben)) if "approved:" in each.content])


async def test_where_nobody_is_named_the_owners_of_a_slack_workspace_get_it_and_decide(tmp_path: Path) -> None:
    async with SlackServer() as server:
        olga, ana, general = server.person("olga", admin=True), server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            await corrects(bot, ana, general)
            assert await a_day_later(bot) == 1
            [digest] = server.said_by_bot(olga.dm)
            await olga.clicks(digest, button(digest, "Approve 1")).answered()
            await bot.settled()
            [told_once] = server.said_by_bot(ana.dm)
            assert f"approved: “{QUESTION}” counts for #general now" in told_once.text


async def test_what_a_platform_would_not_take_is_in_the_digest_of_the_next_day(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, general = server.person("tess"), server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            await corrects(bot, ana, general)
            server.faults.next("chat.postMessage", Refused("msg_too_long"))
            for hours, sent in ((25, 0), (27, 0), (49, 1), (73, 0)):
                assert await hours_later(bot, hours) == sent
            [digest] = server.said_by_bot(tess.dm)
            assert RIGHT in digest.text


async def test_in_a_slack_channel_teachers_decide_under_the_digest_and_others_do_not(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general, staff = server.channel("general"), server.channel("staff")
        people = {"teachers": (tess.id,), "admins": (tess.id,)}
        async with slack_bot(server, tmp_path, {"GOODBOT_TEACHING_DIGEST": staff}, **people) as bot:
            await corrects(bot, ana, general)
            assert await a_day_later(bot) == 1
            [digest] = server.said_by_bot(staff)
            await ben.clicks(digest, button(digest, "Approve 1")).answered()
            await bot.settled()
            assert "That is for teachers." in server.ephemerals(ben)[-1].text
            for _ in range(2):
                await tess.clicks(digest, button(digest, "Approve 1")).answered()
                await bot.settled()
            [told_once] = server.said_by_bot(ana.dm)
            assert f"approved: “{QUESTION}” counts for #general now" in told_once.text
            assert server.said_by_bot(staff) == [digest], "its other buttons are still needed"


async def test_in_a_discord_channel_teachers_decide_under_the_digest_and_others_do_not(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            server.person("tess", bot.session.guild)
            staff, ana = server.channel(bot.session.guild, "staff"), bot.session.ana
            bot.running.goodbot.digest._to = str(staff.id)
            for words in (QUESTION, f"correct: {RIGHT}"):
                bot.session.asks(words)
                await bot.settled()
            assert await a_day_later(bot) == 1
            [digest] = server.said(staff)
            refused = server.clicks(ana, digest, "Approve 1")
            await server.until(lambda: refused.replies)
            assert "That is for teachers." in refused.replies[-1].content
            server.clicks(tess, digest, "Approve 1")
            await server.until(lambda: [each for each in server.said(server.dm(ana)) if "approved:" in each.content])
