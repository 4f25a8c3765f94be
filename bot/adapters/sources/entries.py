"""Files of lessons: decoding their text, and the content of all kinds of them: answered questions, and faults."""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memory.errors import InvalidInput
from memory.model import Audience, Visibility

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
LARGEST_FILE = 256 << 20
"""The largest file, or file within an archive, in bytes. A team's whole handbook has a few MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChannel:
    """A channel in a file."""

    channel: str
    name: str = ""
    """The name that people see (`#general`)."""
    visibility: Visibility | None = None
    """None if the file does not tell."""
    people: tuple[str, ...] = ()
    """Ids of the people in a direct conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """A question with its answer."""

    position: str
    """The position in the file, for people: `line 12`."""
    question: str
    answer: str
    key: str = ""
    """The ids of its messages; empty if it was not made of messages."""
    mark: str = ""
    """How the answer was marked, in a conversation."""
    place: SourceChannel | None = None
    """Its channel; None if the file does not tell."""
    audience: Audience | None = None
    author: str = ""
    """The author of the answer: an id of the platform, or a name in a file of ours."""
    asker: str = ""

    @property
    def is_storable(self) -> bool:
        """Whether all databases can store its texts."""
        place = (self.place.channel, self.place.name) if self.place else ()
        texts = (self.question, self.answer, self.key, self.author, self.asker, *place)
        return not any(map(_UNSTORABLE.search, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """A part of a file that could not be read; the rest is read all the same."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The content of a file. Entries with characters that cannot be stored become faults."""

    kind: str
    """`csv`, `Markdown`, `JSON lines`, `Slack export`, `Discord export`."""
    entries: tuple[SourceEntry, ...]
    faults: tuple[FileFault, ...] = ()
    workspace: str = ""
    """The workspace it is from, if the file tells."""
    skipped: Mapping[str, int] | None = None
    """Numbers of deliberately skipped parts, by reason."""

    def __post_init__(self) -> None:
        unfit = [each for each in self.entries if not each.is_storable]
        if unfit:
            reason = "it has a NUL character, or half of a character"
            faults = (*self.faults, *(FileFault(position=each.position, reason=reason) for each in unfit))
            object.__setattr__(self, "entries", tuple(each for each in self.entries if each.is_storable))
            object.__setattr__(self, "faults", faults)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; of those with the same beginning the longer first."""


def read_text(path: Path, encoding: str = "") -> str:
    """Read a file as text, with `\\n` line breaks. Raises `InvalidInput`."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as exc:
        raise InvalidInput(f"cannot read {path}: {exc.strerror or exc}") from exc
    if len(content) > LARGEST_FILE:
        raise InvalidInput(f"{path} is larger than {LARGEST_FILE >> 20} MiB; learn from it in parts")
    return decode_text(content, str(path), encoding)


def decode_text(content: bytes, name: str, encoding: str = "") -> str:
    """Decode bytes in this encoding, else by their byte order mark, else as UTF-8. Raises `InvalidInput`.

    No other encoding is guessed, as a wrong guess would teach broken words.
    """
    used = encoding or next((found for mark, found in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(used)
    except LookupError as exc:
        raise InvalidInput(f"there is no encoding {used!r}; try --encoding cp1252") from exc
    except UnicodeError as exc:
        raise InvalidInput(
            f"{name} is no {used.upper()} text; save it as UTF-8, or say what it is: --encoding cp1252 for most that "
            "a spreadsheet wrote on Windows"
        ) from exc
    return with_plain_line_ends(text.removeprefix("\ufeff"))


def with_plain_line_ends(text: str) -> str:
    """The text with `\\n` line breaks."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
