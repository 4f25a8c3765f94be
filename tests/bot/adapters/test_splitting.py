"""Cutting long answers into messages: nothing lost, nothing torn."""

import re
import unicodedata

import pytest
from hypothesis import example, given, strategies as st

from bot.adapters.commonmark import size, split

LINK = "[the handbook](https://example.org/a_(b)/c?d=e)"
TITLED = '[the [new] handbook](https://example.org/a "All of it, at last")'
FAMILY = "👩‍👩‍👧‍👦"

EMOJI = ("👍🏽", FAMILY, "🇫🇷🇩🇪", ":tada:", "1\ufe0f\u20e3")
words = st.sampled_from(
    (
        "word",
        "longer-word",
        LINK,
        TITLED,
        "https://example.org/x?y=z",
        "`some code`",
        "e\u0301",
        "<https://example.org>",
        ".",
        *EMOJI,
    )
)
sentences = st.lists(words, min_size=1, max_size=30).map(" ".join)
code = st.lists(st.text("abc =()", max_size=40), max_size=25).map("\n".join)
fenced = st.builds("{0}{1}\n{2}\n{0}".format, st.sampled_from(["```", "~~~~"]), st.sampled_from(["", "python"]), code)
documents = st.lists(st.one_of(sentences, fenced), min_size=1, max_size=12).map("\n\n".join)
limits = st.integers(min_value=100, max_value=400)


def bare(text: str) -> str:
    """What is said, without the space between and without the lines that open and close code."""
    return "".join(re.sub(r"^(```|~~~~)(python)?$", "", text, flags=re.MULTILINE).split())


@given(text=documents, limit=limits)
def test_every_part_fits_and_says_something(text: str, limit: int) -> None:
    parts = split(text, limit)
    assert [size(part) for part in parts if size(part) > limit] == []
    assert all(part.strip() for part in parts)


@given(text=documents, limit=limits)
def test_nothing_is_lost_added_or_moved(text: str, limit: int) -> None:
    assert "".join(map(bare, split(text, limit))) == bare(text)


@given(text=documents, limit=limits)
def test_every_code_block_is_whole_in_its_part(text: str, limit: int) -> None:
    for part in split(text, limit):
        fence = None
        for line in part.split("\n"):
            if fence is None and (found := re.match(r"(```|~~~~)(python)?$", line)):
                fence = found[1]
            elif line == fence:
                fence = None
        assert fence is None


@given(text=sentences, limit=limits)
def test_links_code_and_emoji_are_in_one_part_each(text: str, limit: int) -> None:
    parts = split(text, limit)
    for whole in (LINK, TITLED, "https://example.org/x?y=z", "`some code`", FAMILY, "👍🏽", "🇫🇷", "e\u0301", ":tada:"):
        assert sum(part.count(whole) for part in parts) == text.count(whole)


@given(text=st.text(max_size=1500), limit=limits)
@example(text="`" * 400, limit=100)
@example(text="```" + "x" * 500 + "\n" + "y" * 500, limit=100)
@example(text="\u0301" * 500, limit=100)
@example(text="🇫🇷" * 300, limit=101)
@example(text="\n" * 500, limit=100)
@example(text="https://" + "x" * 500, limit=100)
def test_any_text_ends_in_parts_that_fit(text: str, limit: int) -> None:
    parts = split(text, limit)
    assert [size(part) for part in parts if size(part) > limit] == []
    if text.strip() and "```" not in text and "~~~" not in text:
        assert "".join("".join(parts).split()) == "".join(text.split())


@given(pieces=st.lists(st.sampled_from(["🇫🇷", "👍🏽", FAMILY, "e\u0301", "x"]), min_size=60, max_size=200))
def test_no_part_begins_in_the_middle_of_a_character(pieces: list[str]) -> None:
    for part in split("".join(pieces), 100)[1:]:
        assert part[0] not in "\u200d\ufe0f\u20e3"
        assert not "\U0001f3fb" <= part[0] <= "\U0001f3ff"
        assert not unicodedata.category(part[0]).startswith("M")


def test_flags_are_not_halved() -> None:
    parts = split("x" + "🇫🇷" * 60, 100)
    assert all(part.removeprefix("x") == "🇫🇷" * (len(part.removeprefix("x")) // 2) for part in parts)


@pytest.mark.parametrize("text", ["", "Paris.", "x" * 100])
def test_what_fits_is_one_part(text: str) -> None:
    assert split(text, 100) == [text]


def test_it_is_cut_between_paragraphs_then_lines_then_sentences_then_words() -> None:
    para = "x" * 55
    assert split(f"{para}\n\n{'y' * 20}. z\nz {'y' * 50}", 100) == [para, f"{'y' * 20}. z\nz {'y' * 50}"]
    assert split(f"{para}\n{'y' * 20}. z {'y' * 50}", 100) == [para, f"{'y' * 20}. z {'y' * 50}"]
    assert split(f"{para}. y z {'y' * 50}", 100) == [f"{para}.", f"y z {'y' * 50}"]
    assert split(f"{para} {'y' * 50}", 100) == [para, "y" * 50]


def test_code_that_is_cut_is_opened_again_in_its_language() -> None:
    lines = [f"line_{number} = {number}" for number in range(20)]
    first, *others = split("Look:\n\n```python\n" + "\n".join(lines) + "\n```\n\nDone.", 120)
    assert first.startswith("Look:\n\n```python\nline_0 = 0\n")
    assert all(part.startswith("```python\n") for part in others)
    assert others[-1].endswith("\n```\n\nDone.")


def test_a_code_block_in_the_second_half_begins_a_new_part() -> None:
    block = "```\n" + "z" * 60 + "\n```"
    assert split("x" * 70 + "\n\n" + block, 100) == ["x" * 70, block]


@pytest.mark.parametrize(
    ("opening", "margin", "closing"),
    [
        ("     ```python", "     ", "     ```"),
        ("10. ```python", "    ", "    ```"),
        ("- ~~~python", "  ", "  ~~~"),
        ("> ```python", "> ", "> ```"),
        ("\t```python", "\t", "\t```"),
    ],
)
def test_code_in_a_list_or_quote_is_closed_and_opened_again_too(opening: str, margin: str, closing: str) -> None:
    lines = [f"{margin}line_{number} = {number}" for number in range(20)]
    text = "\n".join(["Look:", "", opening, *lines, closing, "", "Done."])
    first, *others = split(text, 120)
    assert first.startswith(f"Look:\n\n{opening}\n{margin}line_0 = 0\n")
    kept, fence = margin if ">" in margin else "", closing.strip("> \t")
    assert all(part.startswith(f"{kept}{fence}python\n{kept}line_") for part in others)
    assert others[-1].endswith(f"\n{kept}{fence}\n\nDone.")
    assert re.findall(r"line_\d+ = \d+", "\n".join([first, *others])) == [line.removeprefix(margin) for line in lines]
    for part in (first, *others):
        assert len(re.findall(r"^[> \t]*(?:\d+\. |- )?(?:```|~~~)", part, re.MULTILINE)) == 2


def test_a_fence_within_code_does_not_close_it() -> None:
    inner = ["def f():", '    """Example::', "    ", "        ```", "        f()", "        ```", '    """']
    text = "\n".join(["```python", *inner, *["    f()"] * 12, "```"])
    assert all(part.startswith("```python\n") and part.endswith("\n```") for part in split(text, 120))


def test_a_table_that_is_cut_has_its_head_in_every_part() -> None:
    head = "| name | value |\n|---|--:|\n"
    rows = [f"| row {number} | {number} |" for number in range(30)]
    parts = split("Look:\n\n" + head + "\n".join(rows) + "\n\nDone.", 200)
    assert parts[0].startswith(f"Look:\n\n{head}")
    assert all(part.startswith(head) for part in parts[1:])
    assert re.findall(r"^\| row .*$", "\n".join(parts), re.MULTILINE) == rows


@pytest.mark.parametrize(
    "text", ["[" * 5000, "[a](" * 2000, "[ [x](y)" * 1000, " " * 3000 + "```", "- " * 4000, "|-" * 4000]
)
def test_what_looks_like_the_beginning_of_much_is_soon_cut(text: str) -> None:
    assert all(size(part) <= 500 for part in split(text, 500))
