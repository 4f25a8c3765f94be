"""FAQs as CSV, as spreadsheets write it. Files that we write are read back unchanged."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.adapters.sources.entries import FileFault, SourceEntry
from bot.adapters.sources.faq import COLUMNS, FaqEntry, entry_of, field_of
from memory.errors import InvalidInput

_DELIMITERS = ",;\t|"
_LONGEST_RECORD = 100_000
"""The longest record, in characters: question and answer have at most 16,000 each; a longer one is an open quote."""
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠\t]")
"""The beginning of a text that a spreadsheet would take for a formula, or that has an apostrophe against that."""


def read(text: str) -> Iterator[SourceEntry | FileFault]:
    """Read the rows of a table with the columns `question` and `answer`, or with two columns and no header.

    Raises `InvalidInput` for any other table.
    """
    lines = text.split("\n")
    delimiter = _delimiter(lines)
    records = _records(lines, delimiter)
    first = next((each for each in records if not isinstance(each, FileFault)), None)
    if first is None:
        return
    columns = [field_of(cell) for cell in first[1]]
    if not {"question", "answer"} <= set(columns):
        if len(columns) != 2 or {"question", "answer"} & set(columns):
            raise InvalidInput("a table needs the columns question and answer; name them in its first row")
        columns = ["question", "answer"]
        yield _read_row(*first, columns)
    for record in records:
        yield record if isinstance(record, FileFault) else _read_row(*record, columns)


def write(entries: Iterable[FaqEntry]) -> str:
    """The table of these entries. A text that a spreadsheet would take for a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        writer.writerow([_cell(str(getattr(entry, name))) for name in COLUMNS])
    return out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _text(cell: str) -> str:
    """The text of a cell without the apostrophe against formulas."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _read_row(number: int, row: Sequence[str], columns: Sequence[str]) -> SourceEntry | FileFault:
    values: Mapping[str, str] = {name: _text(cell) for name, cell in zip(columns, row, strict=False)}
    try:
        return entry_of(f"line {number}", values)
    except ValueError as error:
        return FileFault(position=f"line {number}", reason=str(error))


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter: the most frequent candidate in the first row."""
    head = next((line for line in lines if line.strip()), "")
    bare = re.sub(r'"[^"]*"', "", head)
    return max(_DELIMITERS, key=lambda each: (bare.count(each), -_DELIMITERS.index(each)))


def _lines(lines: Sequence[str], start: int) -> Iterator[str]:
    """The lines from a position on, until they are more than the longest record."""
    room = _LONGEST_RECORD
    for at in range(start, len(lines)):
        if room < 0:
            return
        room -= len(lines[at]) + 1
        yield f"{lines[at]}\n"


def _records(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]] | FileFault]:
    """The rows, with the numbers of their first lines. After an unreadable row, reading continues at the next line."""
    csv.field_size_limit(_LONGEST_RECORD)
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        reader = csv.reader(_lines(lines, at), delimiter=delimiter, strict=True)
        try:
            row = next(reader)
        except (csv.Error, StopIteration) as error:
            reason = "a quote is opened and not closed" if "end of data" in str(error) else f"it is no row: {error}"
            yield FileFault(position=f"line {at + 1}", reason=reason)
            at += 1
            continue
        yield at + 1, row
        at += reader.line_num
