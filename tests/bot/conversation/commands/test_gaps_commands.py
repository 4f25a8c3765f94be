"""What nobody could answer, told to teachers, and their answers to it."""

from dataclasses import replace

import pytest

from memory.model import Role, Scope, Visibility
from memory.ports import EpisodeFilter
from tests.doubles.conversation import Chat
from tests.doubles.memory_world import scope
from tests.doubles.model import ReadyModel, fail
from tests.doubles.stores import content

QUESTION, OTHER = "where do I park my bicycle?", "who feeds the office cat?"
TINA = scope("tina")


class Ignorant(ReadyModel):
    """Knows nothing."""

    name = "ignorant"

    async def reply(self, request: object) -> object:
        return fail("I don't know.")


@pytest.fixture
def chat() -> Chat:
    return Chat(model=Ignorant())  # type: ignore[arg-type]  # it does not look at the request


async def gaps(chat: Chat, by: Scope = TINA, role: Role = Role.TEACHER) -> str:
    return await chat.command("gaps", by=by, role=role)


def private(person: str) -> Scope:
    return scope(person, channel="p1", visibility=Visibility.PRIVATE)


def direct(person: str) -> Scope:
    return scope(person, channel=f"dm-{person}", visibility=Visibility.DIRECT)


async def test_the_question_that_most_asked_comes_first_with_a_button_each(chat: Chat) -> None:
    await chat.ask(OTHER, scope("ana"))
    for person in ("ana", "bo"):
        await chat.ask(QUESTION, scope(person))
    said = await gaps(chat)
    assert said.index(f"1. 2 questions like “{QUESTION}”") < said.index(f"2. asked once: “{OTHER}”")
    choices = chat.messenger.posts[-1].choices
    assert [(each.label, each.command) for each in choices] == [
        (f"Answer 1: {QUESTION}", "teach"),
        (f"Answer 2: {OTHER}", "teach"),
    ]
    assert all(choice.argument in said for choice in choices)


async def test_a_teachers_answer_counts_where_the_question_was_asked_and_closes_the_gap(chat: Chat) -> None:
    there = scope("bo", channel="c2")
    await chat.ask(QUESTION, there)
    await gaps(chat)
    (choice,) = chat.messenger.posts[-1].choices
    assert QUESTION in await chat.command("teach", choice.argument, by=TINA, role=Role.TEACHER)
    said = await chat.command("teach", f"{choice.argument} In the Yard.", by=TINA, role=Role.TEACHER)
    assert said.startswith("Saved as a lesson for everybody in ")
    assert "Every question that I may show here was answered" in said
    recalled = chat.world.memory.recalling.recall(scope("cy", channel="c2"), QUESTION, actions=())
    assert [each.episode.output for each in recalled.exemplars] == ["In the Yard."]


async def test_what_was_asked_elsewhere_in_private_is_told_to_nobody(chat: Chat) -> None:
    await chat.ask(QUESTION, private("ana"))
    await chat.ask(OTHER, direct("ana"))
    hidden = {each.episode.id for each in chat.world.memory.gaps.find(TINA.workspace)}
    assert len(hidden) == 2
    for reader in (TINA, direct("tina"), scope("tina", channel="s1", visibility=Visibility.SHARED)):
        assert "may show here was answered" in await gaps(chat, reader)
        for each in hidden:
            said = await chat.command("teach", f"{each[-8:]} Aha.", by=reader, role=Role.TEACHER)
            assert said.startswith("I know no such question")
    assert QUESTION in await gaps(chat, private("tina"))
    assert OTHER not in await gaps(chat, private("tina"))
    assert OTHER in await gaps(chat, direct("ana"))


async def test_private_questions_are_not_even_counted(chat: Chat) -> None:
    await chat.ask(QUESTION, scope("ana"))
    for person in ("bo", "cy"):
        await chat.ask(QUESTION, private(person))
    assert f"asked once: “{QUESTION}”" in await gaps(chat)
    assert f"3 questions like “{QUESTION}”" in await gaps(chat, private("tina"))


async def test_members_are_told_nothing(chat: Chat) -> None:
    await chat.ask(QUESTION, scope("ana"))
    assert "for teachers" in await gaps(chat, scope("bo"), Role.MEMBER)
    (gap,) = chat.world.memory.gaps.find(TINA.workspace)
    said = await chat.command("teach", f"{gap.episode.id[-8:]} Aha.", by=scope("bo"))
    assert "for teachers" in said


async def test_an_answer_that_was_given_cannot_be_taught_as_a_gap() -> None:
    known = Chat()
    await known.ask(QUESTION)
    (answered,) = known.world.memory.audit.episodes(TINA.workspace, EpisodeFilter())
    said = await known.command("teach", f"{answered.id[-8:]} Aha.", by=TINA, role=Role.TEACHER)
    assert said.startswith("I know no such question")
    assert "`!gaps` lists those that do; `!teach ID ANSWER` answers one." in said


async def test_what_was_asked_among_four_eyes_is_answered_there(chat: Chat) -> None:
    await chat.ask(QUESTION, direct("tina"))
    assert "counts where it was asked" in await gaps(chat, direct("tina"))
    said = await pressed(chat, direct("tina"))
    assert said.startswith("Saved as your lesson; it was said in private")


async def test_the_buttons_in_direct_messages_teach_those_who_asked_as_those_of_the_digest_do(chat: Chat) -> None:
    await chat.ask(QUESTION, scope("bo"))
    await chat.ask(OTHER, scope("bo"))
    await gaps(chat, direct("tina"))
    for _ in range(2):  # the second one is under the list that follows the first answer
        assert (await pressed(chat, direct("tina"))).startswith("Saved as a lesson for everybody in ")


async def pressed(chat: Chat, by: Scope) -> str:
    """The reply to an answer given by the first button."""
    choice = chat.messenger.posts[-1].choices[0]
    return await chat.command(choice.command, f"{choice.argument} In the yard.", by=by, role=Role.TEACHER)


async def corrected(chat: Chat, by: Scope, text: str = "In the yard.") -> str:
    """The end of the id of a lesson that waits for a teacher."""
    await chat.ask(QUESTION, by)
    await chat.correct(text, by)
    (lesson,) = chat.world.memory.audit.episodes(TINA.workspace, EpisodeFilter(author=by.person, text=text))
    return lesson.id[-8:]


async def test_a_teachers_wording_of_a_waiting_lesson_keeps_no_question_of_who_is_forgotten(chat: Chat) -> None:
    waiting = await corrected(chat, scope("bo"))
    await chat.command("teach", f"{waiting} In the shed.", by=TINA, role=Role.TEACHER)
    assert QUESTION in await chat.command("memory", by=TINA)
    await chat.command("forget", "yes", by=scope("bo"))
    assert QUESTION.encode() not in content(chat.store)
    (kept,) = chat.world.memory.audit.episodes(TINA.workspace, EpisodeFilter(author="tina"))
    assert (kept.goal, kept.output) == ("", "In the shed.")


async def test_a_teachers_wording_in_a_channel_that_is_closed_stays_there_when_it_opens(chat: Chat) -> None:
    waiting = await corrected(chat, scope("bo"))
    closed = replace(TINA, visibility=Visibility.PRIVATE)
    await chat.command("teach", f"{waiting} In the vault.", by=closed, role=Role.TEACHER)
    assert "vault" in await chat.command("memory", by=closed)
    for seat in (TINA, scope("bo"), scope("tina", channel="c2")):
        assert "vault" not in await chat.command("memory", by=seat, role=Role.TEACHER)
