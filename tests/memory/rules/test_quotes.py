"""Whether a text repeats another."""

import pytest

from memory.rules.quotes import repeats


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("It is under the blue pot, I think.", "look: UNDER the blue pot!", True),
        ("It is under the red pot.", "It was under the blue pot.", False),
        ("Ask Ben.", "Ben", True),
        ("Ask Bennet.", "Ben", False),
        ("鍵は青い鉢の下です", "青い鉢の", True),
        ("under the pot", "", False),
        ("", "under the pot", False),
    ],
)
def test_four_words_in_a_row_or_the_whole_of_a_shorter_text(text: str, source: str, expected: bool) -> None:
    assert repeats(text, source) is expected
