"""What is picked by typing, where the bot asks what is meant."""

import pytest

from bot.adapters.terminal.answer_list import AnswerList
from bot.errors import CommandRefused
from bot.model import Choice

OFFERED = (
    *(Choice(label=label, command="choose") for label in ("At the desk.", "Pay a bill")),
    Choice(label="Yes. (is it open?)", command="choose", words="Yes."),
    Choice(label="None of these", command="choose"),
)


@pytest.mark.parametrize(
    ("typed", "picked"),
    [
        ("1", "At the desk."),
        ("4", "None of these"),
        ("yes", "Yes. (is it open?)"),
        ("Yes. (is it open?)", "Yes. (is it open?)"),
        ("is it open?", None),
        ("100", None),
        ("at the desk", "At the desk."),
        ("PAY A BILL", "Pay a bill"),
        ("none", "None of these"),
        ("None of these.", "None of these"),
        ("pay", None),
        ("where is the desk?", None),
        ("", None),
        (".", None),
    ],
)
def test_a_number_or_what_stands_on_a_choice_picks_it(typed: str, picked: str | None) -> None:
    answers = AnswerList()
    answers.offer(OFFERED)
    found = answers.chosen(typed)
    assert (found.label if isinstance(found, Choice) else found) == picked
    answers.offer(())
    assert answers.chosen(typed) is None


@pytest.mark.parametrize("typed", ["0", "5", "99"])
def test_a_number_that_is_not_offered_chooses_and_asks_nothing(typed: str) -> None:
    answers = AnswerList()
    answers.offer(OFFERED)
    with pytest.raises(CommandRefused, match="from 1 to 4"):
        answers.chosen(typed)
    assert isinstance(answers.chosen("2"), Choice)
    answers.offer(())
    assert answers.chosen(typed) is None


@pytest.mark.parametrize(
    ("typed", "argument"), [("1", "1"), ("12", "12"), ("none", "none"), ("None of these.", "none")]
)
def test_what_is_typed_first_is_about_the_last_question_of_an_earlier_process(typed: str, argument: str) -> None:
    answers = AnswerList()
    found = answers.chosen(typed)
    assert isinstance(found, Choice)
    assert (found.command, found.argument) == ("choose", argument)
    assert answers.chosen(typed) is None  # if there was none, it is a message the second time
    answered = AnswerList()
    answered.add("m1")
    assert answered.chosen(typed) is None
