"""Many people at the local Slack, in a process of their own, so that what they cost is not measured in the bot's."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection

from tests.doubles.slack import SlackServer
from tests.doubles.slack.people import Person
from tests.doubles.slack.state import Json, Message

TIMEOUT_S = 600.0
_POSTED = ("chat.postMessage", "chat.stopStream")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the crowd measured, in seconds."""

    answers: list[float]
    """From a question to the end of its answer."""
    reactions: list[float]
    """From a reaction to its acknowledgement, which the bot gives once it is committed."""
    complaints: list[str]


@dataclass
class _Crowd:
    server: SlackServer
    asked: dict[str, float] = field(default_factory=dict[str, float])
    answered: dict[str, float] = field(default_factory=dict[str, float])
    _read: int = 0

    def all_answered(self) -> bool:
        """Looks at new calls alone: it is asked after every event."""
        calls = self.server.slack.calls
        for call in calls[self._read :]:
            channel = str(call.args.get("channel", ""))
            if call.method in _POSTED and channel in self.asked:
                self.answered.setdefault(channel, time.perf_counter())
        self._read = len(calls)
        return len(self.answered) == len(self.asked)


def crowd(pipe: Connection, conversations: int, reactions: int, per_second: float) -> None:
    """Serve a Slack; once told to, ask in so many direct conversations at once, then react to the answers."""
    asyncio.run(_live(pipe, conversations, reactions, per_second))


async def _live(pipe: Connection, conversations: int, reactions: int, per_second: float) -> None:
    async with SlackServer() as server:
        environment: Mapping[str, str] = server.environment()
        pipe.send(environment)
        people = [server.person(f"person-{number}") for number in range(conversations)]
        await asyncio.to_thread(pipe.recv)
        answers = await _ask(server, people)
        pipe.send("answered")
        await asyncio.to_thread(pipe.recv)
        committed = await _react(server, people, reactions, per_second)
        complaints = [*server.slack.complaints, *server.slack.unknown_methods()]
        pipe.send(Seen(answers=answers, reactions=committed, complaints=complaints))
        await asyncio.to_thread(pipe.recv)


async def _ask(server: SlackServer, people: list[Person]) -> list[float]:
    present = _Crowd(server)
    for number, person in enumerate(people):
        text = f"what is {number}*7?" if number % 2 else f"who looks after machine {number} in the cellar?"
        channel = person.dm
        present.asked[channel] = time.perf_counter()
        person.says(channel, text)
    await server.wait_for(present.all_answered, TIMEOUT_S)
    return [present.answered[channel] - asked for channel, asked in present.asked.items()]


async def _react(server: SlackServer, people: list[Person], reactions: int, per_second: float) -> list[float]:
    """Everybody reacts in turn, and takes it back when their turn comes again."""
    answers = [_answer(server, person) for person in people]
    loop = asyncio.get_running_loop()
    taken: list[float] = []
    waiting = []
    began = loop.time()
    for number in range(reactions):
        await asyncio.sleep(max(0.0, began + number / per_second - loop.time()))
        person, answer = people[number % len(people)], answers[number % len(people)]
        act = person.reacts if (number // len(people)) % 2 == 0 else person.unreacts
        started = time.perf_counter()
        delivery = act(answer, "+1")
        assert delivery is not None
        delivery.done.add_done_callback(partial(_note, taken, started))
        waiting.append(delivery.done)
    async with asyncio.timeout(TIMEOUT_S):
        await asyncio.gather(*waiting)
    return taken


def _note(taken: list[float], started: float, _: "asyncio.Future[Json]") -> None:
    taken.append(time.perf_counter() - started)


def _answer(server: SlackServer, person: Person) -> Message:
    return server.said_by_bot(person.dm)[-1]
