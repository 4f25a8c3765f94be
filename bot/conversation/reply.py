"""Replies to commands, and the arguments and pages that commands share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from bot.model import Attachment, Choice
from memory.model import Audience

T = TypeVar("T")

PAGE_SIZE = 5
"""With three choices for each, and two to turn the page, they fit what platforms put under one message."""

CHOOSE = "choose"
"""The command that chooses what a question of the bot's offered."""
CHOICE = re.compile(
    r"(?:(?P<run>[0-9a-f]{8,32})\s+)?(?P<which>[1-9]\d?|none|no)(?:\s+(?P<grant>short|always))?", re.IGNORECASE
)
"""The argument of that command."""

SHORT_ID = 8
"""Characters at the end of an id that stand for it where people see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """The reply to a command: text, buttons, a file, answers whose 🧠 may have changed, and people it names."""

    text: str
    choices: tuple[Choice, ...] = ()
    attachment: Attachment | None = None
    changed_runs: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    decided_for: tuple[str, ...] = ()
    """Authors of lessons that the command decided about: they may hear of it."""

    def above(self, rest: "CommandReply") -> "CommandReply":
        """Both as one reply: this one, and a list below it."""
        text, choices = f"{self.text}\n\n{rest.text}", (*self.choices, *rest.choices)
        return replace(self, text=text, choices=choices, people=rest.people)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReference:
    """`ID [channel|workspace|personal] [review] [page N]`: a lesson or vote, and the list it was chosen from."""

    id: str
    audience: Audience | None = None
    is_in_review: bool = False
    page: int | None = None
    """None if it was typed, not chosen from a list."""


_POINTED = re.compile(
    r"(?P<id>[0-9a-f]{8,24})(?:\s+(?P<audience>channel|workspace|personal))?(?P<review>\s+review)?"
    r"(?:\s+page\s+(?P<page>\d{1,6}))?",
    re.IGNORECASE,
)
_PAGE = re.compile(r"(?:page\s+)?(\d{1,6})", re.IGNORECASE)


def item_reference(argument: str) -> ItemReference | None:
    """What an argument points at; None if it names nothing."""
    found = _POINTED.fullmatch(argument.strip())
    if found is None:
        return None
    return ItemReference(
        id=found["id"].lower(),
        audience=Audience(found["audience"].lower()) if found["audience"] else None,
        is_in_review=found["review"] is not None,
        page=int(found["page"]) if found["page"] else None,
    )


def page_number(argument: str) -> int:
    """`page 2` or `2`; everything else means the first page."""
    found = _PAGE.fullmatch(argument.strip())
    return int(found[1]) if found else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage(Generic[T]):
    """A few items of a list."""

    items: tuple[T, ...]
    first: int
    """The number of the first item, from 1."""
    number: int
    """From 1."""
    last: int
    total: int

    @property
    def place(self) -> str:
        """`page 2 of 3`, or nothing where there is only one."""
        return f"page {self.number} of {self.last}" if self.last > 1 else ""

    def numbered(self, lines: Sequence[str]) -> list[str]:
        """A line for each item, with the number its choices name."""
        return [f"{number}. {line}" for number, line in enumerate(lines, start=self.first)]

    def page_choices(self, command: str, *, of: str = "", onward: str = "Next page") -> tuple[Choice, ...]:
        """Choices for the pages before and after this one; `of` is what the pages are of."""
        before = Choice(label="Previous page", command=command, argument=f"{of} page {self.number - 1}".strip())
        after = Choice(label=onward, command=command, argument=f"{of} page {self.number + 1}".strip())
        return (*([before] if self.number > 1 else []), *([after] if self.number < self.last else []))


def bounds(total: int, number: int) -> tuple[int, int, int]:
    """(page number within what there is, number of the last page, how many items to skip)."""
    last = max(1, -(-total // PAGE_SIZE))
    within = min(max(number, 1), last)
    return within, last, (within - 1) * PAGE_SIZE


def window(total: int, number: int) -> slice:
    """Which items of a list are on a page; a number beyond the ends means the nearest page there is."""
    skipped = bounds(total, number)[2]
    return slice(skipped, skipped + PAGE_SIZE)


def page_of(items: Sequence[T], total: int, number: int) -> ListPage[T]:
    """The page with these items (`window`) of a list of `total`."""
    within, last, skipped = bounds(total, number)
    return ListPage(items=tuple(items), first=skipped + 1, number=within, last=last, total=total)


def short(episode_id: str) -> str:
    """An id as people see it."""
    return episode_id[-SHORT_ID:]
