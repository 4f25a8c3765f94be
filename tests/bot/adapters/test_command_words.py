"""Which messages are commands, and which are questions for the agent."""

import pytest
from hypothesis import given, strategies as st

from bot.adapters.command_words import COMMANDS, NOTE, ParsedCommand, command_in, slash_command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory page 2", ParsedCommand("memory", "page 2")),
        ("Memory  PAGE 2.", ParsedCommand("memory", "page 2")),
        ("review", ParsedCommand("review")),
        ("ratings?", ParsedCommand("ratings")),
        ("undo 0a1b2c3d", ParsedCommand("undo", "0a1b2c3d")),
        ("unrate 0A1B2C3D page 3", ParsedCommand("unrate", "0a1b2c3d page 3")),
        ("archive 0a1b2c3d review page 1", ParsedCommand("archive", "0a1b2c3d review page 1")),
        ("restore 0660c595e6840165269e0d37", ParsedCommand("restore", "0660c595e6840165269e0d37")),
        ("promote 0a1b2c3d workspace page 2", ParsedCommand("promote", "0a1b2c3d workspace page 2")),
        ("purge <@U123>", ParsedCommand("purge", "<@U123>")),
        ("purge @Ana yes", ParsedCommand("purge", "@Ana yes")),
        ("purge U123 yes", ParsedCommand("purge", "U123 yes")),
        ("archive 1", ParsedCommand("archive", "1")),
        ("promote 12 workspace", ParsedCommand("promote", "12 workspace")),
        ("release 2.0", None),
        ("memory of a goldfish?", None),
        ("memory page two", None),
        ("review page 3 of the report", None),
        ("review my code", None),
        ("ratings of films", None),
        ("archive tomorrow", None),
        ("archive", ParsedCommand("archive")),
        ("promote ana to lead", None),
        ("purge caches", None),
        ("purge U123 now", None),
        ("restore the database", None),
        ("undo my last commit", None),
        ("undo 0a1b2c3d?", None),
        ("forget?", None),
        ("Forget everything!", ParsedCommand("forget", "me")),
        ("please forget everything you know about me", ParsedCommand("forget", "me")),
        ("delete all my data.", ParsedCommand("forget", "me")),
        ("forget about me", ParsedCommand("forget", "me")),
        ("forget everything?", None),
        ("forget everything I said about lunch", None),
        ("delete all of it", None),
        ("remove my data set from the list", None),
    ],
)
def test_a_command_has_just_the_words_it_takes(text: str, expected: ParsedCommand | None) -> None:
    assert command_in(text) == expected


@given(st.sampled_from(COMMANDS), st.text(max_size=30))
def test_whatever_follows_is_a_command_with_it_or_a_question(name: str, rest: str) -> None:
    found = command_in(f"{name} {rest}")
    assert found is None or found.name in (name, "correct")


def test_a_statement_to_remember_is_taught_by_the_slash_command() -> None:
    assert slash_command("remember that the Code is 12") == ParsedCommand(NOTE, "remember that the Code is 12")
    assert slash_command("remember this") == ParsedCommand("remember", "this")
    assert command_in("remember that the code is 12") is None
    assert command_in("remember this") == ParsedCommand("remember", "this")


def test_a_question_given_to_a_lesson_is_kept_as_it_is_written() -> None:
    assert command_in("Restate 0123ABCD Where is the  LADDER?") == ParsedCommand(
        "restate", "0123abcd Where is the  LADDER?"
    )
    assert command_in("restate") == ParsedCommand("restate")
    assert command_in("restate the problem in other words") is None
    assert command_in("restate #0123ABCD Where?") == ParsedCommand("restate", "#0123abcd Where?")
    assert slash_command("restate 0123abcd Where?") == ParsedCommand("restate", "0123abcd Where?")
