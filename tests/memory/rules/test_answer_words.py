"""Answers that say the same."""

import re

import pytest
from hypothesis import given, strategies as st

from memory.rules.retrieval import answer_words
from memory.rules.retrieval.answer_words import COMPARED, AnswerWords, numbered_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Under the blue pot.", "under the blue pot"),
        (
            "The office opens at 9 on every working day of the week.",
            "The office opens at 9 on every day of the working week",
        ),
        ("You find it under the blue pot in the garden.", "You will find it under the blue pot in the garden."),
        ("", ""),
        ("👍", " 👍 "),
        ("It takes 1.5 hours - and 10 % more on Monday.", "It takes 1.5 hours, and 10% more on Monday"),
        ("- In the yard!", "**In the yard** 🙂"),
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
        ("In room 2 at 3 o'clock.", "In room 3 at 2 o'clock."),
        ("Version 1.5", "Version 5.1"),
        ("It is written in C++.", "It is written in C#."),
        ("It is written in C++.", "It is written in C."),
        ("At -5 degrees.", "At 5 degrees."),
        ("It costs 5 €.", "It costs 5 $."),
        ("✅", "❌"),
        ("+", "-"),
        ("Yes, that is allowed.", "No, that is not allowed."),
        ("word " * 500 + "yes", "word " * 500 + "no"),
        ("You may take the dog with you to the office.", "You may not take the dog with you to the office."),
        ("You can leave your car in the yard over night.", "You can't leave your car in the yard over night."),
        (
            "The team meeting takes place on Monday in the big room on the third floor of the main building.",
            "The team meeting takes place on Tuesday in the big room on the third floor of the main building.",
        ),
        (
            "Ask for a new badge before you go to the lab on the third floor.",
            "Ask for a new badge after you go to the lab on the third floor.",
        ),
        ("Den Hund darf man ins große Büro mitnehmen.", "Den Hund darf man ins große Büro nicht mitnehmen."),
        ("The pool on the roof is open to all.", "The pool on the roof is open to all employees."),
    ],
)
def test_a_number_or_a_word_of_weight_makes_another_answer(one: str, other: str) -> None:
    assert not AnswerWords.of(one).says_the_same_as(AnswerWords.of(other))


@given(
    st.lists(st.sampled_from(["you", "will", "not", "find", "it", "the", "key", "under", "pot"]), max_size=6), st.data()
)
def test_what_says_the_same_has_one_core(words: list[str], data: st.DataObject) -> None:
    other = data.draw(st.permutations(words)) + data.draw(st.lists(st.sampled_from(["the", "a", "will"]), max_size=2))
    one, another = AnswerWords.of(" ".join(words)), AnswerWords.of(" ".join(other))
    assert one.core == another.core
    assert not one.says_the_same_as(AnswerWords.of(" ".join([*words, "garden"])))


def test_no_word_is_kept_to_compare_it_again() -> None:
    text = "the quokka is in room 4711" + "x" * COMPARED
    kept = f"{AnswerWords.of(text)!r} {answer_words._known!r}"
    assert [word for word in ("quokka", "room", "xxx") if word in kept] == []
    assert AnswerWords.of(text) is AnswerWords.of(text)


def test_only_so_many_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_words, "_MOST_KNOWN", 3)
    answer_words._known.clear()
    for number in range(10):
        AnswerWords.of(f"answer {number}")
    assert len(answer_words._known) <= 3


@given(st.text("+#%°€$£¥-−<> _a5٣é\n", max_size=8))
def test_signs_are_those_that_stand_where_they_mean_something(text: str) -> None:
    signs = re.findall(r"(?<=[\w+#])[+#]|[%°€$£¥]|(?<!\w)[-−](?=\d)|[<>](?=\d)", text)
    assert answer_words._SIGN.findall(text) == signs


@given(st.one_of(st.text(), st.text("a1٣²_- é\u0301x9")))
def test_words_with_a_digit_are_found_as_by_reading_every_word(text: str) -> None:
    assert numbered_words(text) == [word for word in re.findall(r"[^\W_]+", text) if re.search(r"\d", word)]
