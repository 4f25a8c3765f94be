"""What is written as an FAQ is read back whole, whatever people taught."""

from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from bot.adapters.sources import faq_markdown, faq_table
from bot.adapters.sources.entries import SourceChannel, SourceEntry
from bot.adapters.sources.faq import FaqEntry
from memory.model import Audience, Visibility

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
PIECES = st.sampled_from(
    [
        *(
            "\n",
            "\n\n",
            "# h",
            "### ",
            "```",
            "~~~",
            "    ",
            "- ",
            "> ",
            "---",
            "===",
            "<!--",
            "-->",
            "*Taught by Ana*",
        ),
        *("'", '"', ",", ";", "=1+1", "\\", "#", "<br>", "&amp;", "&#32;", "|", "```goodbot-answer", "\t", "?"),
        "<!-- goodbot a=b -->",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(CHARACTERS, max_size=8)), max_size=12).map("".join)
WORDS = TEXTS.map(str.strip).filter(lambda text: bool(text.replace("\r", "").strip()))


@st.composite
def entries(draw: st.DrawFn) -> FaqEntry:
    is_for_all = draw(st.booleans())
    where: dict[str, Any] = {}
    if not is_for_all:
        where = {
            "channel": draw(WORDS),
            "visibility": draw(st.sampled_from([Visibility.PUBLIC, Visibility.PRIVATE, Visibility.SHARED])),
            "place": draw(st.one_of(st.just(""), WORDS)),
            "audience": Audience.CHANNEL,
        }
    author = draw(st.one_of(st.just(""), WORDS))
    return FaqEntry(question=draw(WORDS), answer=draw(WORDS), author=author, **where)


def faq_entry(entry: SourceEntry) -> FaqEntry:
    place = entry.place or SourceChannel(channel="")
    return FaqEntry(
        question=entry.question,
        answer=entry.answer,
        audience=entry.audience or Audience.WORKSPACE,
        channel=place.channel,
        visibility=place.visibility or Visibility.PUBLIC,
        place=place.name,
        author=entry.author,
    )


def read_back(found: Any) -> list[FaqEntry]:
    every = list(found)
    assert [each for each in every if not isinstance(each, SourceEntry)] == []
    return [faq_entry(each) for each in every]


@given(st.lists(entries(), max_size=5))
@example([FaqEntry(question="'=1", answer="''=1")])
@example([FaqEntry(question="a", answer="b;c"), FaqEntry(question='"', answer='""\n"')])
def test_a_table(written: list[FaqEntry]) -> None:
    assert read_back(faq_table.read(faq_table.write(written))) == written


@given(st.lists(entries(), max_size=5))
@example([FaqEntry(question="How?", answer="```\n# not a heading"), FaqEntry(question="b #", answer="### c\n\nd")])
@example([FaqEntry(question="a\\\nb\\", answer="````goodbot-answer\nx\n````")])
@example([FaqEntry(question="q", answer="x\n\n*Taught by Ana*")])
def test_a_page(written: list[FaqEntry]) -> None:
    found = read_back(faq_markdown.read(faq_markdown.write(written, "What people *taught*")))
    assert sorted(found, key=repr) == sorted(written, key=repr)


@pytest.mark.parametrize("question", ["R&D?", "What is C#", "snake_case * and [link]?", "1 < 2"])
def test_a_question_of_a_page_is_written_as_people_would(question: str) -> None:
    page = faq_markdown.write([FaqEntry(question=question, answer="yes")], "t")
    assert f"### {question}" in page.replace("\\", "")
