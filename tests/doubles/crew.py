"""Several real processes of the bot on one PostgreSQL, all of them on Slack.

They are behind one address that Slack sends signed requests to, or each has a connection of its own (Socket Mode).
"""

import asyncio
import random
import re
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic, sleep
from typing import Protocol

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.model import Incoming, Progress
from memory.ports import EpisodeFilter
from memory.services import Memory
from tests.doubles.postgres import new_database
from tests.doubles.process import Chat, Home
from tests.doubles.slack import Workspace
from tests.doubles.slack.core import CLIENT_ID, CLIENT_SECRET
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack.state import Message
from tests.doubles.slack_workspaces_driver import KEY, install_beforehand

TIMEOUT_S = 90.0
ACKNOWLEDGED_WITHIN_S = 3.0
"""After so long Slack sends again what was written to a connection and not acknowledged."""
_SUM = re.compile(r"(\d+ \+ \d+) = \d+")
_EVERY = EpisodeFilter(include_archived=True, limit=None)


def free_ports(number: int) -> list[int]:
    """So many ports that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


@dataclass
class Crew:
    """The processes, and the people who talk to them."""

    home: Home
    slack: SlackThread
    url: str
    chance: random.Random
    ports: list[int]
    mode: str = "http"
    """Or `socket`."""
    workspaces: list[Workspace] = field(default_factory=list)
    """More than one have installed the app."""
    places: dict[str, Workspace] = field(default_factory=dict)
    """In which of them a sum was asked for."""
    processes: list[Chat] = field(default_factory=list)
    threads: list[list[Message]] = field(default_factory=list)
    """The questions of each thread, in the order they were asked, each after the one before was taken in."""
    liked: list[Message] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """What the killed ones wrote into their logs."""

    def start(self, port: int) -> Chat:
        """One more process."""
        slack = self.slack.server.environment() | {"GOODBOT_SLACK_MODE": self.mode}
        slack["GOODBOT_SLACK_HTTP_PORT"] = str(port)
        if len(self.workspaces) > 1:
            secrets = {"SLACK_CLIENT_SECRET": CLIENT_SECRET, "GOODBOT_SLACK_TOKEN_KEY": KEY}
            slack |= {"SLACK_BOT_TOKEN": "", "SLACK_CLIENT_ID": CLIENT_ID} | secrets
        data = {"DATABASE_URL": self.url, "XDG_DATA_HOME": str(self.home.folder / "data")}
        return Chat([sys.executable, "-m", "bot", "slack"], self.home.folder, self.home.environment(slack | data))

    def kill(self, number: int) -> None:
        """`kill -9`, and another one in its place."""
        killed = self.processes[number]
        killed.kill()
        self.told.append(killed.told())
        self.processes[number] = self.start(self.ports[number])

    def only(self, *numbers: int) -> None:
        """From now on requests go to these processes in turn."""
        urls = [f"http://127.0.0.1:{self.ports[each]}/slack/events" for each in numbers]
        self.slack.do(self.slack.server.deliver_to_any, urls)

    # What people do ---------------------------------------------------------------------------------------------

    def ask(self, thread: list[Message]) -> None:
        """Ask for another sum, once the question before it in the thread was taken in."""
        if thread:
            self.until_taken_in()
        number, server = sum(map(len, self.threads)), self.slack.server
        place = self.places[sum_of(thread[0])] if thread else self.chance.choice(self.workspaces)
        person = server.person(self.chance.choice(["ana", "bo", "cleo"]), workspace=place)
        text = f"what is {1000 + number} + {self.chance.randrange(100, 1000)}?"
        root, channel = thread[0].ts if thread else "", server.channel("general", workspace=place)
        thread.append(self.slack.do(lambda: person.says(channel, text, thread_ts=root)))
        self.places[_plain(text)] = place

    def begin(self) -> None:
        """A question that begins a thread."""
        self.threads.append([])
        self.ask(self.threads[-1])

    def like(self) -> None:
        """A thumb on some answer that nobody liked yet."""
        answers = [each for each in self.answers() if each not in self.liked]
        if answers:
            answer = self.chance.choice(answers)
            self.liked.append(answer)
            ana = self.slack.server.person("ana", workspace=self.places[sum_in(answer)])
            self.slack.do(lambda: ana.reacts(answer, "+1"))

    def act(self) -> None:
        """One of these."""
        if self.threads and self.chance.random() < 0.35:
            self.ask(self.chance.choice(self.threads[-3:]))
        elif self.chance.random() < 0.25:
            self.like()
        else:
            self.begin()

    # What is seen -----------------------------------------------------------------------------------------------

    def until_taken_in(self) -> None:
        """Until every event is acknowledged."""
        server = self.slack.server
        deliveries, by_request = server.deliveries, self.mode == "http"
        self.until(lambda: not deliveries.waiting and not (server._posting if by_request else deliveries.outstanding()))

    def answers(self) -> list[Message]:
        """What the bot has answered."""
        return self.slack.do(lambda: [each for place in self.workspaces for each in self._answers_in(place)])

    def _answers_in(self, place: Workspace) -> list[Message]:
        said = place.said_by_bot(self.slack.server.channel("general", workspace=place))
        return [each for each in said if sum_in(each)]

    def questions(self) -> list[Message]:
        """All of them."""
        return [question for thread in self.threads for question in thread]

    def until_answered(self) -> None:
        """Until each question has an answer."""
        asked = {sum_of(each) for each in self.questions()}
        self.until(lambda: asked <= {sum_in(each) for each in self.answers()})

    def until(self, is_so: Callable[[], bool]) -> None:
        """Until something is so that no process tells of."""
        began = sent = monotonic()
        while not is_so():
            now = monotonic()
            assert now - began < TIMEOUT_S, "\n".join(each.told()[-3000:] for each in self.processes)
            if self.mode == "socket" and now - sent > ACKNOWLEDGED_WITHIN_S:
                sent = now
                self.slack.do(self.slack.server.deliveries.redeliver_unacked)
            sleep(0.1)

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """The memory that they share."""
        store = SqlStore.open(self.url)
        try:
            yield Memory(store, HashingEmbedder(), clock=utc_now, new_id=TimeOrderedIds())
        finally:
            store.close()

    def taken_over(self) -> int:
        """How many messages a process took over from a dead one."""
        return taken_over([*self.told, *(each.told() for each in self.processes)])

    # The law ----------------------------------------------------------------------------------------------------

    def assert_nothing_is_lost_or_doubled(self) -> None:
        """Each question was answered once, in order within its thread, and each thumb is one vote."""
        answers = self.answers()
        assert Counter(map(sum_in, answers)) == {sum_of(each): 1 for each in self.questions()}
        stamps = {sum_in(each): float(each.ts) for each in answers}
        for thread in self.threads:
            assert all(stamps[sum_of(one)] < stamps[sum_of(next_)] for one, next_ in pairwise(thread)), thread
        with self.memory() as memory:
            self.until(lambda: not memory.recording.unfinished())
            assert memory.audit.check() == []
            said = stored(memory)
            assert {each.progress for each in said} == {Progress.DELIVERED}
            assert Counter(_plain(each.text) for each in said) == {sum_of(each): 1 for each in self.questions()}
            runs = {_plain(each.text): each.run_id for each in said}
            for answer in answers:
                view = memory.audit.run(f"slack:{self.places[sum_in(answer)].id}", runs[sum_in(answer)])
                assert [entry.message_id for entry in view.ledger] == [answer.ts]
                assert len(view.votes) == (answer in self.liked)


def stored(memory: Memory) -> list[Incoming]:
    """Every message of people, in the order they were written."""
    with memory.store.read() as tx:
        people = {
            (place, each.person) for place in memory.store.workspaces() for each in tx.episodes.search(place, _EVERY)
        }
        found = [each for place, who in people for each in tx.deliveries.messages_of(place, "", who, 1_000_000)]
    return sorted(found, key=lambda each: each.at)


def sum_in(answer: Message) -> str:
    """Which sum an answer gives; empty for anything else."""
    found = _SUM.search(answer.text)
    return found[1] if found else ""


def sum_of(question: Message) -> str:
    """Which sum a question asks for."""
    return _plain(question.text)


def _plain(text: str) -> str:
    found = re.search(r"\d+ \+ \d+", text)
    assert found is not None, text
    return found[0]


@contextmanager
def crew(home: Home, number: int, seed: int, mode: str = "http", workspaces: int = 1) -> Iterator[Crew]:
    """So many processes that all listen or are connected, for so many workspaces; they end with the context."""
    with SlackThread() as slack, ExitStack() as stack:
        ports = free_ports(number)
        made = Crew(home, slack, new_database(), random.Random(seed), ports, mode, [slack.server.workspace])
        made.workspaces += [
            slack.do(slack.server.add_workspace, f"T000{2 + n}", f"w{n}") for n in range(workspaces - 1)
        ]
        if workspaces > 1:
            SqlStore.open(made.url).close()
            asyncio.run(install_beforehand(made.url, *made.workspaces))
        stack.callback(lambda: [process.kill() for process in made.processes])
        made.processes += [made.start(port) for port in ports]
        for process in made.processes:
            process.wait_for_error("connected to Slack")
        if mode == "http":
            made.only(*range(number))
        yield made


class Talked(Protocol):
    """Processes that people talk to."""

    chance: random.Random
    processes: list[Chat]

    def act(self) -> None:
        """Somebody does something."""
        ...

    def kill(self, number: int) -> None:
        """`kill -9` for one process, and another one in its place."""
        ...

    def until_taken_in(self) -> None:
        """Until everything that was done is taken in."""
        ...

    def until_answered(self) -> None:
        """Until each question has an answer."""
        ...


def live_and_die(made: Talked, kills: int) -> None:
    """People talk while one process after the other is killed at random."""
    for _ in range(kills):
        for _ in range(made.chance.randrange(1, 5)):
            made.act()
        # Nothing is waited for: this is the random moment.
        sleep(made.chance.uniform(0, 0.4) if made.chance.random() < 0.8 else 2.0)
        made.kill(made.chance.randrange(len(made.processes)))
    made.until_taken_in()
    made.until_answered()


def taken_over(logs: Iterable[str]) -> int:
    """How many messages processes took over from dead ones, by their logs."""
    return sum(int(number) for log in logs for number in re.findall(r"took over (\d+) messages", log))
