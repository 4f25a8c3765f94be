"""A question of the bot's is answered in words, also after a restart; a run that a process left goes on, or says so."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest

from bot.agent.tools.registry import Tool, ToolContext
from bot.model import ModelReply, ModelRequest
from memory.model import ASK, Grant, Incoming, Permission, Usage
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import World
from tests.doubles.model import ByGoal, answer, call, expand

GOAL = "book a room for the board"
PERMITTED = Permission(grant=Grant.ALWAYS, by="tea")


class Hands:
    """A lookup that may wait, and something with effects that may wait."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = {number: asyncio.Event() for number in range(1, 5)}
        """Set once so many tools have begun."""

    def tools(self) -> list[Tool]:
        return [self._tool("look"), self._tool("send", has_side_effects=True)]

    def _tool(self, name: str, *, has_side_effects: bool = False) -> Tool:
        async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
            self.done.append(name)
            self.reached[len(self.done)].set()
            await self.gate.wait()
            return f"{name} is done"

        return Tool(
            name=name, description=name, parameters={"type": "object"}, run=run, has_side_effects=has_side_effects
        )


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    assert world.memory.audit.check() == []


class Steps(ByGoal):
    """Takes every message as it stands; each reply costs something."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        if "<last-message>" in str(request.turns):
            return answer("")
        return replace(await super().reply(request), usage=Usage(prompt_tokens=1))


def chat_with(world: World, hands: Hands, script: Mapping[str, list[ModelReply]]) -> Chat:
    """A process of the bot."""
    return Chat(world=world, model=Steps(script), tools=hands.tools())


def journals(world: World) -> int:
    with world.memory.store.read() as tx:
        return len(tx.short.of_person(ANA.workspace, "ana", "goodbot/journal"))


async def test_an_answer_in_words_resumes_the_node_that_asked_also_after_a_restart(world: World, hands: Hands) -> None:
    script = {GOAL: [call("look"), call("ask_person", question="For how many?")]}
    before = chat_with(world, hands, script)
    await before.ask(GOAL)
    assert before.messenger.answers == ["For how many?"]
    after = chat_with(world, hands, {GOAL: [answer("Room 5, for twelve.")]})
    await after.ask("twelve")
    assert after.messenger.answers == ["Room 5, for twelve."]
    assert hands.done == ["look"]
    (request,) = after.bot._answering._agent.model.requests  # type: ignore[attr-defined]
    assert "twelve" in str(request.turns)
    root = next(each for each in world.memory.audit.run(ANA.workspace, await newest(world)).nodes)
    assert (root.goal, root.output) == (GOAL, "Room 5, for twelve.")
    assert [step.tool for step in root.trajectory] == ["look", "look", ASK, ""]
    for each in (before, after):
        each.executor.close()


async def newest(world: World) -> str:
    with world.memory.store.read() as tx:
        return tx.teaching.newest_answer(ANA.workspace, ANA.channel) or ""


async def test_no_to_a_question_is_an_answer_and_no_thumb_down(world: World, hands: Hands) -> None:
    chat = chat_with(world, hands, {GOAL: [call("ask_person", question="With a screen?"), answer("Room 6, then.")]})
    await chat.ask(GOAL)
    await chat.ask("no")
    assert chat.messenger.answers == ["With a screen?", "Room 6, then."]
    chat.executor.close()


async def test_a_question_of_the_askers_and_somebody_elses_words_are_messages_of_their_own(
    world: World, hands: Hands
) -> None:
    script = {
        GOAL: [call("ask_person", question="For how many?")],
        "what is for lunch?": [answer("Soup.")],
        "twelve": [answer("A number.")],
    }
    chat = chat_with(world, hands, script)
    await chat.ask(GOAL)
    await chat.ask("twelve", BOB)
    await chat.ask("what is for lunch?")
    assert chat.messenger.answers == ["For how many?", "A number.", "Soup."]
    chat.executor.close()


async def leave(chat: Chat, text: str, hands: Hands, done: int) -> Incoming:
    """Let the process end while a tool runs; the message as the next process finds it."""
    hands.gate.clear()
    await chat.sink(chat.message(text, event_id="m1"))
    await asyncio.wait_for(hands.reached[done].wait(), 10)
    chat.bot.shut_down()
    await chat.bot.idle()
    hands.gate.set()
    (left,) = chat.world.memory.recording.unfinished()
    return left.incoming


async def test_a_run_that_a_process_left_goes_on_behind_its_last_step(world: World, hands: Hands) -> None:
    before = chat_with(world, hands, {GOAL: [call("look"), call("look", x="2"), answer("no")]})
    real = hands.gate.wait
    calls = 0

    async def second_waits() -> bool:
        nonlocal calls
        calls += 1
        return await real() if calls == 2 else True

    hands.gate.wait = second_waits  # type: ignore[method-assign,assignment]
    await leave(before, GOAL, hands, 2)
    assert (hands.done, journals(world)) == (["look", "look"], 1)
    hands.gate.wait = real  # type: ignore[method-assign]
    hands.done.clear()
    after = chat_with(world, hands, {GOAL: [call("look", x="2"), answer("Room 5.")]})
    await after.bot.recovery.resume(after.messenger)
    await after.bot.idle()
    assert (after.messenger.answers, hands.done, journals(world)) == (["Room 5."], ["look"], 0)
    for each in (before, after):
        each.executor.close()


async def test_what_has_effects_and_had_begun_is_told_and_not_done_again(world: World, hands: Hands) -> None:
    before = chat_with(world, hands, {GOAL: [call("send", to="all")]})

    async def permit(tool: Tool, _: object, __: object) -> Permission:
        return PERMITTED

    before.bot._answering._agent.tools.permit = permit
    await leave(before, GOAL, hands, 1)
    after = chat_with(world, hands, {})
    await after.bot.recovery.resume(after.messenger)
    await after.bot.idle()
    (told,) = after.messenger.answers
    assert told.startswith('I was interrupted while I did this:\n\n```\nsend {\n  "to": "all"\n}\n```')
    assert (hands.done, journals(world)) == (["send"], 0)
    (root,) = world.memory.audit.run(ANA.workspace, await newest(world)).nodes
    assert (root.goal, root.termination.value) == (GOAL, "aborted")
    for each in (before, after):
        each.executor.close()


async def test_forgetting_takes_the_journal(world: World, hands: Hands) -> None:
    before = chat_with(world, hands, {GOAL: [call("look"), expand("sequence", "A")], "A": [call("look")]})
    hands.gate.set()
    await leave(before, GOAL, hands, 1)
    world.memory.privacy.forget(ANA.workspace, "ana")
    assert journals(world) == 0
    before.executor.close()


async def test_a_chosen_option_lets_the_parts_that_waited_for_it_follow_and_counts_for_its_part(
    world: World, hands: Hands
) -> None:
    options = [{"answer": "Room 5."}, {"answer": "Room 6."}]
    script = {
        "both": [expand("sequence", "A", "B", "C")],
        "A": [answer("a")],
        "B": [call("ask_person", question="Which room?", options=options)],
        "C": [call("look"), answer("c")],
    }
    before = chat_with(world, hands, script)
    await before.ask("both")
    question = before.messenger.posts[-1]
    assert "I have not answered this yet: “C”." in question.text
    after = chat_with(world, hands, {"C": [call("look"), answer("c")]})
    after.messenger.posts.append(question)
    await after.command("choose", question.choices[1].argument)
    await after.bot.idle()
    assert after.messenger.answers[1:] == ["a\n\nRoom 6.\n\nc"]
    nodes = {node.goal: node for node in world.memory.audit.run(ANA.workspace, await newest(world)).nodes}
    assert [(each, nodes[each].verdict.value) for each in ("both", "A", "B", "C")] == [
        ("both", "pending"),
        ("A", "pending"),
        ("B", "success"),
        ("C", "pending"),
    ]
    for each in (before, after):
        each.executor.close()
