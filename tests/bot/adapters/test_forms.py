"""What a form for a lesson is filled in with."""

import pytest

from bot.adapters.forms import is_question


@pytest.mark.parametrize(
    ("text", "expected"), [("Where? ", True), ("鍵はどこ？", True), ("At nine.", False), ("", False)]
)
def test_a_message_is_the_question_if_it_ends_with_a_question_mark(text: str, expected: bool) -> None:
    assert is_question(text) is expected
