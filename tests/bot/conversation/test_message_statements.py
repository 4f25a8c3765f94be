"""What a message costs the store, from the event to the posted answer: statements and transactions, counted."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from memory.adapters.sql import SqlStore
from tests.doubles.conversation import Chat
from tests.doubles.memory_world import World, scope

MOST, TRANSACTIONS = 16, 4
"""Accepted; what was said before with what is recalled; committed; noted as posted."""

QUESTION = "how do I reset the router?"
ANSWER = "hold the button for ten seconds"


class Count:
    """The statements that a store runs from now on."""

    def __init__(self, store: SqlStore) -> None:
        self.all: list[str] = []
        event.listen(store._engine, "before_cursor_execute", self._before)

    def _before(self, _: object, __: object, statement: str, *___: object) -> None:
        self.all.append(" ".join(statement.split()))

    @property
    def transactions(self) -> int:
        return sum(each.startswith("BEGIN") for each in self.all)

    @property
    def statements(self) -> list[str]:
        return [each for each in self.all if not each.startswith(("BEGIN", "COMMIT", "PRAGMA"))]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as store:
        yield store


@pytest.fixture
def chat(store: SqlStore) -> Chat:
    return Chat(World(store))


async def teach(chat: Chat, question: str, answer: str, person: str = "ana") -> str:
    """Somebody asks, and approves of the answer. Returns its message."""
    chat.oracle.answers[question] = answer
    message = await chat.ask(question, scope(person))
    await chat.react(message, by=scope(person))
    return message


async def test_a_message_whose_answer_rests_on_a_lesson(store: SqlStore, chat: Chat) -> None:
    await teach(chat, QUESTION, ANSWER)
    count = Count(store)
    await chat.ask(QUESTION)
    assert chat.messenger.posts[-1].lessons == (f"“{QUESTION}” (100% match, taught by ana)",)
    assert len(count.statements) <= MOST, count.statements
    assert count.transactions == TRANSACTIONS


async def test_a_message_whose_answer_rests_on_several_lessons(store: SqlStore, chat: Chat) -> None:
    for ending, answer in (
        ("?", ANSWER),
        (" at home?", f"{ANSWER}, then wait for the green lamp"),
        (" in the attic?", f"climb up and {ANSWER}, or call Ivan"),
    ):
        await teach(chat, f"how do I reset the router{ending}", answer)
    count = Count(store)
    await chat.ask(QUESTION)
    assert len(chat.messenger.posts[-1].lessons) == 3
    assert len(count.statements) <= MOST, count.statements
    assert count.transactions == TRANSACTIONS


async def test_a_message_about_a_mistake_and_its_correction(store: SqlStore, chat: Chat) -> None:
    chat.oracle.answers[QUESTION] = "kick it as hard as you can"
    wrong = await chat.ask(QUESTION)
    await chat.react(wrong, "👎")
    await chat.correct(ANSWER, message_id=wrong)
    chat.oracle.answers[QUESTION] = ANSWER
    count = Count(store)
    await chat.ask(QUESTION)
    assert chat.messenger.posts[-1].lessons == (f"“{QUESTION}” (100% match, taught by ana)",)
    assert len(count.statements) <= MOST, count.statements
    assert count.transactions == TRANSACTIONS


async def test_a_message_after_another_process_changed_what_it_rests_on(
    store: SqlStore, chat: Chat, tmp_path: Path
) -> None:
    await teach(chat, QUESTION, ANSWER)
    await chat.ask(QUESTION)
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as second:
        other = World(second)
        other.clock.tick(hours=1)  # so that it makes other ids
        for place, what in (("at home", "then wait"), ("in the attic", "or call Ivan"), ("at work", "or ask Eve")):
            other.react(other.ask(f"how do I reset the router {place}?", f"{ANSWER}, {what}"))
            count = Count(store)
            await chat.ask(QUESTION)
            assert any(place in each for each in chat.messenger.posts[-1].lessons), chat.messenger.posts[-1].lessons
            assert len(count.statements) <= MOST, count.statements
            assert count.transactions == TRANSACTIONS
