"""The real `goodbot run` process on a local Discord: ask, reject, correct, ask again, approve, take it back."""

import signal
import sys
from pathlib import Path

import pytest

from tests.doubles.discord import Callback, DiscordServer, Message
from tests.doubles.process import Chat, Home

pytestmark = pytest.mark.process


def environment(discord: DiscordServer) -> dict[str, str]:
    return {"DISCORD_TOKEN": discord.token, "DISCORD_API_URL": discord.api_url}


def test_the_loop_on_discord(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with DiscordServer() as discord:
        guild = discord.guild("Home")
        general, ana = discord.channel(guild, "general"), discord.person("ana", guild)
        command = [sys.executable, "-m", "bot", "run"]
        with Chat(command, home.folder, home.environment(environment(discord))) as process:
            discord.wait_for(discord.is_connected, 60)

            def ask(text: str) -> Message:
                asked = discord.says(ana, general, f"{discord.bot.mention} {text}")
                discord.wait_for(lambda: any(said.reply_to == asked.id for said in discord.said(general)), 60)
                return next(said for said in discord.said(general) if said.reply_to == asked.id)

            unknown = ask("where is the spare key?")
            assert "I don't know that." in unknown.content
            click = discord.clicks(ana, unknown, "👎")
            discord.wait_for(lambda: click.answer is Callback.MODAL)
            form = discord.submits(click, {"What would have been right?": "In the blue box."})
            discord.wait_for(lambda: form.text)
            assert "Saved as your lesson" in form.text
            discord.wait_for(lambda: discord.marks(unknown) == ["🧠"])

            again = ask("where is the spare key now?")
            assert "In the blue box." in again.content
            assert "used lesson" in again.content

            sums = ask("what is 6*7?")
            assert "6 * 7 = 42" in sums.content
            discord.reacts(ana, sums, "👍🏽")
            discord.wait_for(lambda: discord.marks(sums) == ["🧠"])
            discord.unreacts(ana, sums, "👍🏽")
            discord.wait_for(lambda: discord.marks(sums) == [])
            why = discord.uses_menu(ana, again, "Why this answer?")
            discord.wait_for(lambda: why.text)
            assert "spare key" in why.text
            assert why.private_replies == why.replies
            assert discord.invalid_calls() == []
            process.signal(signal.SIGTERM)
            process.end()
    assert home.run("rebuild", "--check").code == 0


def test_a_wrong_token_ends_the_process_with_the_remedy(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with DiscordServer() as discord:
        done = home.run("discord", **(environment(discord) | {"DISCORD_TOKEN": "wrong"}))
    assert done.code != 0
    assert "set DISCORD_TOKEN" in done.err
    assert "Traceback" not in done.err
