"""Answers that people taught, given without asking the model."""

import pytest

from memory.model import FROM_PEOPLE, Role
from memory.ports import EpisodeFilter
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
    assert [line.endswith("taught by tina)") for line in answer.lessons] == [True]
    (episode,) = chat.world.nodes(chat.world.memory.audit.episodes(scope().workspace, EpisodeFilter())[0])
    assert (episode.model, episode.usage.prompt_tokens) == (FROM_PEOPLE, 0)
    assert chat.world.memory.audit.stats(scope().workspace)["answers.without_model"] == 1


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


async def test_the_setting_is_off_by_default() -> None:
    chat = Chat()
    await teach(chat)
    asked = len(chat.oracle.asked)
    await chat.ask(QUESTION, scope("bo"))
    assert len(chat.oracle.asked) == asked + 1
