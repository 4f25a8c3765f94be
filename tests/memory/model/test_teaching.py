"""Emoji as platforms how_to_type them."""

import pytest
from hypothesis import given, strategies as st

from memory.model.teaching import EmojiMap, emoji_spellings, normalised_emoji
from tests.doubles.emoji import DEFAULT_EMOJI

TONES = ["\U0001f3fb", "\U0001f3fc", "\U0001f3fd", "\U0001f3fe", "\U0001f3ff"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("👍", "👍"),
        ("👍🏽", "👍"),
        ("👍\ufe0f", "👍"),
        ("👍🏿\ufe0f", "👍"),
        (" 👍 ", "👍"),
        ("✔️", "✔"),
        ("+1", "+1"),
        (":+1:", "+1"),
        ("+1::skin-tone-3", "+1"),
        (":+1::skin-tone-6:", "+1"),
        ("-1::skin-tone-2", "-1"),
        ("Thumbsup", "thumbsup"),
        ("white_check_mark", "white_check_mark"),
        ("", ""),
        ("::", ""),
        ("🏽", ""),
    ],
)
def test_one_spelling_per_emoji(raw: str, expected: str) -> None:
    assert normalised_emoji(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("<:partyparrot:123456789012345678>", ("partyparrot", "123456789012345678")),
        ("<a:partyparrot:123456789012345678>", ("partyparrot", "123456789012345678")),
        ("partyparrot:123456789012345678", ("partyparrot", "123456789012345678")),
        ("approved:123456789012345678", ("approved", "123456789012345678")),
        ("<:approved:123456789012345678>", ("approved", "123456789012345678")),
        ("<a:approved:123456789012345678>", ("approved", "123456789012345678")),
        ("a:123456789012345678", ("a", "123456789012345678")),
        ("<a:a:123456789012345678>", ("a", "123456789012345678")),
        ("👍🏽", ("👍",)),
    ],
)
def test_a_custom_emoji_has_a_name_and_an_id(raw: str, expected: tuple[str, ...]) -> None:
    assert emoji_spellings(raw) == expected


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *((f"👍{tone}", 1) for tone in TONES),
        *((f"👎{tone}", -1) for tone in TONES),
        *((f"+1::skin-tone-{number}", 1) for number in range(2, 7)),
        ("thumbsup", 1),
        ("✅", 1),
        ("✔", 1),
        ("✔️", 1),
        ("❌", -1),
        ("x", -1),
        ("thumbsdown", -1),
        ("🤷", None),
        ("👀", None),
        ("", None),
        ("\ufe0f", None),
        ("-", None),
        ("+1 and more", None),
    ],
)
def test_what_the_usual_emoji_mean(raw: str, value: int | None) -> None:
    assert DEFAULT_EMOJI.value(raw) == value


def test_custom_emoji_are_configured_by_name_or_by_id() -> None:
    emoji = EmojiMap(success=["approved", "111111111111111111"], failure=[":nope:"])
    assert emoji.value("approved:222222222222222222") == 1
    assert emoji.value("<a:approved:222222222222222222>") == 1
    assert emoji.value("<:whatever:111111111111111111>") == 1
    assert emoji.value("nope") == -1
    assert emoji.value("whatever:333333333333333333") is None


def test_one_emoji_in_both_lists_is_refused_in_any_spelling() -> None:
    with pytest.raises(ValueError, match="both as success and as failure"):
        EmojiMap(success=["👍🏽"], failure=["👍"])


@given(st.text(), st.text(st.characters(exclude_characters=":")))
def test_any_text_can_be_asked_about(raw: str, without_colons: str) -> None:
    assert DEFAULT_EMOJI.value(raw) in (1, -1, None)
    assert normalised_emoji(normalised_emoji(without_colons)) == normalised_emoji(without_colons)


@given(st.sampled_from(["👍", "👎", "✅", "❌"]), st.lists(st.sampled_from([*TONES, "\ufe0f"]), max_size=3))
def test_modifiers_never_change_the_meaning(emoji: str, modifiers: list[str]) -> None:
    assert DEFAULT_EMOJI.value(emoji + "".join(modifiers)) == DEFAULT_EMOJI.value(emoji)
