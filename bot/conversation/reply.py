"""Replies to commands, and the arguments and pages that commands share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from bot.model import Attachment, Choice
from memory.model import Audience

T = TypeVar("T")

PAGE_SIZE = 5
"""Items on a page. With three buttons each, and two to turn the page, they fit under one message."""

CHOOSE = "choose"
"""The command that chooses an option of the bot's question."""
CHOICE = re.compile(
    r"(?:(?P<run>[0-9a-f]{8,32})\s+)?(?P<which>[1-9]\d?|none|no)(?:\s+(?P<grant>short|always))?", re.IGNORECASE
)
"""The argument of that command."""
NONE, NO = "none", "no"
"""The arguments that choose nothing. "no" lets nothing run, and no correction is asked for."""

BACK = "back"
"""The word in an argument that takes back what the same person did before."""

NUMBERS = "numbers"
"""The word in an argument of `why` that asks for the numbers, too."""

ARCHIVED = "archived"
"""The word in an argument for the list of archived lessons."""

SHORT_ID = 8
"""How many characters at the end of an id people see in place of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """The reply to a command: text, buttons, a file, runs whose 🧠 may have changed, and people it names."""

    text: str
    choices: tuple[Choice, ...] = ()
    attachment: Attachment | None = None
    changed_runs: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    decided_for: tuple[str, ...] = ()
    """Authors of lessons that the command decided about, who may get a notice."""

    def above(self, rest: "CommandReply") -> "CommandReply":
        """Return this reply with another one below it."""
        text, choices = f"{self.text}\n\n{rest.text}", (*self.choices, *rest.choices)
        return replace(self, text=text, choices=choices, people=tuple(dict.fromkeys((*self.people, *rest.people))))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReference:
    """The argument `ID [channel|workspace|personal|back] [review|archived] [page N]`: an item, and its list."""

    id: str
    audience: Audience | None = None
    is_back: bool = False
    """Whether what the person did before is to be taken back."""
    is_in_review: bool = False
    is_in_archive: bool = False
    page: int | None = None
    """None if the command was typed, not chosen from a list."""


_POINTED = re.compile(
    r"(?P<id>[0-9a-f]{8,24})(?:\s+(?P<audience>channel|workspace|personal|back))?(?:\s+(?P<list>review|archived))?"
    r"(?:\s+page\s+(?P<page>\d{1,6}))?",
    re.IGNORECASE,
)
_PAGE = re.compile(r"(?:page\s+)?(\d{1,6})", re.IGNORECASE)


def item_reference(argument: str) -> ItemReference | None:
    """The item in an argument; None if there is none."""
    found = _POINTED.fullmatch(argument.strip())
    if found is None:
        return None
    wanted, listed = (found["audience"] or "").lower(), (found["list"] or "").lower()
    return ItemReference(
        id=found["id"].lower(),
        audience=Audience(wanted) if wanted not in ("", BACK) else None,
        is_back=wanted == BACK,
        is_in_review=listed == "review",
        is_in_archive=listed == ARCHIVED,
        page=int(found["page"]) if found["page"] else None,
    )


def page_number(argument: str) -> int:
    """The page in `page 2` or `2`; 1 for everything else."""
    found = _PAGE.fullmatch(argument.strip())
    return int(found[1]) if found else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage(Generic[T]):
    """One page of a list."""

    items: tuple[T, ...]
    first: int
    """The number of the first item, from 1."""
    number: int
    """From 1."""
    last: int
    total: int

    @property
    def place(self) -> str:
        """`page 2 of 3`, or empty if there is only one."""
        return f"page {self.number} of {self.last}" if self.last > 1 else ""

    def numbered(self, lines: Sequence[str]) -> list[str]:
        """The lines of the items, with the numbers that their buttons name."""
        return [f"{number}. {line}" for number, line in enumerate(lines, start=self.first)]

    def page_choices(self, command: str, *, of: str = "", onward: str = "Next page") -> tuple[Choice, ...]:
        """Buttons for the previous and the next page; `of` is the argument before the page."""
        before = Choice(label="Previous page", command=command, argument=f"{of} page {self.number - 1}".strip())
        after = Choice(label=onward, command=command, argument=f"{of} page {self.number + 1}".strip())
        return (*([before] if self.number > 1 else []), *([after] if self.number < self.last else []))


def page_bounds(total: int, number: int) -> tuple[int, int, int]:
    """(existing page number nearest to `number`, number of the last page, items to skip)."""
    last = max(1, -(-total // PAGE_SIZE))
    within = min(max(number, 1), last)
    return within, last, (within - 1) * PAGE_SIZE


def page_slice(total: int, number: int) -> slice:
    """The slice of a list that is on a page; a number beyond the ends means the nearest page."""
    skipped = page_bounds(total, number)[2]
    return slice(skipped, skipped + PAGE_SIZE)


def page_of(items: Sequence[T], total: int, number: int) -> ListPage[T]:
    """The page of a list of `total` items that has these items (see `page_slice`)."""
    within, last, skipped = page_bounds(total, number)
    return ListPage(items=tuple(items), first=skipped + 1, number=within, last=last, total=total)


def short_id(episode_id: str) -> str:
    """The end of an id, which people see in place of it."""
    return episode_id[-SHORT_ID:]
