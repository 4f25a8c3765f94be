import pytest

from bot.adapters.llm.offline.reminder_request import find_reminder


@pytest.mark.parametrize(
    ("goal", "what", "when"),
    [
        ("remind me tomorrow at 9 to call Ana", "call Ana", "tomorrow at 9"),
        ("Remind me to call Ana tomorrow at 9!", "call Ana", "tomorrow at 9"),
        ("can you remind me to call Ana tomorrow at 9?", "call Ana", "tomorrow at 9"),
        ("remind me tomorrow at 9 to call Bob?", "call Bob", "tomorrow at 9"),
        ("please remind me in 20 minutes to check the oven", "check the oven", "in 20 minutes"),
        ("can you remind me to talk to Bob and Eve in half an hour", "talk to Bob and Eve", "in half an hour"),
        ("remind me every Monday at 10 to send the report", "send the report", "every Monday at 10"),
        ("remind me on Friday that the rent is due", "the rent is due", "on Friday"),
        ("remind me tomorrow at half past 9 to call Ana", "call Ana", "tomorrow at half past 9"),
        ("remind me at quarter to 9 to talk to Bob", "talk to Bob", "at quarter to 9"),
        ("remind me to talk to Bob at quarter to 9", "talk to Bob", "at quarter to 9"),
        ("remind me at the end of the month to pay", "pay", "at the end of the month"),
        ("remind me in an hour and a half to call Ana", "call Ana", "in an hour and a half"),
        ("remind me to watch the end on Friday", "watch the end", "on Friday"),
        ("remind me to review the quarter on Friday", "review the quarter", "on Friday"),
        ("remind me to read about the past tomorrow at half past 9", "read about the past", "tomorrow at half past 9"),
        ("remind me to read the book on Friday", "read the book", "on Friday"),
        ("remind me to call Ana Monday at 9", "call Ana", "Monday at 9"),
        ("remind me to drop by at 10 am", "drop by", "at 10 am"),
    ],
)
def test_what_and_when(goal: str, what: str, when: str) -> None:
    assert find_reminder(goal) == {"what": what, "when": when}


@pytest.mark.parametrize(
    ("goal", "what"),
    [
        ("remind me to drink", "drink"),
        ("can you remind me to call Ana at home?", "call Ana at home"),
        ("remind me to sign two days before Friday", "sign two days before Friday"),
        ("remind me to prepare the talk of monday at 9", "prepare the talk of monday at 9"),
        ("remind me to sign a week from today", "sign a week from today"),
    ],
)
def test_a_reminder_without_a_time(goal: str, what: str) -> None:
    assert find_reminder(goal) == {"what": what, "when": ""}


@pytest.mark.parametrize(
    "goal", ["", "remind me", "remind me about the party", "who reminds me tomorrow?", "remind me to", "call Ana at 9"]
)
def test_what_is_no_request_for_a_reminder(goal: str) -> None:
    assert find_reminder(goal) == {}
