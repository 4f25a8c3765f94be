"""The input and output of the terminal messenger."""

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output


class ByteSource(Protocol):
    """An unbuffered input: `read(n)` blocks, and returns at most n bytes, or b"" at the end."""

    def read(self, size: int, /) -> bytes | None:
        """The next bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Input and output of the chat. `interactive`: both are a terminal with a person."""

    stdin: ByteSource
    stdout: TextIO
    interactive: bool = False
    echo: bool = True
    """Whether to print typed lines, for a complete transcript; off if the keyboard's echo is on the screen."""
    color: bool = False
    keyboard: "Input | None" = None
    """Replace the terminal's own keyboard and cursor, if interactive."""
    cursor: "Output | None" = None


def standard_streams(environ: Mapping[str, str]) -> Streams:
    """The process's streams: interactive if both are terminals with a cursor, in colour unless NO_COLOR is set."""
    typed = sys.stdin is not None and sys.stdin.isatty()
    can_draw = environ.get("TERM", "xterm") not in ("dumb", "unknown")
    interactive = typed and sys.stdout.isatty() and can_draw
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal whose encoding lacks emoji must not end the chat.
        sys.stdout.reconfigure(errors="replace")
    # A separate raw file: a thread that waits in the buffered sys.stdin would hold its lock at the process's end.
    stdin: ByteSource = io.FileIO(sys.stdin.fileno(), closefd=False) if sys.stdin is not None else io.BytesIO()
    return Streams(
        stdin=stdin,
        stdout=sys.stdout,
        interactive=interactive,
        echo=not typed,
        color=interactive and not environ.get("NO_COLOR"),
    )
