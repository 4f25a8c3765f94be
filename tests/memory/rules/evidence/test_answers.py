"""Answers that say the same, and texts that name an action."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.rules.evidence.answers import AnswerWords, named_action

ACTIONS = ("pay_bill", "clock", "search_knowledge")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Under the blue pot.", "under the blue pot"),
        (
            "The office opens at 9 on every working day of the week.",
            "The office opens at 9 on every day of the working week",
        ),
        ("", ""),
    ],
)
def test_the_same_words_say_the_same(one: str, other: str) -> None:
    assert AnswerWords.of(one).says_the_same_as(AnswerWords.of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("See help page 101.", "See help page 102."),
        ("Under the blue pot.", "Under the red pot."),
        ("Ask Ann.", ""),
        ("Yes, that is allowed.", "No, that is not allowed."),
        ("word " * 500 + "yes", "word " * 500 + "no"),
    ],
)
def test_a_number_or_a_word_of_weight_makes_another_answer(one: str, other: str) -> None:
    assert not AnswerWords.of(one).says_the_same_as(AnswerWords.of(other))


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("pay_bill", "pay_bill"),
        ("Pay bill", "pay_bill"),
        ("the clock", "clock"),
        ("use the pay bill tool", "pay_bill"),
        ("You should try search knowledge for that.", "search_knowledge"),
        ("The clock is broken.", ""),
        ("You pay the bill at the counter.", ""),
        (f"{'First go to the second floor. ' * 8}Then use the clock.", ""),
        ("", ""),
    ],
)
def test_a_text_that_tells_to_use_an_action_names_it(text: str, action: str) -> None:
    assert named_action(text, ACTIONS) == action


@given(
    st.lists(st.sampled_from(["use", "try", "the", "clock", "tool", "pay", "bill", "a", "search", "it"]), max_size=8),
    st.permutations(["clock", "pay_bill", "search", "the_tool", "pay", "tool", "a b"]),
)
def test_names_are_found_as_a_search_for_each_would_find_them(words: list[str], actions: list[str]) -> None:
    text = " ".join(words)
    expected = ""
    for action in actions:
        name = action.replace("_", " ")
        if re.search(rf"^(?:the )?{name}(?: tool)?$|\b(?:use|try) (?:the )?{name}\b", text):
            expected = action
            break
    assert named_action(text, actions) == expected
