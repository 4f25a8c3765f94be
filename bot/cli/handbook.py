"""`goodbot handbook`: writes approved lessons to a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from bot.adapters.sources import faq_markdown, faq_table
from bot.adapters.sources.faq import FaqEntry
from bot.cli.output import deliver, require_own
from bot.cli.session import memory_of, print_json, settings_of, workspaces_named
from bot.conversation.counts import count
from memory.model import Audience
from memory.services import HandbookEntry

FORMATS = ("md", "csv")


def handbook_text(entries: Iterable[HandbookEntry], form: str, *, workspace: str, with_authors: bool) -> str:
    """The text of the handbook as an FAQ file: `md` or `csv`."""
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


def _form_of(output: Path) -> str:
    """The form that a file's name says. Raises `UsageError` for another ending, which promises another form."""
    form = output.suffix.casefold().removeprefix(".") or "md"
    if form not in FORMATS:
        raise click.UsageError(f"{output} ends in neither .md nor .csv; name it so, or say --format")
    return form


@click.command()
@click.option("--workspace", default="", help="Of this workspace; the terminal's by default.")
@click.option("--channel", default="", help="Only of this channel, by id; the way to what a private one was taught.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By the name of the file; else md.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the screen.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def handbook(*, workspace: str, channel: str, form: str | None, output: Path | None, as_json: bool) -> None:
    """Write what people taught to an FAQ: approved answers for the workspace and its public channels.

    `goodbot learn` reads it back whole. What counts for one person alone, direct messages and what is to be avoided are
    not in it; private channels only one by one, with --channel. Authors are named where `[teaching] name_authors` says.
    """
    settings = settings_of()
    if output is not None:
        require_own(output, settings)
    chosen = form or (_form_of(output) if output is not None else "md")
    name = workspace or settings.terminal.workspace
    with memory_of() as memory:
        workspaces_named(memory, workspace)
        entries = memory.handbook.entries(name, channel)
    if as_json:
        print_json(entries)
        return
    if not entries:
        where = f"channel {channel}" if channel else "the workspace or a public channel"
        click.echo(f"Nothing that people taught counts for {where} yet: a teacher promotes lessons.", err=True)
    text = handbook_text(entries, chosen, workspace=name, with_authors=settings.teaching.name_authors)
    deliver(text, output, count(len(entries), "answer"), ends_line=True)
