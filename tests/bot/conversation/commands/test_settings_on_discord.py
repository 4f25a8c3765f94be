"""Settings in chat on Discord: by words, the slash command and buttons, in force with the next act."""

from pathlib import Path
from typing import Any

import pytest

from memory.model import Scope
from tests.doubles.discord import DiscordServer, Message, Person
from tests.doubles.whole_bot import DiscordBot, discord_bot

QUESTION, RIGHT = "where is the spare key?", "Under the blue pot."


async def heard(bot: DiscordBot) -> None:
    """Until all that happened before is taken in and answered."""
    server, root = bot.session.server, bot.session.server.person("root")
    channel = server.channel(bot.session.guild, f"marker-{len(server.calls())}")
    bot.session.asks("help", person=root, channel=channel)
    await server.until(lambda: server.said(channel))
    if bot.session.messenger._context:
        await bot.session.messenger._context.tasks.finished()
    await bot.idle()


async def asks(bot: DiscordBot, person: Person, text: str = QUESTION) -> Message | None:
    """The answer; None where there is none."""
    before = len(bot.session.server.said(bot.session.general))
    bot.session.asks(text, person=person)
    await heard(bot)
    said = bot.session.server.said(bot.session.general)
    return said[-1] if len(said) > before else None


async def commanded(bot: DiscordBot, person: Person, name: str, value: str) -> str:
    """The slash command; what the person is told."""
    server = bot.session.server
    use = server.slash(person, bot.session.general, "goodbot settings", {"name": name, "value": value})
    await server.until(lambda: use.replies)
    await heard(bot)
    return str(use.replies[-1].content)


@pytest.mark.parametrize("file", [{}, {"allowed_people": ("1",)}], ids=["open file", "closed file"])
async def test_an_administrator_changes_them_and_they_hold_at_once(tmp_path: Path, file: dict[str, Any]) -> None:
    async with DiscordServer() as server:
        root = server.person("root")
        lists: dict[str, Any] = {name: (*ids, root.id) for name, ids in file.items()}
        async with discord_bot(server, tmp_path, answers="post", admins=(root.id,), **lists) as bot:
            server.person("root", bot.session.guild)
            ana, ben = bot.session.ana, server.person("ben", bot.session.guild)
            values = bot.memory.chat_settings.values
            assert bool(await asks(bot, ana, "what is 1+1?")) is not bool(file)
            told = await commanded(bot, root, "allowed-people", f"add <@{ana.id}>")
            assert ana.id not in told.replace(f"<@{ana.id}>", "")
            assert ana.id in values(bot.session.workspace)["allowed-people"].split()
            assert await asks(bot, ana, "what is 2+2?")
            assert await asks(bot, ben, "what is 2+3?") is None
            bot.session.asks(f"settings teachers add {ana.mention}", person=root)
            await heard(bot)
            assert values(bot.session.workspace)["teachers"] == ana.id
            question = await asks(bot, root)
            assert question is not None
            bot.session.asks(f"correct: {RIGHT}", person=ana, reply_to=question.id)
            await heard(bot)
            answer = await asks(bot, root)
            assert answer is not None
            assert answer.content.startswith(RIGHT)
            place = Scope(workspace=bot.session.workspace, channel=bot.session.general.id, person=ana.id)
            assert "Ana" in await bot.session.messenger.approvers(place)
            assert ana.id in await bot.session.messenger.teachers(bot.session.workspace)


async def test_buttons_change_a_setting_and_take_it_back(tmp_path: Path) -> None:
    async with DiscordServer() as server:
        root = server.person("root")
        async with discord_bot(server, tmp_path, answers="post", admins=(root.id,)) as bot:
            server.person("root", bot.session.guild)
            use = server.slash(root, bot.session.general, "goodbot settings")
            shown = await server.until(lambda: use.replies)
            page = shown[-1]
            values = bot.memory.chat_settings.values
            for label, expected in (
                ("Change control-arm", {}),
                ("10%", {"control-arm": "0.1"}),
                ("As in the settings file", {}),
                ("Undo the last change", {"control-arm": "0.1"}),
            ):
                before = server.current(page).content
                pressed = server.clicks(root, page, label)
                await server.until(lambda pressed=pressed: pressed.answer)  # type: ignore[misc]
                await heard(bot)
                assert values(bot.session.workspace) == expected, label
                assert server.current(page).content != before
