"""When two actions are the same: kinds of arguments, of whatever a model can write."""

import json

import pytest

from memory.rules.approvals import argument_kinds, permission_key


@pytest.mark.parametrize("written", ["Infinity", "-Infinity", "NaN", "1e308", '"\\ud800"', '{"\\ud800": ["\\udfff"]}'])
def test_whatever_a_model_writes_has_a_kind(written: str) -> None:
    arguments = {"value": json.loads(written)}
    assert argument_kinds(arguments)
    assert permission_key("c1", "send", arguments) != permission_key("c1", "send", {"value": 1})


@pytest.mark.parametrize(
    ("approved", "wanted"),
    [
        ("Ada Lovelace", "Mallory Evil"),
        ("Ada Lovelace", "Mallory Evil."),
        ("git status", "rm -rf /"),
        ("Please read https://a.example today, all of you.", "Please read https://b.example today, all of you."),
        ("The lift is back, says ada@example.org.", "The lift is back, says eve@example.org."),
        ("2026-01-01T10:00", "2026-01-01T10:00@evil.example"),
        ("10:00", "ada"),
        ("/etc/hosts", "/etc/shadow"),
        ("yes", "no"),
    ],
)
def test_who_and_what_it_is_for_must_agree(approved: str, wanted: str) -> None:
    assert argument_kinds({"to": approved}) != argument_kinds({"to": wanted})


@pytest.mark.parametrize(
    ("approved", "wanted"),
    [
        ("The lift is back.", "The stairs are closed today!"),
        ("Tell ada@example.org that the lift is back.", "The lift is closed again, ada@example.org knows why."),
        ("2026-01-01T10:00", "2026-12-24 18:30:00+01:00"),
        ("9:30", "2026-12-24T18:30Z"),
        ("Ada  Lovelace", "ada lovelace"),
    ],
)
def test_what_is_said_and_when_is_free(approved: str, wanted: str) -> None:
    assert argument_kinds({"to": approved}) == argument_kinds({"to": wanted})
