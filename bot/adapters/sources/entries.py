"""What every kind of file is read as: questions with their answers, and what could not be read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memory.model import Audience, Visibility

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
LARGEST_FILE = 256 << 20
"""Bytes of a file of texts, and of each file within an archive. A team's whole handbook is a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChannel:
    """A channel, as a file names it."""

    channel: str
    name: str = ""
    """As people write it (`#general`)."""
    visibility: Visibility | None = None
    """None where the file does not say."""
    people: tuple[str, ...] = ()
    """Of a direct conversation: who is in it, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One question with its answer."""

    position: str
    """Where in the file it is, as people find it: `line 12`."""
    question: str
    answer: str
    key: str = ""
    """The ids of its messages; empty where its text is all there is."""
    mark: str = ""
    """Why it was taken from a conversation."""
    place: SourceChannel | None = None
    """Where it was said; None where the file does not say."""
    audience: Audience | None = None
    author: str = ""
    """Who wrote the answer: an id of the platform's, or in a file of ours a name."""
    asker: str = ""

    @property
    def is_storable(self) -> bool:
        """Whether every database keeps its texts."""
        place = (self.place.channel, self.place.name) if self.place else ()
        texts = (self.question, self.answer, self.key, self.author, self.asker, *place)
        return not any(map(_UNSTORABLE.search, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """Something in a file that could not be read. It never keeps the rest out."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a file has. An entry with a sign that no database keeps is a fault."""

    kind: str
    """`csv`, `Markdown`, `JSON lines`, `Slack export`, `Discord export`."""
    entries: tuple[SourceEntry, ...]
    faults: tuple[FileFault, ...] = ()
    workspace: str = ""
    """Where it is from, if the file says so."""
    skipped: Mapping[str, int] | None = None
    """How much was left out on purpose, by reason."""

    def __post_init__(self) -> None:
        unfit = [each for each in self.entries if not each.is_storable]
        if unfit:
            reason = "it has a NUL character, or half of a character"
            faults = (*self.faults, *(FileFault(position=each.position, reason=reason) for each in unfit))
            object.__setattr__(self, "entries", tuple(each for each in self.entries if each.is_storable))
            object.__setattr__(self, "faults", faults)
