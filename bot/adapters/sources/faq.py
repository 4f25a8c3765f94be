"""An entry of an FAQ, and the names of its columns and fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from bot.adapters.sources.entries import SourceChannel, SourceEntry, with_plain_line_ends
from memory.model import Audience, Visibility

T = TypeVar("T", Audience, Visibility)

COLUMNS = ("question", "answer", "audience", "channel", "visibility", "place", "author")
"""The columns of a file of ours; only the first two are required."""
_ALIASES = {
    "q": "question", "frage": "question", "title": "question", "prompt": "question", "query": "question",
    "pregunta": "question",
    "a": "answer", "antwort": "answer", "response": "answer", "respuesta": "answer", "réponse": "answer",
    "content": "answer",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqEntry:
    """An entry of an FAQ. Its texts have `\\n` line breaks and no outer spaces."""

    question: str
    answer: str
    audience: Audience = Audience.WORKSPACE
    channel: str = ""
    """The channel it is for; empty for the whole workspace."""
    visibility: Visibility = Visibility.PUBLIC
    place: str = ""
    author: str = ""

    def __post_init__(self) -> None:
        for name in ("question", "answer", "channel", "place", "author"):
            object.__setattr__(self, name, with_plain_line_ends(getattr(self, name)).strip())


def field_of(name: str) -> str:
    """Our name of a column or field; the given name, in lower case, if there is none."""
    known = name.strip().casefold()
    return _ALIASES.get(known, known)


def entry_of(position: str, values: Mapping[str, str]) -> SourceEntry:
    """An entry with these fields. Raises `ValueError` with the reason, also for an unknown audience or visibility."""
    fields = {name: with_plain_line_ends(text).strip() for name, text in values.items()}
    for needed in COLUMNS[:2]:
        if not fields.get(needed):
            raise ValueError(f"it has no {needed}")
    place = None
    visibility = _one_of(Visibility, "visibility", fields.get("visibility", ""))
    if visibility is Visibility.DIRECT:
        raise ValueError("what was said in a direct message is taught there, not by a file")
    if channel := fields.get("channel", ""):
        place = SourceChannel(channel=channel, name=fields.get("place", ""), visibility=visibility)
    return SourceEntry(
        position=position,
        question=fields["question"],
        answer=fields["answer"],
        place=place,
        audience=_one_of(Audience, "audience", fields.get("audience", "")),
        author=fields.get("author", ""),
    )


def _one_of(kind: type[T], name: str, text: str) -> T | None:
    if not text:
        return None
    try:
        return kind(text.casefold())
    except ValueError as exc:
        raise ValueError(f"its {name} is {text[:40]!r}; there are {', '.join(kind)}") from exc
