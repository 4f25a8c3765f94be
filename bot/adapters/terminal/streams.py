"""The input and output of the terminal messenger, and what they are capable of."""

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output


class ByteSource(Protocol):
    """An unbuffered input: `read(n)` waits for something, returns at most n bytes, and b"" at the end."""

    def read(self, size: int, /) -> bytes | None:
        """The next bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """The two ends of the conversation. `interactive` means that a person sits at both."""

    stdin: ByteSource
    stdout: TextIO
    interactive: bool = False
    echo: bool = True
    """Repeat what was read, so that the output alone is a transcript. Off when the keyboard's echo is on screen."""
    color: bool = False
    keyboard: "Input | None" = None
    """Instead of the terminal's own keyboard and cursor, when interactive."""
    cursor: "Output | None" = None


def standard_streams(environ: Mapping[str, str]) -> Streams:
    """The process's own: interactive if both are terminals that can move the cursor, colour unless NO_COLOR is set."""
    typed = sys.stdin is not None and sys.stdin.isatty()
    can_draw = environ.get("TERM", "xterm") not in ("dumb", "unknown")
    interactive = typed and sys.stdout.isatty() and can_draw
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An emoji must not end the chat on a terminal whose encoding has none.
        sys.stdout.reconfigure(errors="replace")
    # A raw file of its own: a thread that waits in the buffered sys.stdin would hold its lock when the process ends.
    stdin: ByteSource = io.FileIO(sys.stdin.fileno(), closefd=False) if sys.stdin is not None else io.BytesIO()
    return Streams(
        stdin=stdin,
        stdout=sys.stdout,
        interactive=interactive,
        echo=not typed,
        color=interactive and not environ.get("NO_COLOR"),
    )
