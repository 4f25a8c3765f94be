"""What typed lines mean."""

import pytest
from hypothesis import example, given, strategies as st

from bot.adapters.command_words import command_in
from bot.adapters.terminal.commands import (
    COMMAND_NAMES,
    MAX_CHARACTERS,
    Act,
    Command,
    Export,
    React,
    Say,
    Unreact,
    help_text,
    parse,
    problem_with,
)
from bot.adapters.terminal.reactions import reactions_in, same_emoji
from bot.errors import CommandRefused


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("capital of France?", Say("capital of France?")),
        ("  hello \t", Say("hello")),
        ("two\nlines", Say("two\nlines")),
        ("//etc/hosts is a file", Say("/etc/hosts is a file")),
        ("👍 thanks!", Say("👍 thanks!")),
        ("1", Say("1")),
        ("+1 for Paris", Say("+1 for Paris")),
        ("c:x:y", Say("c:x:y")),
        ("👍", React(("👍",))),
        (" +1 ", React(("+1",))),
        ("👎🏿", React(("👎🏿",))),
        (":tada:", React(("tada",))),
        ("🎉 👍", React(("🎉", "👍"))),
        ("👍👍🏽", React(("👍",))),
        ("/react 👍", React(("👍",))),
        ("/react 👍 2", React(("👍",), 2)),
        ("/react :+1::skin-tone-3: 12", React(("+1::skin-tone-3",), 12)),
        ("/react partyparrot", React(("partyparrot",))),
        ("/react 100 3", React(("100",), 3)),
        ("/unreact", Unreact()),
        ("/unreact 2", Unreact("", 2)),
        ("/unreact +1", Unreact("+1")),
        ("/unreact :+1: 2", Unreact("+1", 2)),
        ("/correct It is Paris.", Command("correct", "It is Paris.")),
        ("/correct\nIt is Paris.", Command("correct", "It is Paris.")),
        ("/why", Command("why")),
        ("/why 3", Command("why", number=3)),
        ("/why numbers", Command("why", "numbers")),
        ("/why 3 numbers", Command("why", "numbers", number=3)),
        ("/why fbdc149e", Command("why", "fbdc149e")),
        ("/memory", Command("memory")),
        ("/memory page 2", Command("memory", "page 2")),
        ("/archive 0a1b2c3d page 2", Command("archive", "0a1b2c3d page 2")),
        ("/purge ana maria yes", Command("purge", "ana maria yes")),
        ("/review", Command("review")),
        ("/stop", Command("stop")),
        ("/part 0661378a57906b378b0dcc95 right", Command("part", "0661378a57906b378b0dcc95 right")),
        ("/FORGET me", Command("forget", "me")),
        ("/undo", Command("undo")),
        ("/export", Export()),
        ("/export my lessons.CSV", Export("my lessons.CSV", "csv")),
        ("/export out/a.txt", Export("out/a.txt", "prompt")),
        ("/as ana maria", Command("as", "ana maria")),
        ("/as e\u0301va", Command("as", "\u00e9va")),
        ("/as", Command("as")),
        ("/help", Command("help")),
        ("/quit", Command("quit")),
    ],
)
def test_a_line_means(line: str, meaning: Act) -> None:
    assert parse(line) == meaning


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("why", Command("why")),
        ("Why?", Command("why")),
        ("why is the sky blue?", Say("why is the sky blue?")),
        ("undo", Command("undo")),
        ("memory page 2", Command("memory", "page 2")),
        ("forget me", Command("forget", "me")),
        ("forget me?", Say("forget me?")),
        ("correct: Under the blue pot.", Command("correct", "Under the blue pot.")),
        ("teach 0a1b2c3d Room 5", Command("teach", "0a1b2c3d Room 5")),
        ("export csv", Export("", "csv")),
        ("help!", Command("help")),
        ("mode", Say("mode")),
        ("remember this", Say("remember this")),
        ("quit", Command("quit")),
        ("Exit", Command("quit")),
        ("quit it", Say("quit it")),
        ("//why", Say("/why")),
    ],
)
def test_the_words_of_a_command_alone_are_the_command(line: str, meaning: Act) -> None:
    assert parse(line) == meaning


@pytest.mark.parametrize("line", ["", "   ", "\t\n"])
def test_an_empty_line_means_nothing(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("/fogret", "no command /fogret, so nothing was sent. Did you mean /forget?"),
        ("/etc/hosts what is it", "type //etc/hosts"),
        ("/", "no command /, so nothing was sent"),
        ("/" + "x" * 100, "no command /" + "x" * 40 + "…,"),
        ("/react", "type /react EMOJI"),
        ("/react 👍 two", "type /react EMOJI"),
        ("/react 👍 -1", "type /react EMOJI"),
        ("/react 👍 ²", "type /react EMOJI"),
        ("/react " + "x" * 81, "type /react EMOJI"),
        ("/unreact 👍 two", "type /unreact"),
        ("/correct", "what would have been right"),
        ("/why not", "the number of an answer"),
        ("/export lessons", "ends in .json, .csv, .txt or .md"),
        ("/export a.exe", "ends in .json"),
        ("/as " + "x" * 41, "1 to 40 printable characters"),
        ("/as a/b", "no slash"),
        ("/as a\u200bb", "printable"),
        ("x" * (MAX_CHARACTERS + 1), "32,001 characters, more than the 32,000 that are allowed; it was not sent"),
        ("nul \x00 byte", "control character (U+0000) and looks like binary data; it was not sent"),
        ("\x1b]0;title\x07", "control character (U+001B)"),
        ("half \ud83d", "control character (U+D83D)"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(line: str, part: str) -> None:
    with pytest.raises(CommandRefused) as refusal:
        parse(line)
    assert part in str(refusal.value)


def test_the_longest_message_is_sent_whole() -> None:
    assert parse("x" * MAX_CHARACTERS) == Say("x" * MAX_CHARACTERS)


def test_every_command_is_in_the_help_of_whoever_may_use_it() -> None:
    assert [name for name in COMMAND_NAMES if name not in help_text(teacher=True)] == []
    missing = [name for name in COMMAND_NAMES if name not in help_text(teacher=False)]
    assert missing == ["/review", "/promote", "/release", "/purge", "/gaps", "/teach", "/known-answers", "/settings"]


def test_the_help_names_every_ending_of_an_export() -> None:
    assert [
        ending for ending in (".json", ".csv", ".txt", ".md") if f"FILE{ending}" not in help_text(teacher=False)
    ] == []


@pytest.mark.parametrize(
    "emoji", ["✅", "✔", "✔️", "❌", "💯", "🧠", "👩‍💻", "👨‍👩‍👧", "🏴‍☠️", "🇫🇷", "1️⃣", "©️", "⏏️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👍🏽"]
)
def test_emoji_are_recognised_whole(emoji: str) -> None:
    assert reactions_in(emoji) == (emoji,)
    assert reactions_in(f"{emoji}🦊") == (emoji, "🦊")


@pytest.mark.parametrize("text", ["", "x", "1", "100", "©", "→", ":)", "::", "👍x", "🇫", "thumbs", "+2", "😀?"])
def test_other_signs_are_messages(text: str) -> None:
    assert reactions_in(text) == ()


@pytest.mark.parametrize("spelling", ["👍", "👍🏽", "+1", "thumbsup", ":+1:", "+1::skin-tone-4", "Thumbsup"])
def test_spellings_of_one_tap_are_the_same(spelling: str) -> None:
    assert same_emoji(spelling) == "👍"


def meaning_of(line: str) -> Act | str | None:
    """What the line means, or why it is refused."""
    try:
        return parse(line)
    except CommandRefused as refusal:
        return str(refusal)


@given(st.text(max_size=60))
@example("/as \ud800")
@example("RATINGS")
@example(" Quit")
def test_any_text_is_understood_refused_or_empty_and_never_lost(line: str) -> None:
    match meaning_of(line):
        case None:
            assert not line.strip()
        case str(refusal):
            assert refusal
        case Say(text):
            assert text == line.strip() or f"/{text}" == line.strip()
        case Command("quit") if not line.strip().startswith("/"):
            assert line.strip().casefold() in ("quit", "exit")
        case _:
            assert not problem_with(line.strip())
            assert line.strip().startswith("/") or reactions_in(line.strip()) or command_in(line.strip())
