"""What the bot says of people."""

from dataclasses import replace

import pytest

from bot.conversation.commands.lesson_lines import answer_line, belief_line
from bot.conversation.messages import lesson_line, lesson_lines, named
from memory.model import ASK, GAVE_UP, Audience, Lesson, Step, StepKind, Termination
from memory.services import UsedLesson
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import World, scope
from tests.doubles.model import fail

SHED: dict[str, object] = {"action": "answer", "label": "the shed"}


def test_who_is_called_you_is_not_taken_for_the_reader() -> None:
    you, bob = scope("you"), scope("bob")
    assert [named("you", you), named("you", bob), named("you", None), named("ana", bob)] == [
        "you",
        "whoever began this chat",
        "you",
        "ana",
    ]
    world = World()
    lesson = world.ask("where is the key?", "Under the pot.", of=you)
    used = UsedLesson(episode=lesson, relevance=0.94)
    assert "94% match, taught by you)" in lesson_line(used, you)
    assert "94% match, taught by whoever began this chat)" in lesson_line(used, bob)
    assert "taught by you," in belief_line(lesson, Lesson.REPEAT, Audience.PERSONAL, you)
    assert "taught by whoever began this chat," in belief_line(lesson, Lesson.REPEAT, Audience.CHANNEL, bob)
    proposed = UsedLesson(episode=lesson, relevance=None, is_proposed=True)
    assert lesson_line(proposed, bob).endswith("(proposed by whoever began this chat)")


def test_a_lesson_that_answers_only_a_part_shows_that_part_in_lists() -> None:
    world = World()
    partial = replace(
        world.ask("what is 6*7 and who is the boss?", "6 * 7 = 42\n\nI don't know: “who is the boss?”."),
        termination=Termination.FAILURE,
        action=Termination.EXPAND,
    )
    line = belief_line(partial, Lesson.REPEAT, Audience.PERSONAL, ANA)
    assert "boss?” - 6 * 7 = 42 I don't know: “who is the boss?”. - taught by" in line
    nothing = replace(partial, action=GAVE_UP)
    assert "boss?” - no answer - taught by" in belief_line(nothing, Lesson.AVOID, Audience.PERSONAL, ANA)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([SHED], "I asked whether this is meant: “the shed”"),
        ([SHED, {"action": "answer", "label": "the yard"}], "I asked which of these: “the shed”, “the yard”"),
        ([{"action": "send", "label": "Sends it", "approval": True}], "I asked whether I may do this: “Sends it”"),
    ],
)
def test_a_question_of_the_bot_is_listed_with_what_it_asks(options: list[dict[str, object]], shown: str) -> None:
    asks = Step(kind=StepKind.ACT, tool=ASK, arguments={"options": options})
    assert answer_line(replace(World().ask("where?", "?"), trajectory=(asks,)), 60) == shown


@pytest.mark.parametrize(("emoji", "told"), [("👍", 1), ("👎", 0)])
async def test_an_answer_names_what_was_proposed_and_not_what_was_refused(emoji: str, told: int) -> None:
    chat = Chat()
    question = "where is the spare key?"
    await chat.react(await chat.ask(question, ANA), emoji, by=ANA)
    await chat.ask(question, BOB)
    assert len(chat.messenger.posts[-1].lessons) == told
    await chat.bot.idle()
    chat.executor.close()


async def test_an_answer_that_knows_nothing_used_no_lesson() -> None:
    chat = Chat()
    chat.oracle.answers |= {
        "where is the key?": "Under the flowerpot.",
        "where is the blue key?": "Under the flowerpot.",
    }
    await chat.react(await chat.ask("where is the key?"), "👍")
    await chat.ask("where is the blue key?")
    assert chat.messenger.posts[-1].lessons != ()
    chat.oracle.answers["where is the blue key?"] = fail("I looked under the flowerpot, and don't know.")
    await chat.ask("where is the blue key?")
    assert chat.messenger.posts[-1].lessons == ()
    await chat.bot.idle()
    chat.executor.close()


def test_lessons_that_read_the_same_are_named_once() -> None:
    world = World()
    lessons = [world.ask("where is the key?", answer, of=BOB) for answer in ("Under the pot.", "Under the blue pot.")]
    used = [UsedLesson(episode=each, relevance=None, is_proposed=True) for each in lessons]
    assert lesson_lines(used, ANA) == ("“where is the key?” (proposed by bob)",)


async def test_why_describes_who_is_called_you_to_others() -> None:
    chat, you = Chat(), scope("you")
    await chat.react(await chat.ask("lunch?", you), by=you)
    assert "approved (you 👍)" in await chat.command("why", by=you)
    assert "approved (whoever began this chat 👍)" in await chat.command("why", by=BOB)
    await chat.bot.idle()
    chat.executor.close()
