"""Several processes on one PostgreSQL that share the shards of one Discord bot: who serves which servers."""

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.doubles.crew import live_and_die
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.ids import shard_of
from tests.doubles.discord_crew import discord_crew
from tests.doubles.postgres import new_database
from tests.doubles.process import Chat, Home
from tests.doubles.seats import AtDiscord

pytestmark = pytest.mark.process

SHARDS = 2


def seat_on(server: DiscordServer, shard: int) -> AtDiscord:
    """A seat in a server of this shard."""
    made = (server.guild(f"Guild {number}") for number in count())
    return AtDiscord(server, next(each for each in made if shard_of(each.id, SHARDS) == shard))


@dataclass
class Sharing:
    """A Discord with a seat on each shard, and processes that share the shards."""

    discord: DiscordServer
    seats: list[AtDiscord]
    home: Home
    stack: ExitStack

    def start(self) -> Chat:
        """One more process."""
        discord = {"DISCORD_TOKEN": self.discord.token, "DISCORD_API_URL": self.discord.api_url}
        settings = {"GOODBOT_DISCORD_SHARDS": str(SHARDS), "GOODBOT_DISCORD_IDENTIFY_PAUSE_S": "0.2"}
        command = [sys.executable, "-m", "bot", "discord"]
        process = Chat(command, self.home.folder, self.home.environment(discord | settings))
        return self.stack.enter_context(process)

    def asks_everywhere(self, sum_: str, answer: str) -> None:
        """Ana asks on every shard, and is answered once."""
        for seat in self.seats:
            assert_answered_once(seat, seat.says(f"what is {sum_}?"), f"{sum_} = {answer}")


@pytest.fixture
def sharing(tmp_path: Path) -> Iterator[Sharing]:
    home = Home(tmp_path, DATABASE_URL=new_database(), XDG_DATA_HOME=str(tmp_path / "data"))
    with DiscordServer() as discord, ExitStack() as stack:
        yield Sharing(discord, [seat_on(discord, shard) for shard in range(SHARDS)], home, stack)


def assert_answered_once(seat: AtDiscord, question: str, answer: str) -> None:
    """One message with this answer, which may be a late one."""
    seat.until_answered(question)
    assert [each.splitlines()[0] for each in seat.answers_to(question)] == [answer]


def shard_served_by(process: Chat) -> int:
    """The one shard that a process said last that it serves."""
    return int(re.findall(r"serving shard (\d+) of", process.told())[-1])


@pytest.mark.slow
def test_no_question_is_lost_or_doubled_when_any_of_four_processes_dies(tmp_path: Path) -> None:
    with discord_crew(Home(tmp_path), 4, seed=1, shards=3) as made:
        live_and_die(made, kills=10)
        made.assert_nothing_is_lost_or_doubled()


def test_the_shards_of_a_killed_process_are_served_by_another(sharing: Sharing) -> None:
    first, second = sharing.start(), sharing.start()
    for process in (first, second):
        process.wait_for_error("serving shard ")
    sharing.asks_everywhere("6 * 7", "42")
    seat = sharing.seats[shard_served_by(first)]
    asked = seat.says("what is 6 * 8?")
    first.kill()
    missed = seat.says("what is 6 * 9?")
    second.wait_for_error("serving shards 0, 1 of 2")
    assert_answered_once(seat, asked, "6 * 8 = 48")
    assert_answered_once(seat, missed, "6 * 9 = 54")
    sharing.asks_everywhere("7 * 8", "56")
    assert sharing.discord.invalid_calls() == []


def test_a_process_that_joins_serves_its_share_until_it_ends(sharing: Sharing) -> None:
    first = sharing.start()
    first.wait_for_error("serving shards 0, 1 of 2")
    sharing.asks_everywhere("6 * 7", "42")
    second = sharing.start()
    second.wait_for_error("serving shard 1 of 2")
    assert shard_served_by(first) == 0
    sharing.asks_everywhere("6 * 8", "48")
    ended = second.signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
    first.wait_for_error("serving shards 0, 1 of 2", times=2)
    sharing.asks_everywhere("6 * 9", "54")
    ended = first.signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
