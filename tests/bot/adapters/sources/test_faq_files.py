"""FAQs as people have them: whatever a spreadsheet, an editor or a script wrote, broken in places or on purpose."""

import json
from pathlib import Path

import pytest

from bot.adapters.sources import faq_lines, faq_markdown, faq_table
from bot.adapters.sources.entries import FileFault, SourceEntry, decode_text, read_text
from memory.errors import InvalidInput
from memory.model import Audience, Visibility


def pairs(found: object) -> list[tuple[str, str]]:
    return [(each.question, each.answer) for each in found if isinstance(each, SourceEntry)]  # type: ignore[attr-defined]  # an iterator


def faults(found: object) -> list[str]:
    return [each.position for each in found if isinstance(each, FileFault)]  # type: ignore[attr-defined]  # an iterator


# Tables


@pytest.mark.parametrize(
    "text",
    [
        "question,answer\nwhere?,here\n",
        "Question;Answer\r\nwhere?;here\r\n".replace("\r\n", "\n"),
        "\tid\n".join(["answer\tquestion", "here\twhere?\t7\n"]),
        "Frage;Antwort;Stand\nwhere?;here;2024",
        "where?,here",
        '"question","answer"\n"where?","here"\n\n\n',
    ],
)
def test_a_table_however_it_is_written(text: str) -> None:
    assert pairs(faq_table.read(text)) == [("where?", "here")]


def test_quotes_line_ends_and_delimiters_within_cells() -> None:
    text = 'question,answer\n"a, ""b""?","one\n\ntwo, three"\n'
    assert pairs(faq_table.read(text)) == [('a, "b"?', "one\n\ntwo, three")]


def test_a_broken_row_is_named_by_its_line_and_the_rest_goes_on() -> None:
    text = 'question,answer\na?,1\n"b?,2\nc?,3\n,4\nd?\n"e"x,5\nf?,"6"\n'
    found = [*faq_table.read(text)]
    assert pairs(found) == [("a?", "1"), ("c?", "3"), ("f?", "6")]
    assert faults(found) == ["line 3", "line 5", "line 6", "line 7"]


def test_a_table_without_its_columns_is_refused() -> None:
    with pytest.raises(InvalidInput, match="question and answer"):
        list(faq_table.read("when,what,who\n1,2,3\n"))
    assert list(faq_table.read("")) == list(faq_table.read("\n\n")) == []


def test_quotes_that_nobody_closed_are_read_to_the_end() -> None:
    """So many that reading on to the end from each of them would take hours."""
    found = [*faq_table.read("question,answer\n" + '"open,1\n' * 100_000)]
    assert len(found) == 100_000
    huge = "question,answer\nq?," + "x" * 2_000_000 + "\nr?,1\n"
    assert pairs(faq_table.read(huge)) == [("r?", "1")]


# Markdown


def test_headings_with_text_below_are_questions_and_others_are_sections() -> None:
    text = "# FAQ\n\nAbout us.\n\n## Keys\n\n### Where is it?\n\nHere.\n\n### And the other?\n\nThere.\n\n## Else\n"
    assert pairs(faq_markdown.read(text)) == [("Where is it?", "Here."), ("And the other?", "There.")]


def test_headings_within_code_and_quotations_are_parts_of_answers() -> None:
    answer = "Run this:\n\n```sh\n# Why?\nmake\n```\n\n> # Not a question?\n\n#### Then?\n\nDone."
    text = f"## How do I build?\n\n{answer}\n\n## Next?\nYes\n"
    assert pairs(faq_markdown.read(text)) == [("How do I build?", answer), ("Next?", "Yes")]


def test_underlined_headings_and_marks() -> None:
    text = "What is *C\\#* & Co?\n---\n\nA language.\n\nNothing below?\n---\n"
    found = [*faq_markdown.read(text)]
    assert pairs(found) == [("What is *C#* & Co?", "A language.")]
    assert faults(found) == ["line 6"]


@pytest.mark.parametrize("text", ["", "no headings at all\n", "# only\n\n## headings\n", "```\n# open\n"])
def test_a_page_without_answers_has_none(text: str) -> None:
    assert pairs(faq_markdown.read(text)) == []


# JSON lines


def test_json_lines_and_a_list_and_what_is_neither() -> None:
    lines = [
        json.dumps({"question": "a?", "answer": "1"}), "", "{broken", "[1]", json.dumps({"q": "b?", "a": "2"}), "7",
        json.dumps({"question": "c?", "answer": 3}), json.dumps({"question": "d?", "answer": "4", "audience": "mars"}),
    ]  # fmt: skip
    found = [*faq_lines.read("\n".join(lines))]
    assert pairs(found) == [("a?", "1"), ("b?", "2")]
    assert faults(found) == ["line 3", "line 4", "line 6", "line 7", "line 8"]
    assert pairs(faq_lines.read(json.dumps([{"question": "a?", "answer": "1"}, 7]))) == [("a?", "1")]
    assert faults(faq_lines.read("[" * 100_000)) == ["the file"]
    assert faults(faq_lines.read('{"a":' * 100_000)) == ["line 1"]


def test_where_and_for_whom_is_read_and_a_direct_message_is_refused() -> None:
    row = {"question": "a?", "answer": "1", "audience": "Channel", "channel": "C1", "visibility": "private"}
    (entry,) = faq_lines.read(json.dumps(row))
    assert isinstance(entry, SourceEntry)
    assert entry.place is not None
    assert (entry.audience, entry.place.channel, entry.place.visibility) == (Audience.CHANNEL, "C1", Visibility.PRIVATE)
    assert faults(faq_lines.read(json.dumps(row | {"visibility": "direct"}))) == ["line 1"]


# Bytes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_says_what_it_is(encoding: str) -> None:
    assert decode_text("Übung\r\nzwei\r".encode(encoding), "f") == "Übung\nzwei\n"


def test_another_encoding_is_asked_for_and_never_guessed(tmp_path: Path) -> None:
    file = tmp_path / "faq.csv"
    file.write_bytes("Übung".encode("cp1252"))
    with pytest.raises(InvalidInput, match="--encoding"):
        read_text(file)
    assert read_text(file, "cp1252") == "Übung"
    with pytest.raises(InvalidInput, match="no encoding"):
        read_text(file, "klingon")
