"""Tables for people. Everything that came from a person is shown as plain text: no markup, no control characters."""

import sys
from collections.abc import Sequence

from bot.cli.session import say
from memory.model import Episode
from memory.retrieval.prompt import one_line


def print_episodes(episodes: Sequence[Episode]) -> None:
    """One line per episode."""
    if not episodes:
        say("No episodes. Talk with `goodbot chat`, then look again.")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("ID", "WHEN", "WHO", "VERDICT", "STATUS", "QUESTION", "ANSWER"):
        table.add_column(name, no_wrap=name not in ("QUESTION", "ANSWER"), overflow="fold")
    for episode in episodes:
        verdict = episode.verdict.value + (" (archived)" if episode.archived_at else "")
        table.add_row(
            Text(episode.id[-8:]),
            Text(f"{episode.created_at:%Y-%m-%d %H:%M}"),
            Text(one_line(episode.author or episode.person, 16)),
            Text(verdict, style=_STYLES.get(episode.verdict.value, "")),
            Text(episode.status.value),
            Text(one_line(episode.goal, 60)),
            Text(one_line(episode.output, 60)),
        )
    # Piped output must not be folded to the 80 columns of a terminal that is not there.
    Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED_COLUMNS).print(table)


_PIPED_COLUMNS = 200
_STYLES = {"success": "green", "failure": "red", "disputed": "yellow", "pending": "dim"}
