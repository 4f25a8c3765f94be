"""Answers that people taught, given without asking the model."""

from dataclasses import replace

import pytest

from bot.conversation.commands.settings_command import SettingsFile
from memory.errors import InvalidInput
from memory.model import FROM_PEOPLE, Audience, Role, Scope
from memory.ports import EpisodeFilter
from memory.rules.chat_settings import KNOWN_ANSWERS
from tests.doubles.conversation import Chat
from tests.doubles.memory_world import scope

QUESTION, ANSWER = "where do I park my bicycle?", "In the yard."


@pytest.fixture
def chat() -> Chat:
    return Chat(known_answers=True)


async def teach(chat: Chat, role: Role = Role.TEACHER) -> None:
    wrong = await chat.ask(QUESTION)
    await chat.correct(ANSWER, message_id=wrong, by=scope("tina"), role=role)


async def test_what_people_are_sure_of_is_answered_without_the_model(chat: Chat) -> None:
    await teach(chat)
    asked = len(chat.oracle.asked)
    await chat.ask(QUESTION, scope("bo"))
    answer = chat.messenger.posts[-1]
    assert (answer.text, len(chat.oracle.asked)) == (ANSWER, asked)
    marked = "(100% match, taught by tina; known from people, no model was asked)"
    assert [line.endswith(marked) for line in answer.lessons] == [True]
    (episode,) = chat.world.nodes(chat.world.memory.audit.episodes(scope().workspace, EpisodeFilter())[0])
    assert (episode.model, episode.usage.prompt_tokens) == (FROM_PEOPLE, 0)
    assert chat.world.memory.audit.statistics(scope().workspace)[0]["answers.without_model"] == 1


async def test_a_thumb_down_on_it_works_as_on_any_answer(chat: Chat) -> None:
    await teach(chat)
    message = await chat.ask(QUESTION, scope("bo"))
    await chat.react(message, "👎", by=scope("bo"))
    asked = len(chat.oracle.asked)
    await chat.ask(QUESTION, scope("bo"))
    assert len(chat.oracle.asked) == asked + 1


async def test_what_is_not_sure_is_asked_of_the_model(chat: Chat) -> None:
    await teach(chat)
    asked = len(chat.oracle.asked)
    await chat.ask("who waters the plants on the roof?", scope("bo"))
    assert len(chat.oracle.asked) == asked + 1


async def test_what_one_member_said_to_nobody_else_is_no_answer_for_others(chat: Chat) -> None:
    await teach(chat, Role.MEMBER)
    asked = len(chat.oracle.asked)
    await chat.ask(QUESTION, scope("bo"))
    assert len(chat.oracle.asked) == asked + 1


async def switch(chat: Chat, argument: str, by: Scope, role: Role = Role.TEACHER) -> str:
    return await chat.command("known-answers", argument, by, role=role)


async def is_known(chat: Chat, by: Scope) -> bool:
    asked = len(chat.oracle.asked)
    await chat.ask(QUESTION, by)
    return len(chat.oracle.asked) == asked


async def test_without_the_setting_a_teacher_switches_it_on_for_one_channel() -> None:
    chat = Chat()
    await teach(chat)
    there = scope("bo", channel="c2")
    at = chat.world.clock.tick()
    teach_there = chat.world.memory.teaching.teach
    teach_there(replace(there, person="tina"), QUESTION, ANSWER, role=Role.TEACHER, audience=Audience.CHANNEL, at=at)
    assert not await is_known(chat, scope("bo"))
    assert (await switch(chat, "", scope("tina"))).startswith("Here I ask the language model every time. `")
    assert "without asking the language model" in await switch(chat, "on", scope("tina"))
    assert "(tina decided that)" in await switch(chat, "", scope("bo", channel="c1"))
    assert (await is_known(chat, scope("bo")), await is_known(chat, there)) == (True, False)
    await switch(chat, "off", scope("tim"))
    assert not await is_known(chat, scope("bo"))


async def test_without_a_language_model_it_is_not_said_to_be_asked() -> None:
    chat = Chat(settings_file=SettingsFile(is_offline=True))
    for switched, value, other in (("", "off", "on"), ("on", "on", "off")):
        said = await switch(chat, switched, scope("tina"))
        assert said.startswith("I have no language model: what people taught and are sure of, I always answer here.")
        assert f"known-answers would be {value}" in said
        assert said.endswith(f"`!known-answers {other}` changes it.")


async def test_it_can_be_switched_off_where_the_setting_has_it_on(chat: Chat) -> None:
    await teach(chat)
    await switch(chat, "off", scope("tina"))
    assert not await is_known(chat, scope("bo"))


async def test_members_do_not_decide_it(chat: Chat) -> None:
    assert "for teachers" in await switch(chat, "off", scope("bo"), Role.MEMBER)
    with pytest.raises(InvalidInput, match="teachers"):
        chat.world.memory.chat_settings.change(scope("bo"), Role.MEMBER, KNOWN_ANSWERS, "off")
    assert chat.world.memory.chat_settings.here(scope("bo")) == {}


async def test_who_switched_it_is_forgotten_and_the_switch_stays() -> None:
    chat = Chat()
    await switch(chat, "on", scope("tina"))
    await chat.ask(QUESTION, scope("tina"))
    chat.world.memory.privacy.forget(scope().workspace, "tina")
    kept = chat.world.memory.chat_settings.here(scope())[KNOWN_ANSWERS]
    assert (kept.value, kept.changed_by) == ("on", "")
    assert chat.world.memory.chat_settings.changes(scope().workspace) == []


async def test_a_question_about_another_thing_is_asked_of_the_model_however_alike_it_sounds(chat: Chat) -> None:
    long = "where in the whole building of the company do I find the room with the number"
    for number, answer in ((101, "On the first floor."), (205, "On the second floor.")):
        wrong = await chat.ask(f"{long} {number}?")
        await chat.correct(answer, message_id=wrong, by=scope("tina"), role=Role.TEACHER)
    await chat.ask(f"{long} 101?", scope("bo"))
    assert chat.messenger.posts[-1].text == "On the first floor."
    asked = len(chat.oracle.asked)
    await chat.ask(f"{long} 333?", scope("bo"))
    assert len(chat.oracle.asked) == asked + 1


async def test_the_setting_is_off_by_default() -> None:
    chat = Chat()
    await teach(chat)
    asked = len(chat.oracle.asked)
    await chat.ask(QUESTION, scope("bo"))
    assert len(chat.oracle.asked) == asked + 1
