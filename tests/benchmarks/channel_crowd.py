"""Many people who all ask in one channel at once, in a process of their own."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection

from tests.doubles.discord import DiscordServer
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import Call, Json

TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the crowd measured, in seconds."""

    answers: list[float]
    """From a question to its answer, complete."""
    acknowledged: list[float] = field(default_factory=list[float])
    """From an event to its acknowledgement; Discord has none."""


def question(number: int) -> str:
    """Half of them can be worked out, half are not known."""
    return f"what is {number}*7?" if number % 2 else f"who looks after machine {number} in the cellar?"


def slack_crowd(pipe: Connection, people: int) -> None:
    """Serve a Slack; once told to, let so many people mention the bot in one channel."""
    asyncio.run(_in_slack(pipe, people))


def discord_crowd(pipe: Connection, people: int) -> None:
    """The same on Discord, in a channel without threads."""
    asyncio.run(_in_discord(pipe, people))


@dataclass
class _Watched:
    """When each thread of a Slack channel had its answer."""

    server: SlackServer
    answered: dict[str, float] = field(default_factory=dict[str, float])
    _read: int = 0

    def count(self) -> int:
        """Looks at new calls alone: it is asked after every event."""
        calls = self.server.slack.calls
        for call in calls[self._read :]:
            self._note(call)
        self._read = len(calls)
        return len(self.answered)

    def _note(self, call: Call) -> None:
        thread = str(call.args.get("thread_ts", ""))
        if call.method == "chat.stopStream":
            thread = self.server.workspace.message(str(call.args["channel"]), str(call.args["ts"])).thread_ts
        if call.method in ("chat.stopStream", "chat.postMessage"):
            self.answered.setdefault(thread, time.perf_counter())


async def _in_slack(pipe: Connection, count: int) -> None:
    async with SlackServer() as server:
        pipe.send(dict(server.environment()))
        people = [server.person(f"person-{number}") for number in range(count)]
        general = server.channel("general")
        await asyncio.to_thread(pipe.recv)
        present, asked, acknowledged = _Watched(server), dict[str, float](), list[float]()
        known, began = set(server.deliveries.sent), time.perf_counter()
        for number, person in enumerate(people):
            asked[person.says(general, question(number)).ts] = time.perf_counter()
        for delivery in {*server.deliveries.waiting, *server.deliveries.sent} - known:
            delivery.done.add_done_callback(partial(_note, acknowledged, began))
        await server.wait_for(lambda: present.count() == count, TIMEOUT_S)
        answers = [present.answered[ts] - at for ts, at in asked.items()]
        pipe.send(Asked(answers=answers, acknowledged=acknowledged))
        await asyncio.to_thread(pipe.recv)


def _note(taken: list[float], began: float, _: "asyncio.Future[Json]") -> None:
    taken.append(time.perf_counter() - began)


async def _in_discord(pipe: Connection, count: int) -> None:
    async with DiscordServer() as server:
        environment: Mapping[str, str] = {"DISCORD_API_URL": server.api_url, "DISCORD_TOKEN": server.token}
        pipe.send(environment)
        guild = server.guild("Home")
        general = server.channel(guild)
        people = [server.person(f"person-{number}", guild) for number in range(count)]
        await asyncio.to_thread(pipe.recv)
        await server.until(server.is_connected)
        asked = dict[str, float]()
        for number, person in enumerate(people):
            now = time.perf_counter()
            asked[server.says(person, general, f"{server.bot.mention} {question(number)}").id] = now
        answered = dict[str, float]()

        def all_answered() -> bool:
            for message in server.said(general)[len(answered) :]:
                answered.setdefault(message.reply_to, time.perf_counter())
            return len(answered) == count

        await server.until(all_answered, TIMEOUT_S)
        pipe.send(Asked(answers=[answered[key] - began for key, began in asked.items()]))
        await asyncio.to_thread(pipe.recv)
