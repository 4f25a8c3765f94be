"""Simulated people: what they do about an answer, and that their chances do not depend on their habits."""

from itertools import count

from bot.app.bench.people import AnswerWorth, Habits, People
from bot.model import PersonCommand, PersonCorrection, PersonEvent, PersonReaction
from tests.doubles.memory_world import FakeClock


def people(seed: int = 1, **habits: float) -> People:
    numbers = count()
    how = Habits(**habits)  # type: ignore[arg-type]  # `people` is a whole number
    return People(how, seed=seed, clock=FakeClock(), new_id=lambda: f"id-{next(numbers)}")


def said(event: PersonEvent) -> str:
    match event:
        case PersonReaction(emoji=emoji):
            return f"{event.scope.person} {emoji}"
        case PersonCorrection(text=text):
            return f"{event.scope.person}: {text}"
        case _:
            return type(event).__name__


def responses(of: People, answered: AnswerWorth, times: int = 1) -> list[list[str]]:
    return [[said(event) for event in of.respond("post-1", answered, "music")] for _ in range(times)]


def test_one_is_the_asker_and_several_are_others() -> None:
    assert responses(people(), AnswerWorth.RIGHT) == [["asker 👍"]]
    assert responses(people(people=2), AnswerWorth.WRONG) == [["colleague-1 👎", "colleague-2 👎"]]
    assert responses(people(), AnswerWorth.UNKNOWN) == [["asker 👎"]]


def test_only_what_was_not_right_is_corrected_and_by_the_asker() -> None:
    always = people(corrected=1.0)
    assert responses(always, AnswerWorth.RIGHT) == [["asker 👍"]]
    assert responses(always, AnswerWorth.WRONG) == [["asker 👎", "asker: music"]]
    assert responses(people(corrected=1.0, reacted=0.0, people=2), AnswerWorth.UNKNOWN) == [["asker: music"]]


def test_a_question_is_tapped_or_left_and_gets_no_thumb() -> None:
    (tap,) = people().tap("0a1b", 2)
    (none,) = people().tap("0a1b", None)
    assert isinstance(tap, PersonCommand)
    assert isinstance(none, PersonCommand)
    assert (tap.name, tap.argument, none.argument) == ("choose", "0a1b 2", "0a1b none")
    half = people(tapped=0.5)
    assert 400 < sum(bool(half.tap("0a1b", 1)) for _ in range(1000)) < 600
    assert responses(people(corrected=1.0), AnswerWorth.TAP) == [[]]
    assert responses(people(corrected=1.0), AnswerWorth.NEITHER) == [["asker: music"]]


def test_flipped_thumbs_say_the_contrary() -> None:
    assert responses(people(flipped=1.0), AnswerWorth.RIGHT) == [["asker 👎"]]
    assert responses(people(flipped=1.0), AnswerWorth.WRONG) == [["asker 👍"]]


def test_shares_are_met_and_the_same_chances_meet_other_habits() -> None:
    rarely = responses(people(reacted=0.3, corrected=0.5), AnswerWorth.WRONG, 1000)
    always = responses(people(corrected=0.5), AnswerWorth.WRONG, 1000)
    assert 250 < sum("asker 👎" in each for each in rarely) < 350
    assert 450 < sum("asker: music" in each for each in rarely) < 550
    assert [each[-1:] == ["asker: music"] for each in rarely] == [each[-1:] == ["asker: music"] for each in always]


def test_several_ask_each_in_a_channel_and_react_to_their_own() -> None:
    crowd = people(askers=3, channels=2)
    asked = [crowd.ask("which tool?").scope for _ in range(60)]
    assert {scope.person for scope in asked} == {"asker", "asker-1", "asker-2"}
    assert {scope.channel for scope in asked} == {"general", "general-1"}
    assert crowd.repeat("which tool?").scope == asked[-1]
    (thumb,) = crowd.respond("post-1", AnswerWorth.RIGHT, "music")
    assert thumb.scope == asked[-1]
