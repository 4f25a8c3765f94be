"""The content of files of all kinds: answered questions, and faults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

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
