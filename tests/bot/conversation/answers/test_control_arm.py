"""Runs without lessons: what they get, what is noted of them, how they are chosen."""

from bot.cli.query import arm_lines
from memory.model import Retrieval, Role, Usage
from memory.rules.chat_settings import CONTROL_ARM
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import scope
from tests.doubles.model import answer

QUESTION, ANSWER = "where is the spare key?", "behind the desk"


async def taught() -> Chat:
    chat = Chat()
    wrong = await chat.ask(QUESTION, ANA)
    await chat.correct(ANSWER, by=scope("tea"), message_id=wrong, role=Role.TEACHER)
    return chat


def shown(chat: Chat) -> bool:
    return ANSWER in str(chat.oracle.requests[-1])


async def test_in_the_control_arm_no_lesson_and_no_evidence_reaches_a_run() -> None:
    chat = await taught()
    chances = {"next": 0.4}
    object.__setattr__(chat.world.memory.core, "chance", lambda run_id: chances["next"])
    chat.world.memory.chat_settings.change(scope("root"), Role.ADMIN, CONTROL_ARM, "0.3")
    await chat.ask(QUESTION, BOB)
    assert shown(chat)
    chances["next"] = 0.2
    await chat.ask(QUESTION, BOB)
    assert not shown(chat)
    assert "made without any, to see what lessons are worth" in await chat.command("why", by=BOB)
    assert [(each.is_control, each.evidence is None) for each in recalls(chat)] == [(False, False), (True, True)]


def recalls(chat: Chat) -> list[Retrieval]:
    """Of Bob's questions, the first one first."""
    memory = chat.world.memory
    asked = reversed(memory.exchanges.messages_of(BOB, 10))
    with memory.store.read() as tx:
        whole = [tx.deliveries.incoming(BOB.workspace, each.event_id) for each in asked]
        return [found for each in whole if each for found, _ in tx.retrievals.of_run(BOB.workspace, each.run_id)]


async def test_what_is_taught_on_its_answers_is_learned_all_the_same() -> None:
    chat = await taught()
    object.__setattr__(chat.world.memory.core, "control_arm", 0.5)
    object.__setattr__(chat.world.memory.core, "chance", lambda run_id: 0.0)
    other = await chat.ask("who waters the plants?", BOB)
    assert not shown(chat)
    await chat.correct("Mira does", by=BOB, message_id=other)
    object.__setattr__(chat.world.memory.core, "control_arm", 0.0)
    await chat.ask("who waters the plants?", BOB)
    assert "Mira does" in str(chat.oracle.requests[-1])


async def _answered(chat: Chat, number: int, *, is_control: bool, vote: str) -> str:
    """One judged answer that costs a cent, in one of the arms."""
    object.__setattr__(chat.world.memory.core, "chance", lambda run_id: 0.0 if is_control else 0.9)
    asker, question = scope(f"p{number}-{is_control}"), f"question {number} of {is_control}?"
    chat.oracle.answers[question] = answer("so", usage=Usage(prompt_tokens=10, cost_usd=0.01 + number / 1e5))
    message = await chat.ask(question, asker)
    if vote:
        await chat.react(message, vote, by=asker)
    return message


async def test_both_arms_are_compared_from_the_first_run_without_lessons() -> None:
    chat = Chat()
    memory = chat.world.memory
    for number in range(5):
        await _answered(chat, 900 + number, is_control=False, vote="👎")
    assert memory.control_arm.compare("terminal:w") is None
    assert arm_lines(None) == []
    object.__setattr__(memory.core, "control_arm", 0.5)
    for number in range(5):
        await _answered(chat, number, is_control=True, vote="👎" if number else "")
        await _answered(chat, number, is_control=False, vote="👍")
    few = memory.control_arm.compare("terminal:w")
    assert few is not None
    assert (few.without.answers, few.without.rejected) == (5, 4)
    assert (few.with_lessons.answers, few.with_lessons.approved) == (5, 5)
    assert arm_lines(few)[1].endswith("too little to tell (4 in the smaller arm; 20 are needed)")
    for number in range(10, 40):
        await _answered(chat, number, is_control=True, vote="👎" if number % 2 else "👍")
        await _answered(chat, number, is_control=False, vote="👍")
    last = await _answered(chat, 41, is_control=True, vote="")
    await chat.correct("that", by=scope("p41-True"), message_id=last)
    much = memory.control_arm.compare("terminal:w")
    assert much is not None
    assert (much.with_lessons.answers, much.without.corrected) == (35, 1)
    approved, corrected, cost = arm_lines(much)[1:]
    assert "with 100% (90% to 100%), without 43% (28% to 59%): more often with lessons (+57 points, +38 to" in approved
    assert "without 3% (0% to 14%): may be chance" in corrected
    assert "with 0.0102 (" in cost
    assert "may be chance" in cost
    assert memory.control_arm.compare("terminal:other") is None
