"""What people taught stays right, alone and two questions in one message, with the real embedder in the whole bot."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from bot.adapters.llm.offline.model import OfflineModel
from bot.app.bench.fresh_bot import FreshBot, SimulatedClock, fresh_bot
from bot.app.bench.people import CHANNEL
from bot.config import load_settings
from bot.model import PersonCorrection, PersonMessage, PersonReaction, PersonTeaching
from tests.bot.adapters.llm.offline_goals import TAUGHT
from tests.doubles.packaged_embedder import packaged_embedder

pytestmark = pytest.mark.model

ANSWERS = {question: answer for question, answer, _ in TAUGHT}


class Asker:
    """One person who teaches, asks and reacts."""

    def __init__(self, bot: FreshBot, clock: SimulatedClock) -> None:
        self._bot = bot
        self._clock = clock
        self._messenger = bot.messenger
        self._events = 0

    def _event(self) -> str:
        self._events += 1
        self._clock.advance(timedelta(minutes=2))
        return f"event-{self._events}"

    async def teach(self, question: str, answer: str) -> None:
        await self._bot.send(
            PersonTeaching(event_id=self._event(), scope=CHANNEL, at=self._clock(), question=question, answer=answer)
        )

    async def ask(self, text: str) -> str:
        name = self._event()
        self._messenger.answer = None
        await self._bot.send(PersonMessage(event_id=name, scope=CHANNEL, message_id=name, text=text, at=self._clock()))
        assert self._messenger.answer is not None
        return self._messenger.answer.text

    async def correct(self, text: str) -> None:
        """The last answer."""
        await self._bot.send(PersonCorrection(event_id=self._event(), scope=CHANNEL, at=self._clock(), text=text))

    async def react(self, emoji: str) -> None:
        """To the last answer."""
        assert self._messenger.answer is not None
        message_id = self._messenger.answer.message_id
        await self._bot.send(
            PersonReaction(
                event_id=self._event(),
                scope=CHANNEL,
                at=self._clock(),
                message_id=message_id,
                emoji=emoji,
                added=True,
            )
        )


@asynccontextmanager
async def taught_bot(folder: Path, answers: Mapping[str, str] = ANSWERS) -> AsyncIterator[Asker]:
    """A bot that was taught every question once."""
    settings = load_settings({}, config_path=None, cwd=folder, data_dir=folder)
    embedder, clock = packaged_embedder(), SimulatedClock()
    async with fresh_bot(settings, embedder, clock, OfflineModel(embedder.embed)) as bot:
        asker = Asker(bot, clock)
        for question, answer in answers.items():
            await asker.teach(question, answer)
        yield asker


def joined(one: str, other: str, chance: random.Random) -> str:
    return one.rstrip("?.") + chance.choice([" and ", " and then ", ", then "]) + other[0].lower() + other[1:]


def test_word_for_word_each_is_right_and_so_are_two_in_one_message(tmp_path: Path) -> None:
    async def ask_all() -> tuple[list[str], list[str]]:
        chance = random.Random(3)
        async with taught_bot(tmp_path) as asker:
            wrong = [question for question, answer in ANSWERS.items() if await asker.ask(question) != answer]
            texts = {joined(*pair, chance): pair for pair in combinations(ANSWERS, 2)}
            halved = []
            for text, pair in texts.items():
                answer = await asker.ask(text)
                if not all(ANSWERS[question] in answer for question in pair):
                    halved.append(text)
        return wrong, halved

    wrong, halved = asyncio.run(ask_all())
    assert wrong == []
    assert len(halved) <= 2, halved  # of 36


NORWAY, HARALD = "who is the king of Norway?", "Harald."
KNOWN = {"where is the spare key of the van?": "Behind the desk.", "when does the canteen open?": "At 11:30."}


def test_of_requests_that_are_all_unknown_each_is_named_and_taught_alone(tmp_path: Path) -> None:
    printer, canteen = "where is the printer", "when does the canteen open?"

    async def ask() -> list[str]:
        async with taught_bot(tmp_path, {}) as asker:
            told = [await asker.ask(f"{printer} and {canteen}")]
            for part, answer in ((printer, "On floor 2."), (canteen, "At 11:30.")):
                await asker.ask(part)
                await asker.correct(answer)
            return [*told, await asker.ask(f"{printer} and {canteen}")]

    unknown, known = asyncio.run(ask())
    assert unknown.startswith(f"I don't know: “{printer}”, “{canteen}”.")
    assert known == "On floor 2.\n\nAt 11:30."


def test_a_reminder_beside_an_unknown_request_is_set_once(tmp_path: Path) -> None:
    async def ask() -> list[str]:
        async with taught_bot(tmp_path, {}) as asker:
            return [await asker.ask("remind me in 20 minutes to call Ana and where is the ladder?")]

    (answer,) = asyncio.run(ask())
    assert answer.startswith("I will remind you: “call Ana”, on ")
    assert "I don't know: “where is the ladder?”." in answer


@pytest.mark.parametrize(
    "question",
    [
        f"where is the spare key of the van and {NORWAY}",
        "who is the king of Norway and where is the van's spare key?",
    ],
)
def test_of_a_known_and_an_unknown_request_the_answer_names_the_unknown_one_which_a_correction_teaches(
    tmp_path: Path, question: str
) -> None:

    async def ask() -> list[str]:
        async with taught_bot(tmp_path, KNOWN) as asker:
            told = [await asker.ask(question)]
            await asker.correct(HARALD)
            return [*told, await asker.ask(question), await asker.ask(NORWAY)]

    first, again, alone = asyncio.run(ask())
    unknown = "I don't know: “who is the king of Norway"
    assert first.startswith(f"Behind the desk.\n\n{unknown}")
    assert "Whoever knows it, tell me: `" in first
    assert (sorted(again.split("\n\n")), alone) == (sorted(["Behind the desk.", HARALD]), HARALD)


@pytest.mark.parametrize("joint", [" and then ", ", then "])
def test_an_unknown_request_before_then_withholds_nothing_that_was_taught(tmp_path: Path, joint: str) -> None:
    answer = asked(tmp_path, KNOWN, f"{NORWAY[:-1]}{joint}where is the spare key of the van?")
    assert answer.startswith("Behind the desk.\n\nI don't know: “who is the king of Norway”.")


@pytest.mark.parametrize("joint", [", then ", ", ", " and "])
def test_of_three_requests_an_unknown_one_withholds_neither_of_the_others(tmp_path: Path, joint: str) -> None:
    asks = [NORWAY[:-1], "where is the spare key of the van", "when does the canteen open?"]
    answer = asked(tmp_path, KNOWN, joint.join(asks))
    assert answer.startswith("Behind the desk.\n\nAt 11:30.\n\nI don't know: “who is the king of Norway”.")


@pytest.mark.parametrize("joint", [" and ", "? "])
def test_two_unknown_requests_side_by_side_are_named_one_by_one(tmp_path: Path, joint: str) -> None:
    asks = ["where is the spare key of the van", "how tall is the Eiffel tower", NORWAY]
    answer = asked(tmp_path, KNOWN, joint.join(asks))
    end = joint.strip(" and")
    assert answer.startswith(f"Behind the desk.\n\nI don't know: “how tall is the Eiffel tower{end}”, “{NORWAY}”.")


def test_of_unknown_requests_in_order_one_is_asked_about_after_the_other(tmp_path: Path) -> None:
    known = {"how do I book a meeting room?": "In the calendar.", "where is the spare key?": "Under the pot."}
    answer = asked(tmp_path, known, "how do I get a badge, and then where do I find the printer paper?")
    assert answer.startswith("About “how do I get a badge”: I am not sure. Did you mean this?")
    assert answer.endswith("I have not answered this yet: “where do I find the printer paper?”.")


def test_an_answer_to_one_part_is_not_offered_for_another(tmp_path: Path) -> None:
    known = {"where is the spare key?": "Under the pot."}
    rest = "how do I book the van?"
    assert asked(tmp_path, known, rest).startswith("I am not sure. Did you mean this?\n\n- “Under the pot.”")
    answer = asked(tmp_path, known, f"where is the spare key and {rest}")
    assert answer.startswith(f"Under the pot.\n\nI don't know: “{rest}”.")


def test_a_part_on_which_a_tool_fails_is_named_beside_what_was_taught_for_nearly_the_whole(tmp_path: Path) -> None:
    answer = asked(tmp_path, KNOWN, "when does the canteen open and what is 5/0?")
    assert answer.startswith("At 11:30.\n\nI don't know: “what is 5/0?” (Division by zero has no result).")


def test_what_comes_after_a_tool_that_failed_is_named_as_left_out(tmp_path: Path) -> None:
    answer = asked(tmp_path, KNOWN, "what is 5/0, then what is 2+2?")
    assert "(Division by zero has no result). So I left out: “what is 2+2?”." in answer


@pytest.mark.parametrize("rest", ["how do I connect the printer to it?", "can guests of ours use that?"])
def test_a_part_that_may_be_about_the_one_before_is_not_taken_apart(tmp_path: Path, rest: str) -> None:
    known = {"what is the wifi password?": "tea4two", "when does the canteen open?": "At 11:30."}
    assert asked(tmp_path, known, f"what is the wifi password and {rest}") == "tea4two"


@pytest.mark.parametrize("joint", [" and ", " & ", ", then "])
@pytest.mark.parametrize(
    "taught",
    [
        ("cancel my reservation", "order me a pizza"),
        ("please cancel my reservation at the hotel", "who can order pizza?"),
    ],
)
def test_two_errands_in_one_message_get_both_answers(tmp_path: Path, taught: tuple[str, str], joint: str) -> None:
    answers = dict(zip(taught, ("Write to the desk.", "Call Luigi."), strict=True))
    text = f"cancel my reservation{joint}order me a pizza"
    assert asked(tmp_path, answers, text) == "Write to the desk.\n\nCall Luigi."


@pytest.mark.parametrize("text", ["{}\n{}", "- {}\n- {}", "Hi, two questions:\n1) {}\n2) {}\nThanks!", "{}? ¿{}?"])
def test_two_questions_in_lines_get_both_answers(tmp_path: Path, text: str) -> None:
    answers = {"Where is the spare key?": "Under the pot.", "Who is our CFO?": "Cleo."}
    assert (
        asked(tmp_path, answers, text.format("where is the spare key", "who is our CFO")) == "Under the pot.\n\nCleo."
    )


def test_three_lines_get_three_answers(tmp_path: Path) -> None:
    answers = {"Where is the spare key?": "Under the pot.", "Cancel my reservation": "Write to the desk."}
    said = asked(tmp_path, answers, "- where is the spare key\n- what is 2+2\n- cancel my reservation")
    assert said == "Under the pot.\n\n2 + 2 = 4\n\nWrite to the desk."


def test_two_questions_for_one_tool_get_both_answers(tmp_path: Path) -> None:
    answer = asked(tmp_path, {}, "What time is it in Tokyo? What time is it in Paris?")
    assert ["Asia/Tokyo" in answer, "Europe/Paris" in answer] == [True, True]


def test_an_errand_with_what_was_just_named_is_no_second_request(tmp_path: Path) -> None:
    answers = {
        "how do I book a meeting room?": "In the calendar.",
        "how do I cancel my train ticket?": "Call the desk.",
    }
    assert asked(tmp_path, answers, "book a meeting room and cancel it") == "In the calendar."


def test_a_right_pair_that_was_refused_is_right_again(tmp_path: Path) -> None:
    pair = ("What is the wifi password?", "Who is our CFO?")

    async def refuse() -> list[bool]:
        text = joined(*pair, random.Random(3))
        found = []
        async with taught_bot(tmp_path) as asker:
            for emoji in ("👎", "👎", "👍", ""):
                answer = await asker.ask(text)
                found.append(all(ANSWERS[question] in answer for question in pair))
                if emoji:
                    await asker.react(emoji)
            found += [await asker.ask(question) == ANSWERS[question] for question in pair]
        return found

    assert asyncio.run(refuse()) == [True] * 6


@pytest.mark.parametrize("greeting", ["hi, ", "good morning! ", "hey goodbot "])
def test_who_greets_and_asks_is_answered_and_not_told_to_ask(tmp_path: Path, greeting: str) -> None:
    assert asked(tmp_path, {"where is the spare key?": "Here."}, f"{greeting}where is the spare key?") == "Here."
    assert asked(tmp_path, {}, f"{greeting}who is our CFO?").startswith("I don't know that.")


def test_a_question_that_was_taught_with_its_greeting_is_known_so(tmp_path: Path) -> None:
    answers = {"hello, what is your name?": "Goodbot.", "what is your name in full?": "Goodbot the First."}
    assert asked(tmp_path, answers, "hello, what is your name?") == "Goodbot."


def test_a_question_that_begins_like_a_greeting_keeps_its_words(tmp_path: Path) -> None:
    answers = {
        "how are you hosted?": "In Ghent.",
        "when is the team lunch?": "At noon.",
        "when is lunch served?": "At 11.",
    }
    assert asked(tmp_path, answers, "how are you hosted and when is the team lunch?") == "In Ghent.\n\nAt noon."
    assert asked(tmp_path, answers, "good morning, team lunch is when?") == "At noon."


def test_who_refuses_an_answer_to_a_question_with_a_greeting_is_not_greeted_for_it(tmp_path: Path) -> None:
    async def refuse() -> str:
        async with taught_bot(tmp_path, {"where is the spare key?": "Under the blue pot."}) as asker:
            await asker.ask("hi, where is the spare key?")
            await asker.react("👎")
            return await asker.ask("hi, where is the spare key?")

    assert asyncio.run(refuse()).startswith("I don't know that.")


def test_who_refuses_what_they_taught_is_not_told_it_again_until_they_teach_it_again(tmp_path: Path) -> None:
    question, answer = "where is the spare key?", "Under the blue pot."

    async def change() -> list[bool]:
        async with taught_bot(tmp_path, {question: answer}) as asker:
            told = [await asker.ask(question) == answer]
            for again in (False, True, False):
                await (asker.teach(question, answer) if again else asker.react("👎"))
                told.append(await asker.ask(question) == answer)
        return told

    assert asyncio.run(change()) == [True, False, True, False]


def test_who_refuses_an_answer_is_not_given_it_again_for_the_same_words(tmp_path: Path) -> None:
    taught, similar, answer = "where is the spare key?", "where is our spare key?", "Under the blue pot."

    async def refuse() -> list[bool]:
        async with taught_bot(tmp_path, {taught: answer}) as asker:
            told = [await asker.ask(similar) == answer]
            await asker.react("👎")
            told += [await asker.ask(question) == answer for question in (similar, taught)]
            await asker.teach(similar, answer)
            told.append(await asker.ask(similar) == answer)
        return told

    assert asyncio.run(refuse()) == [True, False, True, True]


def test_thanks_get_the_answer_that_people_taught_for_them(tmp_path: Path) -> None:
    async def thank() -> list[str]:
        async with taught_bot(tmp_path) as asker:
            before = await asker.ask("thanks for the help")
            await asker.teach("thanks for the help", "Any time, mate.")
            return [before, await asker.ask("thanks for the help")]

    assert asyncio.run(thank()) == ["You are welcome.", "Any time, mate."]


def asked(folder: Path, answers: Mapping[str, str], question: str) -> str:
    async def ask() -> str:
        async with taught_bot(folder, answers) as asker:
            return await asker.ask(question)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("answers", "question"),
    [
        ({"Where is the Berlin office?": "Torstrasse 12."}, "Where is the Paris office?"),
        ({"What is in room 204?": "The printer."}, "What is in room 105?"),
        ({"What is the code of door 12?": "4711."}, "What is the code of door 13?"),
        ({"How do I enable dark mode?": "Tick it in the settings."}, "How do I disable dark mode?"),
        (
            {
                "How do I open the Berlin door?": "Type 12# on the pad.",
                "How do I open the Paris door?": "Type 12# on the pad.",
            },
            "How do I close the Berlin door?",
        ),
        (
            {"Is the Berlin office open today?": "Yes.", "Is the Berlin office open tomorrow?": "Yes."},
            "Is the Paris office open today?",
        ),
    ],
)
def test_of_another_thing_it_asks_whether_the_answer_is_meant(
    tmp_path: Path, answers: dict[str, str], question: str
) -> None:
    found = asked(tmp_path, answers, question)
    assert found.startswith("I am not sure. Did you mean")
    assert next(iter(answers.values())) in found


def test_where_little_is_taught_it_offers_nothing_that_has_no_relation(tmp_path: Path) -> None:
    taught = {"where is the spare key?": "Under the blue pot.", "when does the canteen open?": "At 11:30."}
    found = asked(tmp_path, taught, "opening hours")
    assert "At 11:30." in found
    assert "Under the blue pot." not in found
    again = {**taught, "where is teh spaer key?": "Under the blue pot."}
    for nonsense in ("?", "...", "who won the world cup?"):
        assert asked(tmp_path, again, nonsense).startswith("I don't know that."), nonsense


def test_what_holds_for_two_things_is_told_for_a_third_one(tmp_path: Path) -> None:
    code = "Type 12# on the pad."
    taught = {"How do I open the Berlin door?": code, "How do I open the Paris door?": code}
    assert asked(tmp_path, taught, "How do I open the Rome door?") == code
