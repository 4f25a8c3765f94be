"""Parts of an answer, one tap each: what is right stays a lesson, what went the wrong way is marked alone."""

from collections.abc import AsyncIterator, Mapping

import pytest

from bot.agent.tools.registry import Tool, ToolContext
from bot.model import ModelReply, ModelRequest
from bot.model.events import WRONG_APPROACH
from memory.model import Episode, Role, Verdict
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.model import ByGoal, answer, call, expand, fail

BOTH, LUNCH, ROOM = "lunch and the room", "what is for lunch?", "where is the board room?"
OTHER = "the room and the time"


class Script(ByGoal):
    async def reply(self, request: ModelRequest) -> ModelReply:
        return answer("") if "<last-message>" in str(request.turns) else await super().reply(request)


def look() -> Tool:
    async def run(_: Mapping[str, object], __: ToolContext) -> str:
        return "Room 5."

    return Tool(name="look", description="Looks.", parameters={"type": "object"}, run=run)


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    script = {
        BOTH: [expand("sequence", LUNCH, ROOM)],
        LUNCH: [answer("Soup.")],
        ROOM: [call("look"), answer("Room 5."), answer("Room 5 still.")],
        OTHER: [expand("parallel", ROOM, "what time is it?")],
        "what time is it?": [answer("Noon.")],
        "many": [expand("parallel", *(f"what is {n} + 1?" for n in range(8)))],
        **{f"what is {n} + 1?": [answer(f"It is {n + 1}.")] for n in range(8)},
        "two riddles": [expand("parallel", "riddle 1", "riddle 2"), fail("I don't know.")],
        "riddle 1": [fail("I don't know.")],
        "riddle 2": [fail("I don't know.")],
        "single": [call("look"), answer("One.")],
    }
    chat = Chat(model=Script(script), tools=[look()])
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def nodes(chat: Chat) -> dict[str, Episode]:
    with chat.store.read() as tx:
        run_id = tx.teaching.newest_answer(ANA.workspace, ANA.channel) or ""
    return {node.goal: node for node in chat.world.memory.audit.run(ANA.workspace, run_id).nodes}


async def press(chat: Chat, label: str, by: object = ANA, role: Role = Role.MEMBER) -> str:
    choice = next(each for post in reversed(chat.messenger.posts) for each in post.choices if each.label == label)
    assert len(f"{choice.command}{choice.argument}") <= 80
    return await chat.command(choice.command, choice.argument, by, role=role)  # type: ignore[arg-type]


async def test_of_many_parts_it_says_how_many_can_be_judged(chat: Chat) -> None:
    await chat.ask("many")
    assert "(These are the first 6 of 8.)" in await chat.command("parts")
    await chat.ask(BOTH)
    assert "first 6" not in await chat.command("parts")


async def test_of_an_answer_that_knows_no_part_none_is_asked_about(chat: Chat) -> None:
    await chat.react(await chat.ask("two riddles"), "👎")
    assert chat.messenger.posts[-1].choices == ()
    assert "What would have been right?" in chat.messenger.notices[-1]


async def test_a_thumb_down_on_a_compound_asks_which_parts_were_right_and_a_tap_keeps_them(chat: Chat) -> None:
    await chat.react(await chat.ask(BOTH), "👎")
    asked = chat.messenger.posts[-1]
    assert [each.label for each in asked.choices] == [
        f"Right: {LUNCH}",
        f"Wrong: {LUNCH}",
        f"Right: {ROOM}",
        f"Wrong: {ROOM}",
    ]
    assert asked.private_to == "ana"
    assert {goal: node.verdict for goal, node in nodes(chat).items()} == {
        BOTH: Verdict.FAILURE,
        LUNCH: Verdict.PENDING,
        ROOM: Verdict.PENDING,
    }
    assert "was right" in await press(chat, f"Right: {ROOM}")
    assert "wrong way" in await press(chat, f"Wrong: {LUNCH}")
    assert {goal: node.verdict for goal, node in nodes(chat).items()} == {
        BOTH: Verdict.FAILURE,
        LUNCH: Verdict.FAILURE,
        ROOM: Verdict.SUCCESS,
    }
    assert chat.world.recalled(ROOM) != []
    assert "takes it back" in chat.messenger.posts[-1].text
    assert "Verdict**: rejected (ana 👎)" in await chat.command("why")
    await chat.command("undo")
    assert nodes(chat)[LUNCH].verdict is Verdict.PENDING


async def test_a_part_of_one_answer_serves_a_part_of_another(chat: Chat) -> None:
    await chat.react(await chat.ask(BOTH), "👍")
    (lesson,) = [node for node in nodes(chat).values() if node.goal == ROOM]
    assert lesson.verdict is Verdict.SUCCESS
    await chat.ask(OTHER)
    shown = {goal: node.exemplar_ids for goal, node in nodes(chat).items()}
    assert lesson.id in shown[ROOM]
    assert lesson.id not in shown["what time is it?"]


async def test_why_offers_the_parts_and_an_answer_in_one_piece_has_none(chat: Chat) -> None:
    await chat.ask(BOTH)
    await chat.command("why")
    assert len(chat.messenger.posts[-1].choices) == 4
    await press(chat, f"Wrong: {ROOM}")
    assert [node.verdict for node in nodes(chat).values()] == [Verdict.PENDING, Verdict.PENDING, Verdict.FAILURE]
    await chat.ask("single")
    await chat.command("why")
    assert not chat.messenger.posts[-1].choices
    assert "has no parts" in await chat.command("parts")


async def test_wrong_tool_or_approach_marks_the_answer_or_asks_which_part(chat: Chat) -> None:
    posted = await chat.ask("single")
    await chat.correct("", message_id=posted, reason=WRONG_APPROACH)
    assert nodes(chat)["single"].verdict is Verdict.FAILURE
    assert nodes(chat)["single"].outcome_reason == WRONG_APPROACH
    posted = await chat.ask(BOTH)
    await chat.correct("", message_id=posted, reason=WRONG_APPROACH)
    assert nodes(chat)[BOTH].verdict is Verdict.PENDING
    await press(chat, f"Wrong: {ROOM}")
    assert [node.verdict for node in nodes(chat).values()] == [Verdict.PENDING, Verdict.PENDING, Verdict.FAILURE]


async def test_a_teachers_tap_counts_for_the_channel_and_a_strangers_for_nobody_else(chat: Chat) -> None:
    await chat.ask(BOTH)
    await chat.command("parts")
    await press(chat, f"Wrong: {LUNCH}", BOB)
    assert nodes(chat)[LUNCH].verdicts.channel is Verdict.PENDING
    await press(chat, f"Right: {ROOM}", BOB, Role.TEACHER)
    assert nodes(chat)[ROOM].verdicts.channel is Verdict.SUCCESS


@pytest.mark.parametrize("argument", ["", "x right", "deadbeefdeadbeef right", "deadbeefdeadbeef"])
async def test_a_part_that_is_none_is_answered_kindly(chat: Chat, argument: str) -> None:
    assert "do not know that part" in await chat.command("part", argument)
