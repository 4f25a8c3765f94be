"""A database with very many episodes: a year of questions, most of them copied from a smaller year."""

import random
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from memory.adapters.sql import SqlStore
from memory.model import Role, Visibility
from tests.doubles.memory_world import START, World, scope

PEOPLE, CHANNELS, WEEKS = 400, 40, 52
NOUNS = [f"{first}{last}" for first in ("key", "code", "form", "lamp", "door") for last in "abcdefghijklmnopqrst"]
PLACES = [f"{first}{last}" for first in ("office", "garage", "depot", "lab") for last in "abcdefghij"]
COPIES = 4
"""In all; each has ids of its own and everything that belongs to its episodes."""

_IDS = {
    *("id", "run_id", "parent_id", "episode_id", "retrieval_id", "event_id", "message_id", "node_id", "reply_to"),
    *("from_id", "to_id", "source_event_id", "event_digest"),
}
_SHARED = {"alembic_version", "people", "channels", "trust_records", "welcomes", "job_runs", "leases"}

_NUMBERS = 10_000_000
"""More than there are in one log."""


def make(path: Path, episodes: int) -> None:
    """Make the database."""
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        fill(World(store), episodes // COPIES)
    _copy(path)


def fill(world: World, count: int) -> None:
    """Questions of many people in many channels: most are approved, some are wrong, corrected or disputed."""
    chance = random.Random(7)
    begun, between = START - timedelta(weeks=WEEKS), timedelta(weeks=WEEKS) / count
    for number in range(count):
        world.clock.now = max(world.clock.now if number else begun, begun + number * between)
        channel = chance.randrange(CHANNELS)
        seen = Visibility.PUBLIC if channel % 4 else Visibility.PRIVATE
        who = scope(f"p{chance.randrange(PEOPLE)}", channel=f"c{channel}", visibility=seen)
        question = f"where is the {chance.choice(NOUNS)} of the {chance.choice(PLACES)}, number {number}?"
        episode = world.ask(question, f"in cupboard {number % 900}", of=who)
        fate = chance.random()
        if fate < 0.5:
            world.react(episode, "👍", by=who.person)
        elif fate < 0.6:
            world.react(episode, "👍", by=f"p{chance.randrange(20)}", role=Role.TEACHER)
        elif fate < 0.7:
            world.react(episode, "👎", by=who.person)
        elif fate < 0.702:
            world.correct(episode, f"in drawer {number}", by=who.person)
        elif fate < 0.704:
            world.react(episode, "👍", by=who.person)
            world.react(episode, "👎", by="p1", role=Role.TEACHER)


def _copy(path: Path) -> None:
    """Double every row of an episode, run or message, each time with new ids."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA foreign_keys=OFF")
        names = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table' AND sql NOT NULL")
            if name not in _SHARED and not name.startswith("sqlite_")
        ]
        rows = {name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")] for name in names}
        for number in range(1, COPIES):
            for name, columns in rows.items():
                given = ", ".join(_copied(column, number) for column in columns)
                source = next((column for column in columns if column in _IDS), "")
                if source:
                    database.execute(
                        f"INSERT INTO {name} ({', '.join(columns)}) SELECT {given} FROM {name} "
                        f"WHERE substr({source}, 1, 1) != '~'"
                    )


def _copied(column: str, number: int) -> str:
    if column == "seq":
        return f"seq + {number} * {_NUMBERS}"
    return f"CASE {column} WHEN '' THEN '' ELSE '~{number}' || {column} END" if column in _IDS else column
