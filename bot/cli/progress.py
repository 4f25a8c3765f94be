"""A bar on stderr for what takes long."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.app.bench.progress import ShowsStep


@contextmanager
def progress(what: str, total: int) -> "Iterator[ShowsStep]":
    """A bar on stderr while it lasts; nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total, note="")

        def step(done: int, note: str = "") -> None:
            bar.update(task, completed=done, note=note)

        yield step
