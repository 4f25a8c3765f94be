"""Settings in chat on Slack: by words and buttons, in force with the next act, before and after a restart."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.adapters.system import utc_now
from tests.doubles.slack import Person, SlackServer
from tests.doubles.slack.state import Ephemeral
from tests.doubles.whole_bot import SlackBot, slack_bot

QUESTION, RIGHT = "where is the spare key?", "Under the blue pot."


async def told(bot: SlackBot, person: Person, channel: str, text: str) -> Ephemeral:
    """What the bot shows this person alone."""
    server = bot.session.server
    before = len(server.ephemerals(person))
    person.says(channel, text, mention=True)
    await server.wait_for(lambda: len(server.ephemerals(person)) > before)
    await bot.settled()
    return server.ephemerals(person)[-1]


async def press(bot: SlackBot, person: Person, shown: Ephemeral, label: str) -> None:
    [action] = [
        each["action_id"]
        for block in shown.blocks
        if block["type"] == "actions"
        for each in block["elements"]
        if each["text"]["text"] == label
    ]
    await person.clicks(shown, action).answered()
    await bot.settled()


async def asks(bot: SlackBot, person: Person, channel: str, text: str = QUESTION) -> str:
    """The answer; empty where there is none."""
    asked = person.says(channel, text, mention=True)
    await bot.settled()
    said = bot.session.server.said_by_bot(channel, asked.ts)
    return said[-1].text if said else ""


async def test_an_administrator_changes_them_and_they_hold_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async with SlackServer() as server:
        root, ana, ben = server.person("root", admin=True), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            assert "administrators" in (await told(bot, ana, general, "settings")).text
            shown = await told(bot, root, general, "settings")
            await press(bot, root, shown, "Change mode")
            shown = server.ephemerals(root)[-1]
            await press(bot, root, shown, "mention")
            values = bot.memory.chat_settings.values
            assert values(bot.session.workspace, general) == {"mode": "mention"}
            text = (await told(bot, root, general, f"settings teachers add <@{ben.id}>")).text
            assert "1. ben" in text
            assert ben.id not in text
            asked = ana.says(general, QUESTION, mention=True)
            await bot.settled()
            ben.says(general, f"correct: {RIGHT}", thread_ts=asked.ts, mention=True)
            await bot.settled()
            assert (await asks(bot, ana, general)).startswith(RIGHT)
        async with slack_bot(server, tmp_path) as bot:
            assert bot.memory.chat_settings.values(bot.session.workspace, general)["teachers"] == ben.id
            assert "for teachers" not in (await told(bot, ben, general, "review")).text
            [first] = [each for each in bot.memory.chat_settings.changes(bot.session.workspace) if each.name == "mode"]
            assert (first.before, first.after, first.changed_by) == (None, "mention", root.id)


@pytest.mark.parametrize("lists", [{}, {"allowed_users": ("U999",)}], ids=["open file", "closed file"])
async def test_a_list_in_chat_takes_the_place_of_the_file_s(tmp_path: Path, lists: dict[str, Any]) -> None:
    async with SlackServer() as server:
        root, ana, ben = server.person("root"), server.person("ana"), server.person("ben")
        general, other = server.channel("general"), server.channel("other")
        if lists:
            lists = {"allowed_users": (*lists["allowed_users"], root.id)}
        async with slack_bot(server, tmp_path, admins=(root.id,), **lists) as bot:
            assert bool(await asks(bot, ana, general)) is not bool(lists)
            await told(bot, root, general, f"settings allowed-people add <@{ana.id}>")
            assert await asks(bot, ana, general, "and now?")
            assert not await asks(bot, ben, general, "and me?")
            await told(bot, root, general, f"settings allowed-channels add <#{other}|other>")
            assert not await asks(bot, ana, general, "still?")
            assert await asks(bot, ana, other, "here?")
            await told(bot, root, general, "settings allowed-channels default")
            assert await asks(bot, ana, general, "again?")


async def test_the_digest_goes_where_it_was_set_to_and_names_who_was_named(tmp_path: Path) -> None:
    async with SlackServer() as server:
        root, ana, ben = server.person("root"), server.person("ana"), server.person("ben")
        general, teachers = server.channel("general"), server.channel("teachers")
        async with slack_bot(server, tmp_path, admins=(root.id,)) as bot:
            await told(bot, root, general, f"settings teachers add <@{ben.id}>")
            asked = ana.says(general, QUESTION, mention=True)
            await bot.settled()
            before = len(server.ephemerals(ana))
            ana.says(general, f"correct: {RIGHT}", thread_ts=asked.ts, mention=True)
            await server.wait_for(lambda: len(server.ephemerals(ana)) > before)
            assert "Who can approve it:" in server.ephemerals(ana)[-1].text
            assert "ben" in server.ephemerals(ana)[-1].text
            assert set(await bot.messenger.teachers(bot.session.workspace)) == {root.id, ben.id}  # type: ignore[attr-defined]
            await told(bot, root, teachers, "settings digest off")
            bot.memory.clock = lambda: utc_now() + timedelta(hours=25)
            digest = bot.running.goodbot.digest
            assert await digest.send(bot.messenger) == 0
            await told(bot, root, teachers, f"settings digest <#{teachers}|teachers>")
            bot.memory.clock = lambda: utc_now() + timedelta(hours=27)
            assert await digest.send(bot.messenger) == 1
            await bot.settled()
            assert RIGHT in server.said_by_bot(teachers)[-1].text
