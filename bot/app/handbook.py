"""The handbook: what a workspace was taught, as a file that `goodbot learn` reads."""

from collections.abc import Iterable, Iterator

from bot.adapters.sources import faq_markdown, faq_table
from bot.adapters.sources.faq import FaqEntry
from memory.model import Audience
from memory.services import HandbookEntry

FORMATS = ("md", "csv")


def written(entries: Iterable[HandbookEntry], form: str, *, workspace: str, with_authors: bool) -> str:
    """The text of the file."""
    rows = list(_rows(entries, with_authors=with_authors))
    if form == "csv":
        return faq_table.write(rows)
    return faq_markdown.write(rows, f"What {workspace} taught")


def _rows(entries: Iterable[HandbookEntry], *, with_authors: bool) -> Iterator[FaqEntry]:
    for each in entries:
        lesson, is_for_all = each.lesson, each.audience is Audience.WORKSPACE
        yield FaqEntry(
            question=lesson.goal,
            answer=lesson.output,
            audience=each.audience,
            channel="" if is_for_all else lesson.channel,
            visibility=each.visibility,
            place="" if is_for_all else lesson.place,
            author=lesson.author if with_authors else "",
        )
