"""Somebody is forgotten while others are busy with their words: between any two transactions of what these do."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pytest

from bot.conversation import messages
from bot.model import ModelReply, ModelRequest, PersonRetry
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.in_memory import IN_MEMORY
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.errors import EmbeddingFailed
from memory.model import Audience, Role, Vector
from memory.ports import EpisodeFilter, Transaction
from memory.rules.retrieval.similarity import unit_cosine
from tests.doubles.conversation import ANA, BOB, TEA, Chat, Oracle
from tests.doubles.memory_world import World
from tests.doubles.model import answer, call
from tests.doubles.stores import rows

W, WORD = ANA.workspace, "zyzzyva"
QUESTION = f"where is the {WORD}?"


class Watched(SqlStore):
    """Does something once, just before a transaction: the n-th from when it is told to."""

    def __init__(self) -> None:
        super().__init__(SqliteDatabase(IN_MEMORY))
        self._left = 0
        self._then: Callable[[], object] = int

    def before(self, number: int, then: Callable[[], object]) -> None:
        self._left, self._then = number, then

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._then()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        self._count()
        with super().read() as tx:
            yield tx

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        self._count()
        with super().write() as tx:
            yield tx

    @property
    def is_done(self) -> bool:
        return self._left <= 0


class FailingEmbedder(HashingEmbedder):
    """Fails while it is told to: what is said then has no vector."""

    fails = False

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.fails:
            raise EmbeddingFailed("not now")
        return super().embed(texts)


class Parrot(Oracle):
    """Repeats what it was shown."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        said = await super().reply(request)
        return answer(f"in the cellar, as I said about “{QUESTION}”") if WORD in repr(request) else said


def left(world: World) -> list[str]:
    """Where the word, or the vector of a question with it, is still stored."""
    store = world.memory.store
    held = [row for row in rows(store) if WORD in row]
    (telling,) = world.memory.embedder.embed([QUESTION])
    with store.read() as tx:
        every = [each.id for each in tx.episodes.search(W, EpisodeFilter(include_archived=True, limit=None))]
        vectors = tx.episodes.vectors(W, every).values()
    return held + ["vectors"] * any(unit_cosine(vector, telling) > 0.99 for _, vector in vectors)


async def retry(chat: Chat, answered: str) -> None:
    again = PersonRetry(event_id="again", scope=BOB, message_id=answered, at=chat.world.clock.tick())
    await chat.sink(again)


async def correct(chat: Chat, answered: str) -> None:
    await chat.correct("in the attic", BOB, message_id=answered)


async def ask_alike(chat: Chat, answered: str) -> None:
    """The agent is shown the lesson, and repeats it with its question."""
    await chat.sink(chat.message("where is it?", BOB))


async def ask_by_the_rule(chat: Chat, answered: str) -> None:
    """The agent is shown Ana's question in a rule, and not the lesson."""
    await chat.sink(chat.message("which key opens our gate?", BOB))


async def react(chat: Chat, answered: str) -> None:
    await chat.react(answered, by=BOB)


async def review(chat: Chat, answered: str) -> None:
    listed = await chat.command("review", by=TEA, role=Role.TEACHER)
    if "(`" in listed:
        ending = listed.rpartition("(`")[2].rstrip("`)")
        await chat.command("promote", f"{ending} workspace page 1", by=TEA, role=Role.TEACHER)


def ruled(world: World) -> None:
    """The teacher wrote the same about other questions. That is a rule now, which names Ana's too."""
    teach = partial(world.memory.teaching.teach, role=Role.TEACHER, audience=Audience.CHANNEL)
    for each in ("which key opens our garden?", "which key opens our barn?"):
        teach(TEA, each, "in the cellar", at=world.clock.tick())
    assert world.memory.upkeep.run("consolidate").error == ""
    recollection = world.memory.recalling.recall(BOB, "which key opens our gate?")
    assert WORD in repr(recollection.rules)
    assert WORD not in repr(recollection.exemplars)


ACTS = (retry, correct, ask_alike, ask_by_the_rule, react, review)


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
async def test_a_forget_between_any_two_transactions_leaves_nothing(
    act: Callable[[Chat, str], Awaitable[None]],
) -> None:
    number, is_reached = 0, True
    while is_reached:
        number += 1
        store = Watched()
        chat = Chat(World(store), Parrot())
        answered = await chat.ask(QUESTION)
        await chat.correct("in the cellar", message_id=answered, by=TEA, role=Role.TEACHER)
        if act is ask_by_the_rule:
            ruled(chat.world)
        store.before(number, lambda world=chat.world: world.memory.privacy.forget(W, "ana"))  # type: ignore[misc]
        await act(chat, answered)
        await chat.bot.idle()
        is_reached = store.is_done
        if is_reached:
            assert left(chat.world) == [], f"forgotten before transaction {number}"
            assert chat.world.memory.audit.check() == []
    assert number > 1  # a reaction is one transaction


async def test_a_question_shows_no_question_that_went_meanwhile() -> None:
    """What Bob proposed is offered to Tea, beside Ana's words that it is known for."""
    number, is_reached, has_shown = 0, True, False
    while is_reached:
        number += 1
        store = Watched()
        chat = Chat(World(store))
        await chat.correct("in the attic", BOB, message_id=await chat.ask(QUESTION))
        asked = "where may it be?"
        chat.oracle.answers[asked] = call("ask_person", question="Which?", options=[{"answer": "in the attic"}])
        store.before(number, lambda world=chat.world: world.memory.privacy.forget(W, "ana"))  # type: ignore[misc]
        await chat.sink(chat.message(asked, TEA))
        await chat.bot.idle()
        is_reached = store.is_done
        has_shown = has_shown or WORD in chat.messenger.answers[-1]
        if not is_reached:
            chat.world.memory.privacy.forget(W, "ana")
        assert left(chat.world) == [], f"forgotten before transaction {number}"
        assert chat.world.memory.audit.check() == []
    assert has_shown


async def test_an_answer_that_repeats_a_rule_goes_with_whose_question_it_names() -> None:
    chat = Chat(model=Parrot())
    await chat.correct("in the cellar", message_id=await chat.ask(QUESTION), by=TEA, role=Role.TEACHER)
    ruled(chat.world)
    await ask_by_the_rule(chat, "")
    await chat.bot.idle()
    assert WORD in chat.messenger.answers[-1]
    chat.world.memory.privacy.forget(W, "ana")
    assert left(chat.world) == []
    assert chat.world.memory.audit.check() == []


async def test_whoever_tries_a_question_again_that_is_gone_meanwhile_is_told_so() -> None:
    store = Watched()
    chat = Chat(World(store))
    answered = await chat.ask(QUESTION)
    with store.read() as tx:
        assert tx.channels.get(W, BOB.channel) is not None
    # The first looks at the channel, the second is that of the question.
    store.before(2, lambda: chat.world.memory.privacy.forget(W, "ana"))
    chat.messenger.posts.clear()
    await retry(chat, answered)
    await chat.bot.idle()
    assert store.is_done
    assert chat.messenger.notices == [messages.NO_SUCH_ANSWER]
    assert chat.messenger.answers == []


def test_a_correction_of_a_lesson_keeps_no_vector_of_a_question_that_went_meanwhile() -> None:
    store, embedder = Watched(), FailingEmbedder()
    world = World(store, embedder=embedder)
    embedder.fails = True
    lesson = world.correct(world.ask(QUESTION, of=ANA), "in the cellar", by="tea", role=Role.TEACHER)
    embedder.fails = False
    store.before(2, lambda: world.memory.privacy.forget(W, "ana"))
    world.correct(lesson, "in the attic", by="tea", role=Role.TEACHER)
    assert store.is_done
    assert left(world) == []
