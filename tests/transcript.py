"""A conversation of three people and the bot, as people see it: `python -m tests.transcript slack` or `discord`.

The whole bot runs with the packaged embedder and the offline model, through the platform's client library against a
local server. What is printed stands in `bot/README.md`.
"""

import argparse
import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.doubles.discord import DiscordServer, Intent
from tests.doubles.slack import SlackServer
from tests.doubles.whole_bot import discord_bot, slack_bot

BY_MEANING = {"GOODBOT_EMBEDDER_NAME": "packaged"}
_LONGEST = 150
_SAYS_NOTHING = "(Goodbot says nothing)"

Act = Callable[..., Awaitable[None]]


async def play(act: Act) -> None:
    """The conversation. `act(who, text, ...)` says something, or reacts with `emoji` to what somebody said last."""
    await act("ana", "where is the spare key of the van?", mention=True, new=True)
    await act("ana", "@ben can you check?")
    await act("ben", "It hangs behind the front desk.", to="question")
    await act("tess", emoji="📚", on="ben")
    await act("ana", "thanks!", to="ben")
    await act("ben", "where can I find the van's spare key?", mention=True, new=True)
    await act("ben", "and the fuel card?", to="goodbot")
    await act("ben", "No, it's in room 5", to="goodbot")
    await act("ana", "where is the fuel card?", mention=True, new=True)
    await act("ana", "too long", to="goodbot")


def line(who: str, text: str, alone: str = "") -> str:
    """One line of the transcript, cut like a preview."""
    words = " ".join(text.split())
    shown = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1].rstrip()}…"
    return f"{who}{f' (only {alone} sees it)' if alone else ''}: {shown}"


async def on_slack(folder: Path) -> list[str]:
    """The transcript of one Slack channel."""
    lines: list[str] = []
    async with SlackServer() as server:
        people = {name: server.person(name) for name in ("ana", "ben", "tess")}
        channel = server.channel("help")
        for person in people.values():
            person.joins(channel)
        async with slack_bot(server, folder, BY_MEANING, teachers=(people["tess"].id,)) as bot:
            seen, said, root = set[str](), dict[str, Any](), ""

            async def act(
                who: str, text: str = "", *, mention: bool = False, new: bool = False, to: str = "", emoji: str = "",
                on: str = "",
            ) -> None:  # fmt: skip
                nonlocal root
                if emoji:
                    lines.append(f"{who} reacts {emoji} to {on}'s message")
                    people[who].reacts(said[on], "books")
                else:
                    lines.append(("" if new else "  ") + line(who, f"{'@goodbot ' if mention else ''}{text}"))
                    words = text.replace("@ben", f"<@{people['ben'].id}>")
                    said[who] = people[who].says(channel, words, thread_ts="" if new else root, mention=mention)
                    root = said[who].ts if new else root
                    seen.add(said[who].ts)
                await bot.session.settled()
                await bot.idle()
                before = len(lines)
                for message in server.messages(channel):
                    if message.user == server.workspace.bot.id and message.ts not in seen:
                        seen.add(message.ts)
                        lines.append("  " + line("goodbot", message.text))
                for name, person in people.items():
                    for private in server.ephemerals(person):
                        if private.ts not in seen:
                            seen.add(private.ts)
                            lines.append("  " + line("goodbot", private.text, alone=name))
                if len(lines) == before:
                    lines.append(f"  {_SAYS_NOTHING}")

            await play(act)
    return lines


async def on_discord(folder: Path) -> list[str]:  # noqa: C901 - one step after the other
    """The transcript of one Discord channel."""
    lines: list[str] = []
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        options: dict[str, Any] = {"reads": "everything", "answers": "post", "teachers": (tess.id,)}
        async with discord_bot(server, folder, BY_MEANING, **options) as bot:
            guild, channel = bot.session.guild, bot.session.general
            people = {name: server.person(name, guild) for name in ("ana", "ben", "tess")}
            seen, said = set[str](), dict[str, Any]()

            async def settled() -> None:
                marker = bot.session.asks("help", channel=server.channel(guild, "marker"), person=people["tess"])
                await server.until(lambda: server.said(marker.channel_id))
                if bot.session.messenger._context:
                    await bot.session.messenger._context.tasks.finished()
                await bot.idle()
                server.deletes(*server.messages(marker.channel_id))

            async def act(
                who: str, text: str = "", *, mention: bool = False, new: bool = False, to: str = "", emoji: str = "",
                on: str = "",
            ) -> None:  # fmt: skip
                if emoji:
                    lines.append(f"{who} reacts {emoji} to {on}'s message")
                    server.reacts(people[who], said[on], emoji)
                else:
                    answered = said.get(to)
                    arrow = f" (replying to the {to})" if to == "question" else f" (replying to {to})" if to else ""
                    lines.append(("" if new else "  ") + line(who + arrow, f"{'@Goodbot ' if mention else ''}{text}"))
                    words = text.replace("@ben", people["ben"].mention)
                    words = f"{server.bot.mention} {words}" if mention else words
                    said[who] = server.says(people[who], channel, words, reply_to=answered)
                    said.update({"question": said[who]} if new else {})
                await settled()
                before = len(lines)
                for message in server.said(channel):
                    if message.id not in seen:
                        seen.add(message.id)
                        said["goodbot"] = message
                        lines.append("  " + line("goodbot", message.content))
                for name, person in people.items():
                    for message in server.said(server.dm(person)):
                        if message.id not in seen:
                            seen.add(message.id)
                            lines.append("  " + line("goodbot", message.content, alone=name))
                if len(lines) == before:
                    lines.append(f"  {_SAYS_NOTHING}")

            await play(act)
    return lines


def main() -> None:
    """Print the transcript of one platform."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform", choices=("slack", "discord"))
    chosen = parser.parse_args().platform
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        played = on_slack(Path(folder)) if chosen == "slack" else on_discord(Path(folder))
        print("\n".join(asyncio.run(played)))


if __name__ == "__main__":
    main()
