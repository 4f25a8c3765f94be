"""What commands share: options, the settings, the memory, and printing."""

import getpass
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from bot.app.build import open_memory, read_settings
from bot.app.log_file import note_failures
from bot.config import Settings
from memory.library.export import plain
from memory.services import Memory

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """`--json`: machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(command)


def workspace_option(command: F) -> F:
    """`--workspace`: one workspace instead of all."""
    return click.option("--workspace", default="", help="Only this workspace, for example terminal:local.")(command)


def settings_of(ctx: click.Context) -> Settings:
    """The settings, read once per command."""
    config = ctx.find_root().obj
    return read_settings(Path(config) if config else None)


@contextmanager
def memory_of(ctx: click.Context) -> Iterator[Memory]:
    """The memory the settings name."""
    settings = settings_of(ctx)
    note_failures(settings)
    with open_memory(settings) as memory:
        yield memory


def say(text: str = "") -> None:
    """Print text for people, without control characters."""
    click.echo("".join(c for c in text if c.isprintable() or c in "\n\t\u200d"))


def print_json(value: object) -> None:
    """A value as indented JSON: readable where the output can show it, escaped where a terminal would obey it."""
    can_show = sys.stdout.encoding.lower().startswith("utf")
    text = json.dumps(plain(value), ensure_ascii=not can_show, indent=2)
    click.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def administrator() -> str:
    """Who acts at the command line, as the event log names them."""
    try:
        # A name that is not UTF-8 comes with what no database takes.
        return f"cli:{os.fsencode(getpass.getuser()).decode(errors='replace')}"
    except (OSError, KeyError, ImportError):  # a container without a user database
        return "cli:unknown"
