"""Output of commands: tables, progress bars and files.

Texts of people are shown as plain text, without markup and control characters.
"""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.cells import cell_len, set_cell_size

from bot.app.bench.progress import ShowsStep
from bot.cli.session import say
from bot.config import Settings
from bot.conversation.reply import short_id
from memory.adapters.private_files import is_plain_file, write_whole
from memory.errors import InvalidInput
from memory.model import Episode
from memory.rules.retrieval.prompt import shown_line

_WIDTHS = {"ID": 8, "WHEN": 16, "WHO": 12, "VERDICT": 9, "STATUS": 8}
_STYLES = {"success": "green", "failure": "red", "disputed": "yellow", "pending": "bright_black"}
_PIPED_WIDTH = 200
"""Columns if the output is no terminal, wide enough for searches in it."""


def print_episodes(episodes: Sequence[Episode]) -> None:
    """Print a line for each episode, cut to the width of the terminal."""
    if not episodes:
        click.echo("No such episodes. If there are none at all, talk with `goodbot chat`, then look again.")
        return
    width = shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns
    text_width = max(20, (width - sum(_WIDTHS.values()) - 2 * len(_WIDTHS) - 2) // 2)
    head = [set_cell_size(name, size) for name, size in _WIDTHS.items()]
    lines = [click.style("  ".join([*head, set_cell_size("QUESTION", text_width), "ANSWER"]), bold=True)]
    lines.extend(_row(episode, text_width) for episode in episodes)
    click.echo("\n".join(lines))


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with columns as wide as their content; the last one takes the rest of the terminal."""
    width = shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns
    plain = [[shown_line(cell, _PIPED_WIDTH) for cell in row] for row in rows]
    sizes = [max(map(cell_len, column)) for column in zip(head, *plain, strict=True)]
    sizes[-1] = max(10, width - sum(sizes[:-1]) - 2 * (len(sizes) - 1))
    lines = [
        "  ".join(set_cell_size(cell, size) for cell, size in zip(row, sizes, strict=True)).rstrip()
        for row in [[name.upper() for name in head], *plain]
    ]
    click.echo("\n".join([click.style(lines[0], bold=True), *lines[1:]]))


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int, str], None]]:
    """Progress bars on stderr, one for each thing named, with a note beside it; none if stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console, named = Console(stderr=True), TextColumn("{task.description}", markup=False)
    noted = TextColumn("{task.fields[note]}", markup=False)
    columns = (named, BarColumn(), MofNCompleteColumn(), noted, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int, note: str) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total, note=note)
            bars.update(tasks[what], completed=done, total=total, note=note)

        yield show


@contextmanager
def progress(what: str, total: int) -> Iterator[ShowsStep]:
    """A progress bar on stderr; none if stderr is no terminal."""
    with progress_bars() as show:
        show(what, 0, total, "")
        yield lambda done, note="": show(what, done, total, note)


def require_own(output: Path, settings: Settings) -> None:
    """Raise `InvalidInput` if a file belongs to the bot: the database, files beside it, or the log."""
    where = output.resolve()
    for name in (settings.storage.beside, settings.log.file):
        kept = Path(name).resolve()
        if where.parent == kept.parent and where.name.startswith(kept.name):
            raise InvalidInput(f"cannot write {output}: it belongs to the bot; name another file with --output")


def deliver(text: str, output: Path | None, done: str, *, ends_line: bool = False) -> None:
    """Write a text to a file and print what was `done`, or print it. With `ends_line` it has its last line break."""
    if output is not None:
        _save(output, text)
        if is_plain_file(output):
            say(f"{done} written to {output}")
    elif sys.stdout.isatty():
        say(text)
    else:
        click.echo(text, nl=not ends_line)


def _save(path: Path, text: str) -> None:
    """Write a file, atomically if it is a plain file. Raises `InvalidInput`."""
    try:
        if is_plain_file(path):
            write_whole(path, text.encode())
        else:
            path.write_bytes(text.encode())
    except OSError as exc:
        raise InvalidInput(f"cannot write {path}: {exc.strerror or exc}; name another file with --output") from exc


def _row(episode: Episode, text_width: int) -> str:
    verdict = episode.verdict.value
    shown = "archived" if episode.archived_at else "held back" if episode.quarantine else verdict
    cells = [
        set_cell_size(short_id(episode.id), 8),
        f"{episode.created_at:%Y-%m-%d %H:%M}",
        set_cell_size(shown_line(episode.author or episode.person, 12), 12),
        click.style(set_cell_size(shown, 9), fg=_STYLES.get(verdict)),
        set_cell_size(episode.status.value, 8),
        set_cell_size(shown_line(episode.goal, text_width), text_width),
        set_cell_size(shown_line(episode.output, text_width), text_width),
    ]
    return "  ".join(cells).rstrip()
