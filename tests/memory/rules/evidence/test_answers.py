"""Texts that name an action."""

import pytest

from memory.rules.evidence.answers import named_action

ACTIONS = ("pay_bill", "clock", "search_knowledge")


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
