"""The conversation a run is given: what was said to the bot and by it, names for people, nothing of other places."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation.answers.background import BackgroundConfig
from bot.errors import MessengerUnavailable
from bot.model import ModelReply, ModelRequest, PersonDeletion, PersonEdit, PersonMessage, Remark, UserTurn
from memory.model import Role, Scope
from tests.doubles.conversation import ANA, BOB, Chat, Oracle, RecordingMessenger, direct
from tests.doubles.memory_world import World, scope
from tests.doubles.model import goal_of, opening
from tests.doubles.stores import content


class Platform(RecordingMessenger):
    """Knows names and what people said to each other."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Remark] = []
        self.wanted: list[tuple[list[str], int]] = []
        self.is_down = False

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        self.wanted.append((list(wanted), last))
        if self.is_down:
            raise MessengerUnavailable("the platform is down")
        return self.said

    async def name_of(self, workspace: str, person: str) -> str:
        if self.is_down:
            raise MessengerUnavailable("the platform is down")
        return {"bob": "Bob", "rob": "Bob"}.get(person, "")


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat(messenger=Platform())
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def platform(chat: Chat) -> Platform:
    assert isinstance(chat.messenger, Platform)
    return chat.messenger


def conversation(chat: Chat) -> list[str]:
    """The lines of the block in the last prompt."""
    prompt = opening(chat.oracle.requests[-1])
    _, begin, behind = prompt.partition("<conversation>\n")
    return behind.partition("\n</conversation>")[0].split("\n") if begin else []


async def test_what_was_said_and_answered(chat: Chat) -> None:
    await chat.ask("the capital of France")
    assert conversation(chat) == []
    await chat.ask("the capital of Spain")
    assert conversation(chat) == ["- asker: the capital of France", "- you: the answer to the capital of France"]


async def test_others_in_a_thread_by_name(chat: Chat) -> None:
    for person in ("bob", "rob", "uma"):
        await chat.ask(f"question of {person[0]}", replace(scope(person), thread="t"))
    await chat.ask("last question", replace(ANA, thread="t"))
    assert conversation(chat)[::2] == [
        '- person "Bob": question of b',
        '- person "Bob 2": question of r',
        '- person "somebody": question of u',
    ]
    assert not {"bob", "rob", "uma"} & set(" ".join(conversation(chat)).split())


async def test_direct_messages_are_their_own(chat: Chat) -> None:
    await chat.ask("a secret of ana", direct("ana"))
    await chat.ask("a question of bob", direct("bob"))
    assert conversation(chat) == []
    await chat.ask("in the channel", ANA)
    assert conversation(chat) == []
    await chat.ask("something more", direct("ana"))
    assert conversation(chat)[0] == "- asker: a secret of ana"


async def test_new_begins_a_new_conversation(chat: Chat) -> None:
    await chat.ask("the old matter", direct("ana"))
    assert "new conversation" in await chat.command("new", by=direct("ana"))
    await chat.ask("the new matter", direct("ana"))
    assert conversation(chat) == []


async def test_the_first_message_of_a_thread_and_the_one_replied_to_are_looked_up_and_not_stored(chat: Chat) -> None:
    remark = Remark(
        message_id="root", person="bob", text="the walrus build is red\npassword: hunter2x", at=chat.world.clock()
    )
    platform(chat).said = [remark]
    await chat.ask("please explain this build", replace(ANA, thread="root"))
    assert platform(chat).wanted == [(["root"], 0)]
    assert conversation(chat)[0] == '- person "Bob": the walrus build is red'
    assert "hunter2x" not in opening(chat.oracle.requests[-1])
    assert b"walrus" not in content(chat.store)
    event = chat.world.ids()
    await chat.sink(
        PersonMessage(
            event_id=event, scope=ANA, message_id=event, text="explain that one", at=chat.world.clock(), reply_to="root"
        )
    )
    await chat.bot.idle()
    assert platform(chat).wanted[-1] == (["root"], 0)
    assert conversation(chat) == [
        '- person "Bob" (replied to now): the walrus build is red',
        "  password: [redacted: password]",
    ]


async def test_a_platform_that_fails_costs_what_others_said_and_nothing_else(chat: Chat) -> None:
    platform(chat).is_down = True
    await chat.ask("question of bob", replace(BOB, thread="root"))
    await chat.ask("question of ana", replace(ANA, thread="root"))
    assert conversation(chat)[0] == '- person "somebody": question of bob'
    assert len(chat.messenger.answers) == 2


async def test_what_was_put_to_the_bot_is_not_looked_up_around_memory(chat: Chat) -> None:
    event = chat.message("the regretted words", replace(ANA, thread="root"), message_id="root")
    await chat.sink(event)
    await chat.bot.idle()
    await chat.sink(PersonDeletion(event_id="d", scope=ANA, message_id="root", at=chat.world.clock.tick()))
    platform(chat).said = [
        Remark(message_id="root", person="ana", text="the regretted words", at=chat.world.clock.tick())
    ]
    await chat.ask("another question", replace(BOB, thread="root"))
    assert conversation(chat) == []


async def test_an_edit_counts(chat: Chat) -> None:
    await chat.ask("the frist question", message_id="m1")
    await chat.sink(
        PersonEdit(event_id="e", scope=ANA, message_id="m1", text="the first question", at=chat.world.clock.tick())
    )
    await chat.ask("the second question")
    assert conversation(chat)[0] == "- asker: the first question"


async def test_feedback_is_shown_as_it_was_understood_without_ids(chat: Chat) -> None:
    chat.oracle.answers["where is the spare key?"] = "under the red pot"
    await chat.ask("where is the spare key?", direct("ana"))
    await chat.ask("No, it's in room 5", direct("ana"))
    await chat.ask("where is the ladder?", direct("ana"))
    shown = conversation(chat)
    assert shown[2:4] == ["- asker: No, it's in room 5", "- meant: 👎 → it's in room 5"]


class Rewriter(Oracle):
    """Makes every follow-up a question about Spain."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        if "<last-message>" in opening(request):
            request = replace(request, turns=(UserTurn(text="<goal>\nmeant\n</goal>"),))
        return await super().reply(request)


async def test_a_lesson_taught_on_a_follow_up_is_found_by_the_whole_question() -> None:
    oracle = Rewriter({"meant": "What is the capital of Spain?", "What is the capital of Spain?": "Madrid"})
    chat = Chat(model=oracle)
    await chat.ask("What is the capital of France?")
    posted = await chat.ask("and of Spain?")
    await chat.react(posted, "👍")
    why = await chat.command("why", message_id=posted)
    assert "**Why** “and of Spain?”" in why
    assert "**Understood as** “What is the capital of Spain?”" in why
    await chat.ask("What is the capital of Spain?", scope("ana", channel="c2"))
    (used,) = chat.messenger.posts[-1].lessons
    assert used.startswith("“What is the capital of Spain?”")
    chat.executor.close()


async def test_forgetting_reaches_what_a_follow_up_took_over() -> None:
    oracle = Rewriter({"meant": "What does the walrus eat in Spain?"})
    chat = Chat(model=oracle)
    await chat.ask("What does the walrus eat?", replace(ANA, thread="t"))
    await chat.ask("and in Spain?", replace(BOB, thread="t"))
    assert b"walrus eat in Spain" in content(chat.store)
    await chat.command("forget", "yes", replace(ANA, thread="t"))
    assert b"walrus" not in content(chat.store)
    chat.executor.close()


async def test_a_conversation_is_no_longer_than_the_pause_that_is_set() -> None:
    world = World()
    chat = Chat(world, background=BackgroundConfig(pause=timedelta(minutes=5)))
    await chat.ask("the old matter", direct("ana"))
    world.clock.tick(minutes=6)
    await chat.ask("the new matter", direct("ana"))
    assert [goal_of(each) for each in chat.oracle.requests] == ["the old matter", "the new matter"]
    assert conversation(chat) == []
    chat.executor.close()


HERE = replace(ANA, thread="t1")


async def asked_after(chat: Chat, answer: str, goal: str = "what did they say about lunch on Friday?") -> None:
    chat.oracle.answers[goal] = answer
    await chat.ask(goal, HERE)
    await chat.command("forget", "yes", by=BOB)


async def test_an_answer_that_repeats_a_message_between_people_is_forgotten_with_its_author(chat: Chat) -> None:
    said = Remark(
        message_id="t1", person="bob", text="The samovar stands behind the curtain.", at=chat.world.clock.tick()
    )
    platform(chat).said = [said]
    await asked_after(chat, "Bob says that a samovar stands behind some curtain.")
    assert b"samovar" not in content(chat.store)


async def test_so_is_one_that_repeats_a_question_to_the_bot(chat: Chat) -> None:
    await chat.ask("can the samovar stand behind the curtain?", replace(BOB, thread="t1"))
    await asked_after(chat, "Bob wants the samovar behind the curtain.")
    assert b"samovar" not in content(chat.store)


async def test_so_is_one_that_repeats_an_answer_of_the_bot_that_used_their_lesson(chat: Chat) -> None:
    wrong = await chat.ask("where is the samovar?", BOB)
    await chat.correct("Behind the green curtain.", BOB, message_id=wrong, role=Role.TEACHER)
    chat.oracle.answers["where is the samovar?"] = "Behind the green curtain."
    await chat.ask("where is the samovar?", HERE)
    await asked_after(chat, "As I said: behind the green curtain.")
    assert b"curtain" not in content(chat.store)


async def test_an_answer_that_repeats_nothing_of_it_stays(chat: Chat) -> None:
    await chat.ask("can the samovar stand behind the curtain?", replace(BOB, thread="t1"))
    await asked_after(chat, "Nobody spoke of food.")
    assert b"Nobody spoke of food." in content(chat.store)
    assert b"samovar" not in content(chat.store)


async def test_what_is_forgotten_while_the_model_works_is_not_repeated(chat: Chat) -> None:
    await chat.ask("can the samovar stand behind the curtain?", replace(BOB, thread="t1"))
    goal, gate = "what did they say about lunch on Friday?", asyncio.Event()
    chat.oracle.answers[goal], chat.oracle.gates[goal] = "Bob wants the samovar behind the curtain.", gate
    await chat.sink(chat.message(goal, HERE))
    while await chat.oracle.arrived.get() != goal:
        pass
    await chat.command("forget", "yes", by=BOB)
    gate.set()
    await chat.bot.idle()
    assert ["samovar" in opening(each) for each in chat.oracle.requests[-2:]] == [True, False]
