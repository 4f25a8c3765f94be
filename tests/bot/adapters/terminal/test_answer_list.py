"""What is picked by typing, where the bot asks what is meant."""

import pytest

from bot.adapters.terminal.answer_list import AnswerList
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
        ("0", None),
        ("5", None),
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
    assert answers.chosen(typed) is None
    answers.offer(OFFERED)
    found = answers.chosen(typed)
    assert (found.label if found else None) == picked
    answers.offer(())
    assert answers.chosen(typed) is None
