"""An offered answer is chosen in words, and what is only like a choice chooses nothing."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.errors import MessengerUnavailable
from bot.model import Address, ModelReply, PersonDeletion, PersonMessage
from memory.model import Role, Verdict
from memory.ports import EpisodeFilter
from memory.rules.chat_settings import ALLOWED_PEOPLE
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.model import call

GOAL, YARD, CELLAR = "where do I leave it?", "In the yard.", "In the cellar."
OPTIONS = [{"answer": YARD}, {"answer": "In the shed."}, {"answer": CELLAR}]
NONE = "Noted: none of these. What would have been right? `!correct ...` tells me."
WHICH = "Which of them do you mean? Press its button; `!choose 1` chooses the first."


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    chat.oracle.answers[GOAL] = call("ask_person", question="Which one?", options=OPTIONS)
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def offer_one(chat: Chat) -> None:
    chat.oracle.answers[GOAL] = call("ask_person", question="This one?", options=OPTIONS[:1])


@pytest.mark.parametrize(
    ("words", "said"),
    [("1", YARD), ("The first one.", YARD), ("yes 3", CELLAR), ("none of these", NONE), ("no", NONE), ("yes", WHICH)],
)
async def test_the_asker_may_choose_in_words(chat: Chat, words: str, said: str) -> None:
    await chat.ask(GOAL)
    await chat.ask(words)
    assert chat.messenger.posts[-1].text == said
    assert chat.oracle.asked == [GOAL]


@pytest.mark.parametrize("words", ["Yes!", "👍", "sure"])
async def test_yes_chooses_the_only_option(chat: Chat, words: str) -> None:
    offer_one(chat)
    await chat.ask(GOAL)
    await chat.ask(words)
    assert chat.messenger.posts[-1].text == YARD


async def test_what_only_chooses_where_nothing_is_open_is_told_so_and_is_no_question(chat: Chat) -> None:
    await chat.ask("none of these")
    await chat.ask(GOAL)
    await chat.ask("4")
    await chat.ask("1", replace(BOB, thread=ANA.thread))
    nothing = [each for each in chat.messenger.notices if each.startswith("There is nothing to choose that way")]
    assert len(nothing) == 3
    assert chat.oracle.asked == [GOAL]
    assert (await chat.correct("In the yard.")).startswith("Saved")
    goals = {each.goal for each in chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))}
    assert goals == {GOAL}


async def test_a_number_that_an_open_question_does_not_have_is_told_so_without_a_mention_too(chat: Chat) -> None:
    offer_one(chat)
    await chat.ask(GOAL)
    await chat.sink(replace(chat.message("2"), address=Address.FOLLOW_UP))
    await chat.bot.idle()
    assert chat.messenger.notices[-1].startswith("There is nothing to choose that way")
    assert chat.oracle.asked == [GOAL]


@pytest.mark.parametrize(
    "said",
    ["How many are you?", "You may go:\n1. by bus\n2. on foot", call("ask_person", question="Tell me a number.")],
)
async def test_a_number_after_a_question_in_words_or_a_list_is_an_ordinary_message(chat: Chat, said: object) -> None:
    chat.oracle.answers["a trip"] = said if isinstance(said, ModelReply) else str(said)
    await chat.ask("a trip")
    await chat.ask("2")
    assert chat.oracle.asked[-1] in ("2", "a trip")
    assert chat.messenger.notices == []


async def test_what_another_person_was_answered_since_is_not_what_the_asker_answers(chat: Chat) -> None:
    ana, bob = (replace(each, thread="t1") for each in (ANA, BOB))
    await chat.ask(GOAL, ana)
    await chat.ask("lunch?", bob)
    await chat.ask("1", ana)
    assert chat.messenger.posts[-1].text == YARD


async def test_a_number_written_while_another_question_waits_chooses_nothing_of_the_one_before(chat: Chat) -> None:
    await chat.ask(GOAL)
    chat.oracle.gates["how many are we?"] = gate = asyncio.Event()
    await chat.sink(chat.message("how many are we?"))
    await chat.sink(chat.message("2"))
    gate.set()
    await chat.bot.idle()
    assert chat.oracle.asked == [GOAL, "how many are we?", "2"]


async def test_a_yes_to_a_command_that_asked_since_chooses_and_confirms_nothing(chat: Chat) -> None:
    offer_one(chat)
    await chat.ask(GOAL)
    assert "erase" in await chat.command("forget")
    await chat.ask("yes")
    assert chat.messenger.posts[-1].text.startswith("Not by words alone")
    assert YARD not in chat.messenger.answers
    await chat.ask(GOAL)
    await chat.ask("yes")
    assert chat.messenger.posts[-1].text == YARD


async def test_a_yes_in_a_thread_is_not_about_a_command_that_asked_days_ago(chat: Chat) -> None:
    offer_one(chat)
    ana = replace(ANA, thread="t1")
    await chat.ask(GOAL, ana)
    await chat.command("forget")
    chat.world.clock.tick(days=2)
    await chat.ask("yes", ana)
    assert chat.messenger.posts[-1].text == "the answer to yes"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *((yes, "Noted: for “where is the key?” the answer is “it's broken”.") for yes in ("yes", "1", "the first")),
        *((no, "the answer to No, it's broken") for no in ("no", "2")),
        ("3", "the answer to 3"),
    ],
)
async def test_was_that_a_correction_is_answered_in_words(chat: Chat, words: str, said: str) -> None:
    offer_one(chat)
    await chat.ask(GOAL)
    chat.oracle.answers["where is the key?"] = "Under the pot."
    await chat.ask("where is the key?")
    await chat.ask("No, it's broken")
    assert chat.messenger.posts[-1].text.startswith("Was that a correction?")
    await chat.ask(words)
    assert chat.messenger.posts[-1].text.startswith(said)


async def test_who_may_no_longer_use_the_bot_chooses_nothing(chat: Chat) -> None:
    await chat.ask(GOAL)
    chat.world.memory.chat_settings.change(TEA, Role.ADMIN, ALLOWED_PEOPLE, "tea", everywhere=True)
    for words in ("2", "yes", "none of these"):
        await chat.ask(words)
    assert len(chat.messenger.posts) == 1


async def test_where_the_role_cannot_be_looked_up_it_is_an_ordinary_message(chat: Chat) -> None:
    async def find_role() -> Role:
        raise MessengerUnavailable("down")

    await chat.ask(GOAL)
    message: PersonMessage = replace(chat.message("2"), find_role=find_role)
    await chat.sink(message)
    await chat.bot.idle()
    assert chat.oracle.asked == [GOAL, "2"]


async def delete(chat: Chat, message_id: str) -> None:
    scope, at = replace(ANA, person="somebody"), chat.world.clock.tick()
    await chat.sink(PersonDeletion(event_id=chat.world.ids(), scope=scope, message_id=message_id, at=at))
    await chat.bot.idle()


def approved(chat: Chat) -> list[str]:
    roots = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(roots_only=True))
    return [each.output for each in roots if each.verdict is Verdict.SUCCESS]


async def test_a_deleted_choice_is_taken_back(chat: Chat) -> None:
    await chat.ask(GOAL)
    posted = await chat.ask("3", message_id="m2")
    assert (approved(chat), chat.mark) == ([CELLAR], {posted: True})
    await delete(chat, "m2")
    assert (approved(chat), chat.mark) == ([], {posted: False})
