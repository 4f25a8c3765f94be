"""Questions that are worded alike and ask for different things."""

import pytest

from memory.rules.retrieval.similarity import Opposition, are_opposed, opposition


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Where is the Berlin office?", "Where is the Paris office?", True),
        ("Who is our CFO?", "Who is our CEO?", True),
        ("When does the canteen open?", "When does the canteen close?", True),
        ("Where is the Berlin office?", "How many people are in the Berlin office?", True),
        ("What is the wifi password?", "Can you tell me the Wi-Fi password?", False),
        ("How do I reset my VPN token?", "how can I get a new vpn token", False),
        ("When does the canteen open?", "what time does the canteen open?", False),
        ("What is in room 10?", "What is in room 105?", True),
        ("When does Q1 end?", "When does Q2 end?", True),
        ("How do I turn the heating on?", "how do I turn off the heating?", True),
        ("Who opens the gate?", "Who closes the gate?", True),
        ("How do I lock the safe?", "How do I unlock the safe?", True),
        ("What is in room 10?", "Is room 10 where the fax is?", False),
    ],
)
def test_questions_for_different_things_are_told_apart(one: str, other: str, expected: bool) -> None:
    assert are_opposed(one, other) is expected
    assert are_opposed(other, one) is expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("When does door 12 open in Berlin?", Opposition(0)),
        ("When does door 12 open in Paris?", Opposition.NAME),
        ("When does door 1 open in Berlin?", Opposition.NUMBER),
        ("Who opens door 12 in Berlin?", Opposition.ASKED_FOR),
        ("When does door 12 close in Berlin?", Opposition.WORD),
        ("Who closes door 13 in Paris?", Opposition.NAME | Opposition.NUMBER | Opposition.ASKED_FOR | Opposition.WORD),
    ],
)
def test_in_which_ways_questions_are_opposed(other: str, expected: Opposition) -> None:
    assert opposition("When does door 12 open in Berlin?", other) is expected
