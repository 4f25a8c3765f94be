"""FAQs as JSON lines, an object with `question` and `answer` each, or as a JSON list of such objects."""

import json
from collections.abc import Iterator

from bot.adapters.sources.entries import FileFault, SourceEntry
from bot.adapters.sources.faq import entry_of, field_of

_LONGEST = 1_000_000
"""The longest line, in characters; a lesson has at most 16,000."""


def read(text: str) -> Iterator[SourceEntry | FileFault]:
    """Read the entries of a file."""
    if text.lstrip().startswith("["):
        yield from _list(text)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _entry(f"line {number}", line)


def _list(text: str) -> Iterator[SourceEntry | FileFault]:
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield FileFault(position="the file", reason=f"it is no JSON list: {error}")
        return
    for number, record in enumerate(records, start=1):
        yield _of_record(f"entry {number}", record)


def _entry(position: str, line: str) -> SourceEntry | FileFault:
    if len(line) > _LONGEST:
        return FileFault(position=position, reason=f"it has more than {_LONGEST:,} characters")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return FileFault(position=position, reason=f"it is no JSON: {error}")
    return _of_record(position, record)


def _of_record(position: str, record: object) -> SourceEntry | FileFault:
    if not isinstance(record, dict):
        return FileFault(position=position, reason="it is no object with a question and an answer")
    # Only texts, so that no list or number is taught.
    texts = {field_of(str(name)): value if isinstance(value, str) else "" for name, value in record.items()}
    try:
        return entry_of(position, texts)
    except ValueError as error:
        return FileFault(position=position, reason=str(error))
