"""What is noted about things, in chat with the offline model: told, changed after a tap, listed, forgotten."""

import asyncio

import pytest

from bot.adapters.llm.offline.model import OfflineModel
from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.clock import clock_tool
from bot.agent.tools.topics import change_tool, look_up_tool
from memory.model import Role, Scope
from memory.ports import EpisodeFilter
from memory.services.topics.facts import ChangeResult
from memory.services.topics.listing import KnownTopic
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.memory_world import World
from tests.doubles.packaged_embedder import packaged_embedder


@pytest.fixture
def chat() -> Chat:
    world = World(embedder=packaged_embedder())
    facts = world.memory.facts

    async def about(scope: Scope, text: str) -> list[KnownTopic]:
        return await asyncio.to_thread(facts.about, scope, text)

    async def attend(scope: Scope, topic_id: str) -> None:
        await asyncio.to_thread(facts.attend, scope, topic_id)

    async def change(scope: Scope, thing: str, name: str, value: str, role: Role) -> ChangeResult:
        return await asyncio.to_thread(facts.change, scope, thing, name, value, role=role)

    tools = [clock_tool(world.clock), calculator_tool(), look_up_tool(about, attend), change_tool(change)]
    return Chat(world, OfflineModel(packaged_embedder().embed), tools=tools)


async def answer(chat: Chat, text: str, by: Scope = ANA) -> str:
    await chat.ask(text, by)
    return chat.messenger.answers[-1]


async def note(chat: Chat, text: str, by: Scope = ANA, role: Role = Role.MEMBER) -> str:
    """Ask for a change and approve of it."""
    asked = await answer(chat, text, by)
    assert asked.startswith("Shall I do this?"), asked
    await chat.command("choose", by=by, role=role, argument="1")
    await chat.bot.idle()
    return chat.messenger.answers[-1]


async def test_a_thing_is_noted_after_a_tap_and_told_with_its_history(chat: Chat) -> None:
    assert "I don't know" in await answer(chat, "who owns the deploy?")
    assert await note(chat, "change the owner of the deploy to Priya") == "Noted for you alone: deploy, owner: Priya."
    assert await answer(chat, "who owns the deploy?") == "deploy, owner: Priya, since 21 November 2026."
    chat.world.clock.tick(days=10)
    noted = await note(chat, "the deploy's owner is now Aya")
    assert noted == "Noted for you alone: deploy, owner: Aya. It was Priya before."
    assert await answer(chat, "who owns the deploy?") == "deploy, owner: Aya, since 1 December 2026."
    assert await answer(chat, "since when?") == "deploy, owner: Aya, since 1 December 2026."
    before = "deploy, owner: before Aya it was Priya (from 21 November 2026 to 1 December 2026)."
    assert await answer(chat, "what was it before?") == before
    assert await answer(chat, "who owned the deploy before Aya?") == before


async def test_nothing_is_changed_without_the_tap(chat: Chat) -> None:
    await answer(chat, "change the owner of the deploy to Priya")
    assert chat.world.memory.facts.listed(ANA) == []
    await chat.command("choose", argument="none")
    await chat.bot.idle()
    assert chat.world.memory.facts.listed(ANA) == []


async def test_a_teachers_counts_for_the_channel_and_others_cannot_change_it(chat: Chat) -> None:
    await note(chat, "set the room of the standup to Turing", TEA, Role.TEACHER)
    assert await answer(chat, "which room is the standup in?", BOB) == "standup, room: Turing, since 21 November 2026."
    refused = await note(chat, "set the room of the standup to my desk", BOB)
    assert refused.startswith("I left standup as it is: somebody else noted it.")
    assert "Turing" in await answer(chat, "which room is the standup in?", ANA)


@pytest.mark.parametrize("question", ["how do I deploy to staging?", "what does the deploy cost?", "who may deploy?"])
async def test_what_is_not_noted_of_a_thing_is_not_answered_from_it(chat: Chat, question: str) -> None:
    await note(chat, "set the owner of the deploy to Priya")
    assert "Priya" not in await answer(chat, question)


async def test_memory_shows_it_beside_the_lessons(chat: Chat) -> None:
    assert "noted about things" not in await chat.command("memory")
    assert "Nothing is noted about things here yet" in await chat.command("memory", argument="topics")
    for thing in ("a", "b", "c", "d", "e", "f"):
        chat.world.memory.facts.change(ANA, thing, "owner", "Priya", role=Role.MEMBER)
    shown = await chat.command("memory")
    assert "- a: owner Priya since 21 November 2026 - for you" in shown
    assert "- d:" not in shown
    assert ("memory", "topics") in [(each.command, each.argument) for each in chat.messenger.posts[-1].choices]
    assert "1. a: owner Priya" in await chat.command("memory", argument="topics")
    assert ("memory", "topics page 2") in [(each.command, each.argument) for each in chat.messenger.posts[-1].choices]
    assert "6. f: owner Priya" in await chat.command("memory", argument="topics page 2")
    assert "noted" not in await chat.command("memory", by=BOB)


async def test_who_is_forgotten_is_forgotten_in_answers_that_told_what_they_noted(chat: Chat) -> None:
    await note(chat, "set the phone of the front desk to 4711", TEA, Role.TEACHER)
    assert "4711" in await answer(chat, "what is the phone of the front desk?", BOB)
    chat.world.memory.privacy.forget("terminal:w", "tea")
    left = chat.world.memory.audit.whole("terminal:w", EpisodeFilter(limit=None, include_archived=True))
    assert "4711" not in repr(left)
    assert "I don't know" in await answer(chat, "what is the phone of the front desk?", BOB)
