"""Texts that name an action."""

import pytest
from hypothesis import given, strategies as st

from memory.rules.evidence.named_action import named_action

ACTIONS = ("pay_bill", "clock", "search_knowledge")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("pay_bill", "pay_bill"),
        ("Pay bill", "pay_bill"),
        ("the clock", "clock"),
        ("use the pay bill tool", "pay_bill"),
        ("You should try search knowledge for that.", "search_knowledge"),
        ("use the clock", "clock"),
        ("No, that's wrong: please use your clock!", "clock"),
        ("Use the clock for questions about the time in other cities", "clock"),
        ("You should use pay_bill instead.", "pay_bill"),
        ("Use the clock, not pay bill.", "clock"),
        ("not pay bill, use the clock", "clock"),
        ("The clock is broken.", ""),
        ("Don't use the clock.", ""),
        ("never use pay bill for that", ""),
        ("Use the clock or pay bill.", ""),
        ("Use the clock in the hall.", ""),
        ("Ask clock makers.", ""),
        ("Take the clock from the shelf.", ""),
        ("It is five. Use the clock.", ""),
        ("How do I use the clock?", ""),
        ("clock clock", ""),
        ("You pay the bill at the counter.", ""),
        (f"{'First go to the second floor. ' * 8}Then use the clock.", ""),
        ("", ""),
    ],
)
def test_a_text_that_tells_to_use_an_action_names_it(text: str, action: str) -> None:
    assert named_action(text, ACTIONS) == action


@given(st.text(max_size=60), st.sampled_from(ACTIONS))
def test_the_order_of_the_actions_changes_nothing(text: str, action: str) -> None:
    for said in (text, f"use {action} {text}", f"{text} use {action}"):
        assert named_action(said, ACTIONS) == named_action(said, ACTIONS[::-1])
