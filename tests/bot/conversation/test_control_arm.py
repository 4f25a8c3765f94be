"""Runs without lessons: what they get, what is noted of them, how they are chosen."""

from memory.model import Retrieval, Role
from memory.rules.chat_settings import CONTROL_ARM
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import scope

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
    asked = reversed(memory.recording.messages_of(BOB, 10))
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
