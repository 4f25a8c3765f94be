"""While an answer is under way: who may stop it, and what is said meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.errors import ChannelNotFound, MessengerError, NotPermitted
from memory.model import Role
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.memory_world import scope


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()


async def begun(chat: Chat) -> None:
    chat.oracle.gates["slow"] = asyncio.Event()
    await chat.sink(chat.message("slow"))
    await chat.oracle.arrived.get()


async def test_only_whoever_asked_stops_an_answer(chat: Chat) -> None:
    await begun(chat)
    assert await chat.command("stop", by=BOB) == "Only whoever asked that, or a teacher, can stop it."
    assert await chat.command("stop") == "Stopped."
    assert await chat.command("stop") in ("Stopped.", "I am not working on anything here.")


async def test_a_teacher_stops_anybodys_answer(chat: Chat) -> None:
    await begun(chat)
    assert await chat.command("stop", by=TEA, role=Role.TEACHER) == "Stopped."


async def test_nobody_waits_for_another_persons_question_outside_of_threads(chat: Chat) -> None:
    await begun(chat)
    for text, who in (("mine?", ANA), ("yours?", BOB), ("yours too?", BOB)):
        await chat.sink(chat.message(text, who))
    for expected in ("yours?", "yours too?"):
        assert (await chat.messenger.arrived.get()).text == f"the answer to {expected}"
    assert "" not in chat.messenger.shown  # something is still being worked on there
    chat.oracle.gates["slow"].set()
    await chat.bot.idle()
    assert chat.messenger.answers[2:] == ["the answer to slow", "the answer to mine?"]
    assert chat.messenger.shown[-1] == ""


async def test_in_a_thread_questions_wait_for_each_other(chat: Chat) -> None:
    chat.oracle.gates["slow"] = asyncio.Event()
    for text, who in (("slow", ANA), ("and this?", BOB)):
        await chat.sink(chat.message(text, replace(who, thread="t1")))
    assert await chat.oracle.arrived.get() == "slow"
    chat.oracle.gates["slow"].set()
    await chat.bot.idle()
    assert chat.messenger.answers == ["the answer to slow", "the answer to and this?"]


async def test_of_several_answers_outside_of_threads_a_person_stops_their_own_and_a_teacher_the_last(
    chat: Chat,
) -> None:
    for who in (ANA, BOB):
        question = f"slow for {who.person}"
        chat.oracle.gates[question] = asyncio.Event()
        await chat.sink(chat.message(question, who))
        assert await chat.oracle.arrived.get() == question
    assert await chat.command("stop", by=TEA) == "Only whoever asked that, or a teacher, can stop it."
    assert await chat.command("stop") == "Stopped."
    chat.oracle.gates["slow for ana"].set()
    assert await chat.command("stop", by=TEA, role=Role.TEACHER) == "Stopped."
    chat.oracle.gates["slow for bob"].set()
    await chat.bot.idle()
    assert ["I was asked to stop" in text for text in chat.messenger.answers] == [True, True]


async def test_while_things_load_people_are_heard_and_the_answer_waits_without_a_thread() -> None:
    warm_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    chat = Chat(warm_up=warm_up)
    channels = [scope("ana", channel=f"c{number}") for number in range(5)]
    for where in channels:
        await chat.sink(chat.message("early", by=where))
    assert await chat.command("stop", by=channels[0]) == "Stopped."
    await chat.messenger.arrived.get()  # Stopped.
    assert (await chat.messenger.arrived.get()).is_answer
    assert chat.oracle.asked == []
    assert any("loading" in text for text in chat.messenger.shown)
    warm_up.set_result(None)
    await chat.bot.idle()
    assert chat.messenger.answers[1:] == ["the answer to early"] * 4
    await chat.correct("late", by=channels[0])
    # The stopped answer itself is one too if it was embedded before it was stopped.
    found = chat.world.memory.recalling.recall(channels[0], "early").exemplars
    assert "late" in [exemplar.episode.output for exemplar in found]
    chat.executor.close()


@pytest.mark.parametrize("refusal", [NotPermitted("no"), ChannelNotFound("gone")])
async def test_an_asker_whose_answer_may_not_be_posted_is_told_once_alone(chat: Chat, refusal: MessengerError) -> None:
    chat.messenger.fails.add("the answer to lunch?")
    chat.messenger.refusal = refusal
    await chat.ask("lunch?")
    for _ in range(2):
        await chat.bot.recovery.redeliver(chat.messenger)
        await chat.bot.idle()
    [told] = chat.messenger.posts
    assert "may not write" in told.text
    assert told.private_to == ANA.person
