"""Choices in words, as pure functions."""

import pytest
from hypothesis import given, strategies as st

from bot.conversation.answers.choice_words import number_of, read_choice

KEYS = ["Behind the front desk.", "Under the blue pot.", "In the cellar."]


def chosen(text: str, options: list[str]) -> int | str | None:
    """The number chosen, 0 if unclear, `none` for none of them; None for an ordinary message."""
    read = read_choice(text)
    number = number_of(read, text, options) if read is not None else None
    return "none" if number is None and read is not None and read.is_none else number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[(each, 2) for each in ("2", "2.", "(2)", "#2", "option 2", "Number 2 please", "the 2nd one", "2️⃣", ":two:")],
        *[(each, 2) for each in ("the second", "Second one, thanks", "yes 2", "ok, the second one!", "no, 2")],
        *[(each, 2) for each in ("das zweite", "die Zweite bitte", "Nummer 2", "ja, die zweite")],
        *[(each, 3) for each in ("the last one", "third", "3", "das letzte")],
        *[(each, "none") for each in ("none", "none of these", "Neither.", "no", "Nope", "no thanks", "👎", ":-1:")],
        *[(each, "none") for each in ("nein", "keins davon", "none of the above", "neither of them")],
        *[(each, 0) for each in ("yes", "👍", ":+1::skin-tone-3:", "that one", "ja", "sure")],
        *[(each, None) for each in ("4", "12", "2 of them", "second floor", "one", "no idea", "none taken", "yes man")],
        *[(each, None) for each in ("2+2", "2?", "no it's 2", "the", "", "ok", "do it", "no 2 is broken")],
    ],
)
def test_what_chooses_which_of_three(text: str, number: int | str | None) -> None:
    assert chosen(text, KEYS) == number


@pytest.mark.parametrize("text", ["yes", "Yes!", "👍", "👍👍🏽", "ja, danke", "sure", "that's it", "1", "the last one"])
def test_what_chooses_the_only_one(text: str) -> None:
    assert chosen(text, KEYS[:1]) == 1


def test_a_number_that_stands_in_the_options_is_not_taken_for_their_order() -> None:
    assert chosen("2", ["In 5 minutes", "In 10 minutes"]) == 2
    assert chosen("2", ["In 2 minutes", "In 5 minutes"]) == 0
    assert chosen("2", ["Room 1", "Room 2"]) == 2
    assert chosen("2", ["2", "3", "1"]) == 1
    assert chosen("the second", ["2", "3", "1"]) == 2


def test_who_writes_the_words_of_an_option_chooses_it() -> None:
    assert (chosen("yes", ["No", "Yes"]), chosen("no", ["No", "Yes"])) == (2, 1)


@given(st.text(max_size=80) | st.from_regex(r"(yes|no|the|option|[1-9]|👍|:one:| |,)*", fullmatch=True))
def test_any_text_is_read_in_time_and_chooses_what_is_there(text: str) -> None:
    assert chosen(text, KEYS) in (None, "none", 0, 1, 2, 3)
