"""Several real processes of the bot on one PostgreSQL that share the shards of one Discord bot."""

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count, pairwise
from threading import Event, Thread
from time import monotonic, sleep

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.model import Progress
from memory.services import Memory
from tests.doubles.crew import TIMEOUT_S, taken_over
from tests.doubles.discord import Channel, DiscordServer, Message, Person
from tests.doubles.discord.ids import shard_of
from tests.doubles.postgres import new_database
from tests.doubles.process import Chat, Home

_SUM = re.compile(r"(\d+ \+ \d+) = \d+")
_ASKED = re.compile(r"\d+ \+ \d+")
_LOOK_S = 0.02


@dataclass(frozen=True)
class Question:
    """What somebody asked, and where."""

    message: Message
    channel: Channel
    person: str

    @property
    def sum(self) -> str:
        """Which sum it asks for."""
        found = _ASKED.search(self.message.content)
        assert found is not None, self.message
        return found[0]

    @property
    def workspace(self) -> str:
        """Where memory files it."""
        return f"discord:{self.channel.guild_id}"


@dataclass
class DiscordCrew:
    """The processes, and the people who talk to them in one channel on each shard."""

    home: Home
    discord: DiscordServer
    url: str
    memory: Memory
    chance: random.Random
    channels: list[Channel]
    processes: list[Chat] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    liked: list[Message] = field(default_factory=list)
    liked_aloud: list[Message] = field(default_factory=list)
    """Those of them that a process was told of."""
    told: list[str] = field(default_factory=list)
    """What the killed ones wrote into their logs."""
    unheard_s: list[float] = field(default_factory=list)
    """How long shards were connected to no process, each time."""

    def start(self) -> Chat:
        """One more process."""
        discord = {"DISCORD_TOKEN": self.discord.token, "DISCORD_API_URL": self.discord.api_url}
        shards = {"GOODBOT_DISCORD_SHARDS": str(len(self.channels)), "GOODBOT_DISCORD_IDENTIFY_PAUSE_S": "0.2"}
        data = {"DATABASE_URL": self.url, "XDG_DATA_HOME": str(self.home.folder / "data")}
        command = [sys.executable, "-m", "bot", "discord"]
        return Chat(command, self.home.folder, self.home.environment(discord | shards | data))

    def kill(self, number: int) -> None:
        """`kill -9`, and another one in its place."""
        killed = self.processes[number]
        killed.kill()
        self.told.append(killed.told())
        self.processes[number] = self.start()

    # What people do ---------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Somebody asks for another sum, once what they asked there before was taken in."""
        channel, name = self.chance.choice(self.channels), self.chance.choice(["ana", "bo", "cleo"])
        before = [each for each in self.asked if (each.channel, each.person) == (channel, name)]
        self.until(lambda: all(map(self.is_taken_in, before[-1:])))
        person = self.person(name, channel.guild_id)
        text = f"what is {1000 + len(self.asked)} + {self.chance.randrange(100, 1000)}?"
        message = self.discord.says(person, channel, f"{self.discord.bot.mention} {text}")
        self.asked.append(Question(message, channel, name))

    def person(self, name: str, guild: str) -> Person:
        """Somebody who is in a guild."""
        return self.discord.person(name, self.discord.state.guilds[guild])

    def like(self) -> None:
        """A thumb on some answer that nobody liked yet."""
        answers = [each for each in self.answers() if each not in self.liked]
        if answers:
            answer = self.chance.choice(answers)
            self.liked.append(answer)
            if shard_of(answer.guild_id, len(self.channels)) in self.discord.shards_heard():
                self.liked_aloud.append(answer)
            self.discord.reacts(self.person("ana", answer.guild_id), answer, "👍")

    def act(self) -> None:
        """One of these."""
        (self.like if self.chance.random() < 0.2 else self.ask)()

    # What is seen -----------------------------------------------------------------------------------------------

    def is_taken_in(self, question: Question) -> bool:
        """Whether a process has stored it."""
        with self.memory.store.read() as tx:
            return tx.deliveries.incoming(question.workspace, question.message.id) is not None

    def until_taken_in(self) -> None:
        """Until every question is stored."""
        self.until(lambda: all(map(self.is_taken_in, self.asked)))

    def answers(self) -> list[Message]:
        """What the bot has answered."""
        said = (each for channel in self.channels for each in self.discord.said(channel))
        return [each for each in said if sum_in(each)]

    def until_answered(self) -> None:
        """Until each question has an answer."""
        asked = {each.sum for each in self.asked}
        self.until(lambda: asked <= {sum_in(each) for each in self.answers()})

    def until(self, is_so: Callable[[], bool]) -> None:
        """Until something is so that no process tells of."""
        began = monotonic()
        while not is_so():
            assert monotonic() - began < TIMEOUT_S, "\n".join(each.told()[-3000:] for each in self.processes)
            sleep(0.1)

    def taken_over(self) -> int:
        """How many messages a process took over from a dead one."""
        return taken_over([*self.told, *(each.told() for each in self.processes)])

    def votes(self, liked: Iterable[Message]) -> int:
        """How many of these thumbs count."""
        answered = {sum_in(each) for each in liked}
        return sum(len(self._votes(each)) for each in self.asked if each.sum in answered)

    def _votes(self, question: Question) -> list[int]:
        with self.memory.store.read() as tx:
            message = tx.deliveries.incoming(question.workspace, question.message.id)
        assert message is not None
        return [vote.value for vote in self.memory.audit.run(question.workspace, message.run_id).votes if vote.value]

    # The law ----------------------------------------------------------------------------------------------------

    def assert_nothing_is_lost_or_doubled(self) -> None:
        """Each question was answered once, those of a person in a channel in order, and no thumb is two votes."""
        answers = self.answers()
        assert Counter(map(sum_in, answers)) == {each.sum: 1 for each in self.asked}
        ids = {sum_in(each): int(each.id) for each in answers}
        conversations = defaultdict[tuple[str, str], list[str]](list)
        for each in self.asked:
            conversations[each.channel.id, each.person].append(each.sum)
        for sums in conversations.values():
            assert all(ids[one] < ids[next_] for one, next_ in pairwise(sums)), sums
        self.until(lambda: not self.memory.recording.unfinished())
        assert self.memory.audit.check() == []
        for each in self.asked:
            with self.memory.store.read() as tx:
                message = tx.deliveries.incoming(each.workspace, each.message.id)
            assert message is not None
            assert message.progress is Progress.DELIVERED
            assert len(self._votes(each)) <= 1

    def _watch(self, end: Event) -> None:
        """Write down how long each shard is heard by no process."""
        missing: dict[int, float] = {}
        while not end.wait(_LOOK_S):
            now, heard = monotonic(), self.discord.shards_heard()
            for shard in range(len(self.channels)):
                if shard not in heard:
                    missing.setdefault(shard, now)
                elif shard in missing:
                    self.unheard_s.append(now - missing.pop(shard))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """`unheard_s` is written meanwhile."""
        end = Event()
        watching = Thread(target=self._watch, args=[end])
        watching.start()
        try:
            yield
        finally:
            end.set()
            watching.join()


def sum_in(answer: Message) -> str:
    """Which sum an answer gives; empty for anything else."""
    found = _SUM.search(answer.content)
    return found[1] if found else ""


@contextmanager
def discord_crew(home: Home, number: int, seed: int, shards: int) -> Iterator[DiscordCrew]:
    """So many processes that share so many shards; they end with the context."""
    url = new_database()
    with DiscordServer() as discord, closing(SqlStore.open(url)) as store, ExitStack() as stack:
        memory = Memory(store, HashingEmbedder(), clock=utc_now, new_id=TimeOrderedIds())
        made = (discord.guild(f"Guild {number}") for number in count())
        guilds = [next(each for each in made if shard_of(each.id, shards) == shard) for shard in range(shards)]
        channels = [discord.channel(guild, "general") for guild in guilds]
        found = DiscordCrew(home, discord, url, memory, random.Random(seed), channels)
        stack.callback(lambda: [process.kill() for process in found.processes])
        found.processes += [found.start() for _ in range(number)]
        found.until(lambda: discord.shards_heard() == set(range(shards)))
        stack.enter_context(found.watched())
        yield found
