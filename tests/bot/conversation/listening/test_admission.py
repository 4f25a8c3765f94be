"""Lists that people keep in chat: who teaches and who may use the bot, at once and for every act."""

from dataclasses import replace

import pytest

from bot.conversation.listening.admission import NOT_ADMITTED, OWN_DATA
from bot.conversation.messages import TEACHERS_ONLY
from bot.model import PersonDeletion, PersonVote
from memory.model import Role, Scope
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import scope

ROOT, CY = scope("root"), scope("cy")
QUESTION = "where is the spare key?"


@pytest.fixture
def chat() -> Chat:
    return Chat()


def put(chat: Chat, name: str, value: str | None, by: Scope = ROOT) -> None:
    chat.world.memory.chat_settings.change(by, Role.ADMIN, name, value)


async def is_a_lesson_for_others(chat: Chat) -> bool:
    await chat.ask(QUESTION, CY)
    taught = any("taught by" in lesson for lesson in chat.messenger.posts[-1].lessons)
    return taught or "behind the desk" in str(chat.oracle.requests[-1])


@pytest.mark.parametrize("way", ["reaction", "button", "correction", "overtaking reaction"])
async def test_who_is_named_a_teacher_decides_with_the_next_act(chat: Chat, way: str) -> None:
    put(chat, "teachers", "bob")
    if way == "overtaking reaction":
        await chat.react("post-1", by=BOB)
    posted = await chat.ask(QUESTION, ANA)
    if way == "reaction":
        await chat.react(posted, by=BOB)
    elif way == "button":
        at = chat.world.clock.tick()
        await chat.sink(PersonVote(event_id="vote", scope=BOB, at=at, message_id=posted, value=1))
    elif way == "correction":
        await chat.correct("behind the desk", by=BOB, message_id=posted)
    assert await is_a_lesson_for_others(chat)


async def test_who_is_not_named_any_more_decides_no_more(chat: Chat) -> None:
    put(chat, "teachers", "bob")
    assert await chat.command("review", by=BOB) != TEACHERS_ONLY
    put(chat, "teachers", None)
    assert await chat.command("review", by=BOB) == TEACHERS_ONLY
    await chat.react(await chat.ask(QUESTION, ANA), by=BOB)
    assert not await is_a_lesson_for_others(chat)


async def test_who_is_on_no_list_is_not_answered_and_nothing_of_it_is_kept(chat: Chat) -> None:
    put(chat, "allowed-people", "bob")
    await chat.ask("my secret plan", ANA)
    assert chat.messenger.posts == []
    assert chat.world.memory.exchanges.messages_of(ANA, 10) == []
    await chat.ask(QUESTION, BOB)
    assert len(chat.messenger.answers) == 1
    put(chat, "allowed-people", None)
    await chat.ask(QUESTION, ANA)
    assert len(chat.messenger.answers) == 2


async def test_their_reactions_count_no_more_than_their_questions(chat: Chat) -> None:
    put(chat, "allowed-people", "bob")
    posted = await chat.ask(QUESTION, BOB)
    await chat.react(posted, by=ANA)
    assert voters(chat) == []
    await chat.react(posted, by=BOB)
    assert voters(chat) == ["bob"]


def voters(chat: Chat) -> list[str]:
    memory = chat.world.memory
    (root, *_) = memory.audit.episodes(BOB.workspace, EpisodeFilter())
    with memory.store.read() as tx:
        return [each.actor for each in tx.teaching.votes(root.workspace, root.run_id)]


async def test_what_was_said_before_can_be_taken_back_and_erased(chat: Chat) -> None:
    posted = await chat.ask(QUESTION, ANA)
    await chat.react(posted, by=ANA)
    put(chat, "allowed-people", "bob")
    await chat.react(posted, by=ANA, added=False)
    assert "forget" in OWN_DATA
    assert await chat.command("memory", by=ANA) == NOT_ADMITTED
    assert await chat.command("forget", "yes", by=ANA) != NOT_ADMITTED
    assert chat.world.memory.privacy.personal_data(ANA.workspace, "ana").is_empty
    at = chat.world.clock.tick()
    await chat.sink(PersonDeletion(event_id="gone", scope=ANA, at=at, message_id="m"))


async def test_channels_are_let_in_by_name_and_administrators_everywhere(chat: Chat) -> None:
    there = replace(BOB, channel="c2")
    put(chat, "allowed-channels", "c2")
    await chat.ask(QUESTION, BOB)
    assert chat.messenger.answers == []
    await chat.ask(QUESTION, there)
    assert len(chat.messenger.answers) == 1
    assert await chat.command("settings", by=ROOT, role=Role.ADMIN) != NOT_ADMITTED


async def test_forgetting_says_which_lists_still_name_a_person(chat: Chat) -> None:
    put(chat, "teachers", "bob")
    put(chat, "allowed-people", "ana bob")
    await chat.ask(QUESTION, BOB)
    named = "The lists `allowed-people` and `teachers` of this workspace still name you: an administrator takes you out"
    for said in (await chat.command("forget", "", BOB), await chat.command("forget", "yes", BOB)):
        assert named in said
        assert "settings allowed-people remove ..." in said
    assert named in await chat.command("forget", "", BOB)
    put(chat, "teachers", None)
    put(chat, "allowed-people", None)
    assert "still name you" not in await chat.command("forget", "", BOB)
