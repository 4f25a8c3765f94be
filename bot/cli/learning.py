"""`goodbot learn`: imports lessons from a file, for review."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from bot.app.learning import LearnReport, ShowsLearning, Target, learn, read_file
from bot.app.wiring.policies import emoji_map
from bot.cli.output import progress_bars
from bot.cli.session import Result, administrator, memory_command, settings_of
from bot.conversation.counts import count
from bot.conversation.reply import short_id
from memory.errors import InvalidInput
from memory.model import Audience, Visibility
from memory.rules.retrieval.prompt import shown_line
from memory.services import EntryStatus, Memory

_SHOWN = 10
_STAGE = "learning"
_AUDIENCES = click.Choice([Audience.CHANNEL.value, Audience.WORKSPACE.value])


@click.command("learn")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what would become of it.")
@click.option("--workspace", default="", help="Into this workspace; the export's own, or the terminal's, by default.")
@click.option("--channel", default="", help="Into this channel, by id, wherever it was said.")
@click.option("--public", "is_public", is_flag=True, help="Everybody of the workspace can read the channels in it.")
@click.option("--private", "is_private", is_flag=True, help="Only their members can.")
@click.option("--audience", type=_AUDIENCES, help="For whom it counts once approved.")
@click.option("--direct", "with_direct", is_flag=True, help="Direct messages too, each for the asker alone.")
@click.option("--people", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="csv: id there, id here.")
@click.option("--encoding", default="", help="Of a file that is no UTF-8, for example cp1252.")
@memory_command
def learn_(
    memory: Memory,
    *,
    file: Path,
    dry_run: bool,
    workspace: str,
    channel: str,
    is_public: bool,
    is_private: bool,
    audience: str | None,
    with_direct: bool,
    people: Path | None,
    encoding: str,
) -> Result:
    """Learn from an FAQ (.csv, .md, .jsonl), a Slack export (.zip) or one of DiscordChatExporter (.json, .zip).

    Of conversations it takes what was marked as right: by who asked (✅, 👍, "thanks, that worked"), or pinned. All of
    it waits for a teacher's review, as one batch. The same file again adds nothing; a stopped run is continued.
    """
    if is_public and is_private:
        raise click.UsageError("a channel is public or private, not both")
    settings = settings_of()
    stated = Visibility.PUBLIC if is_public else Visibility.PRIVATE if is_private else None
    target = Target(
        workspace=workspace or settings.terminal.workspace,
        is_workspace_given=bool(workspace),
        actor=administrator(),
        channel=channel,
        visibility=stated,
        audience=Audience(audience) if audience else None,
        with_direct=with_direct,
        people=_mapped(people) if people else {},
    )
    with bar() as progress:
        contents = read_file(file, emoji_map(settings), progress, encoding=encoding)
        report = learn(memory, file, contents, target, progress, is_dry_run=dry_run)
    return Result(report, "\n".join(_lines(report, file, is_dry_run=dry_run)), has_failed=report.has_failed)


def _mapped(path: Path) -> dict[str, str]:
    try:
        rows = [*csv.reader(path.read_text(encoding="utf-8-sig").splitlines())]
    except (OSError, UnicodeError, csv.Error) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    if any(len(row) != 2 for row in rows if row):
        raise InvalidInput(f"{path} needs two columns: a person's id in the file, and here")
    return {row[0].strip(): row[1].strip() for row in rows if row}


@contextmanager
def bar() -> Iterator[ShowsLearning]:
    """Progress bars on stderr, one for each stage; none if stderr is no terminal."""
    with progress_bars() as show:

        def progress(what: str, done: int, total: int) -> None:
            if what == _STAGE:
                show(what, done, total, "")
            else:
                show("reading", done, total, shown_line(what, 40))

        yield progress


def _lines(report: LearnReport, file: Path, *, is_dry_run: bool) -> Iterator[str]:
    counts = report.counts
    yield f"{shown_line(file.name, 60)}: {report.kind} with {count(report.entries, 'answered question')}"
    words = {
        EntryStatus.ADDED: "would wait for review" if is_dry_run else "wait for review",
        EntryStatus.HELD_BACK: "to be looked at one by one",
        EntryStatus.OWN: "for the asker alone",
        EntryStatus.KNOWN: "known already",
        EntryStatus.JOINED: "twice in the file, joined",
        EntryStatus.REFUSED: "refused",
    }
    yield from (f"  {counts[fate.value]:>7,}  {text}" for fate, text in words.items() if counts.get(fate.value))
    yield from _more("looked at one by one for", report.held_back)
    if report.differing:
        yield f"  {report.differing:>7,}  of these have another answer than one that is there, or in the file"
    yield from _more("from", report.places)
    yield from _more("left out:", report.left_out)
    if report.faults:
        yield f"Could not be read: {len(report.faults):,}"
        yield from (
            f"  {shown_line(each.position, 60)}: {shown_line(each.reason, 160)}" for each in report.faults[:_SHOWN]
        )
        if len(report.faults) > _SHOWN:
            yield f"  and {len(report.faults) - _SHOWN:,} more (all of them with --json)"
    if is_dry_run and report.samples:
        yield "For example:"
        for each in report.samples:
            yield f"  {shown_line(each.position, 40)}: {shown_line(each.question, 90)}"
            yield f"      {shown_line(each.answer, 110)}"
    yield from _onward(report, file, is_dry_run=is_dry_run)


def _more(what: str, counts: Mapping[str, int]) -> Iterator[str]:
    for name, number in [*counts.items()][:_SHOWN]:
        yield f"  {number:>7,}  {what} {shown_line(name, 100)}"
    if len(counts) > _SHOWN:
        yield f"           {what} {len(counts) - _SHOWN:,} more"


_MARKED = 'a reply that whoever asked marked (✅, 👍, "thanks, that worked") or somebody pinned'
_SOUGHT = {
    "csv": "rows with a question and an answer, in the columns of these names or in the only two",
    "Markdown": "headings with text below",
    "JSON lines": "objects with `question` and `answer`, one a line or a list",
    "Slack export": f"threads with {_MARKED}",
    "Discord export": f"replies and threads with {_MARKED}",
}
"""What each kind of file is read for."""


def _onward(report: LearnReport, file: Path, *, is_dry_run: bool) -> Iterator[str]:
    if not report.entries:
        yield f"Nothing was learned. Looked for: {_SOUGHT[report.kind]}."
    elif is_dry_run:
        yield "Nothing was stored." if report.added else "Nothing in it is new."
    elif report.batch:
        known = short_id(report.batch)
        yield f"Batch {known}. A teacher reviews it on the pages, in chat (`review`), or: goodbot review show {known}"
        yield f"All of it again away: goodbot purge --batch {known} --dry-run"
    else:
        yield "Nothing in it is new."
