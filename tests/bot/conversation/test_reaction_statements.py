"""What a reaction costs the database, on its whole path: from a messenger's event to the mark on the answer.

Whatever begins, ends or configures a transaction is no statement; transactions are counted by themselves.
"""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from bot.conversation.feedback import handler
from bot.model import PersonVote, ReactionsCleared
from memory.adapters.sql import SqlStore
from memory.model import TeachingPolicy, Visibility
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.memory_world import World
from tests.doubles.model import ByGoal, answer, expand

QUESTION = "how do I reset the router"
PARTS = ("find the router button", "press the router button", "wait for the router lamp")
MOST = 12
"""Statements of one reaction."""
NO_STATEMENTS = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")


class Counter:
    """The statements of a store, as they come."""

    def __init__(self, store: SqlStore) -> None:
        self._statements: list[str] = []
        event.listen(store._engine, "before_cursor_execute", lambda _, __, text, *___: self._statements.append(text))

    async def of(self, act: Awaitable[object]) -> tuple[int, int]:
        """(statements, transactions) of an act."""
        self._statements.clear()
        await act
        transactions = sum(text.startswith("BEGIN") for text in self._statements)
        return sum(not text.startswith(NO_STATEMENTS) for text in self._statements), transactions


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as store:
        yield store


async def answered(store: SqlStore, policy: TeachingPolicy | None = None) -> tuple[Chat, str, Counter]:
    """A conversation with an answer of several nodes that used a lesson, and the message it was posted in."""
    world = World(store, policy=policy)
    lesson = world.ask(QUESTION, "hold the button of the router for long")
    for person in ("ana", "bob", "tea"):
        world.react(lesson, by=person)
    nodes = {QUESTION: [expand("sequence", *PARTS)]}
    nodes |= {part: [answer("hold the button of the router for long")] for part in PARTS}
    chat = Chat(world, model=ByGoal(nodes))
    posted = await chat.ask(QUESTION)
    roots = world.memory.audit.episodes(ANA.workspace, EpisodeFilter(roots_only=True))
    assert [len(world.nodes(root)) for root in roots] == [1 + len(PARTS), 1]
    assert world.episode(lesson).used_count > 0
    return chat, posted, Counter(store)


def test_a_reaction_takes_few_statements_in_one_transaction(store: SqlStore) -> None:
    async def story() -> None:
        chat, posted, counter = await answered(store)
        acts = [
            (ANA, "👍", True),  # all nodes become lessons of hers
            (BOB, "👍", True),
            (TEA, "👍", True),  # and of the channel
            (TEA, "👍", False),
            (ANA, "👍", False),
            (BOB, "👍", False),
            (ANA, "👎", True),  # a mistake to her, which she is asked about
            (ANA, "👍", True),  # the later one counts
            (ANA, "👍", False),
            (BOB, "👎", True),
            (TEA, "👎", True),  # and to the channel
            (ANA, "👎", False),
        ]
        seen = []
        for by, emoji, added in acts:
            statements, transactions = await counter.of(chat.react(posted, emoji, by, added=added))
            assert (statements <= MOST, transactions) == (True, 1), (by.person, emoji, added, statements)
            seen.append(chat.mark[posted])
        assert seen == [True] * 4 + [False] * 2 + [True] * 6
        asked = handler.ask_correction(chat.messenger.how_to_type)
        assert [post.private_to for post in chat.messenger.posts if post.text == asked] == ["ana", "bob", "tea"]
        assert chat.world.memory.audit.check() == []

    asyncio.run(story())


def test_a_reaction_that_moves_the_threshold_or_brings_a_newcomer_takes_two_more(store: SqlStore) -> None:
    async def story() -> None:
        chat = Chat(World(store))
        chat.oracle.answers[QUESTION] = "hold the button for long"
        await chat.react(await chat.ask(QUESTION))
        again, counter, seen = await chat.ask(QUESTION), Counter(store), list[int]()
        await chat.react(again, by=TEA)  # the threshold is counted for the first time
        for by, emoji in ((ANA, "👍"), (ANA, "👎"), (BOB, "👍"), (TEA, "👍")):
            statements, transactions = await counter.of(chat.react(again, emoji, by))
            seen.append(statements)
            assert transactions == 1
        assert seen[0] <= MOST
        assert max(seen) <= MOST + 2
        with store.read() as tx:
            (root,) = tx.episodes.search(ANA.workspace, EpisodeFilter(roots_only=True, limit=1))
            assert [each.actor for each in tx.judgements.of_run(ANA.workspace, root.run_id)] == ["ana", "bob", "tea"]

    asyncio.run(story())


def test_what_changes_nothing_takes_fewer(store: SqlStore) -> None:
    async def story() -> None:
        chat, posted, counter = await answered(store)
        await chat.react(posted, event_id="once")
        assert await counter.of(chat.react(posted, event_id="once")) == (2, 1)
        assert await counter.of(chat.react("a message of somebody", "👍", BOB)) == (7, 1)
        assert await counter.of(chat.react(posted, "🦆", BOB)) == (0, 0)

    asyncio.run(story())


def test_a_button_takes_as_few(store: SqlStore) -> None:
    async def story() -> None:
        chat, posted, counter = await answered(store)
        for value, is_lesson in ((1, True), (-1, True), (0, False)):
            press = PersonVote(
                event_id=chat.world.ids(), scope=ANA, message_id=posted, value=value, at=chat.world.clock.tick()
            )
            statements, transactions = await counter.of(chat.sink(press))
            assert (statements <= MOST, transactions) == (True, 1), (value, statements)
            assert chat.mark[posted] is is_lesson

    asyncio.run(story())


def test_cleared_reactions_are_one_transaction(store: SqlStore) -> None:
    async def story() -> None:
        chat, posted, counter = await answered(store)
        await chat.react(posted)
        await chat.react(posted, by=BOB)
        cleared = ReactionsCleared(
            event_id=chat.world.ids(), scope=TEA, message_id=posted, emoji="👍", at=chat.world.clock.tick()
        )
        assert (await counter.of(chat.sink(cleared)))[1] == 1
        assert chat.mark[posted] is False

    asyncio.run(story())


def test_a_vote_beyond_the_limit_and_a_channel_that_closes_stay_in_one_transaction(store: SqlStore) -> None:
    async def story() -> None:
        chat, posted, counter = await answered(store, TeachingPolicy(votes_per_window=1))
        statements, transactions = await counter.of(chat.react(posted, by=BOB))
        assert (statements <= MOST + 1, transactions) == (True, 1), statements
        assert chat.messenger.notices == [handler.too_many_votes(TeachingPolicy(votes_per_window=1))]
        closed = replace(ANA, visibility=Visibility.PRIVATE)
        assert (await counter.of(chat.react(posted, by=closed)))[1] == 1
        known = chat.world.memory.channels.last_known(ANA)
        assert known.visibility is Visibility.PRIVATE

    asyncio.run(story())
