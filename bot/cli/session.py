"""Shared by commands: options, settings, memory and printing."""

import getpass
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from bot.app.processes.log_file import note_failures
from bot.app.wiring.build import open_memory
from bot.app.wiring.startup import read_settings
from bot.config import Settings
from memory.errors import InvalidInput
from memory.library.export import plain
from memory.model import Scope, Visibility
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """Add `--json`, for machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(command)


def workspace_option(command: F) -> F:
    """Add `--workspace`, for one workspace instead of all."""
    return click.option("--workspace", default="", help="Only this workspace, for example terminal:local.")(command)


def settings_of() -> Settings:
    """The settings of the running command."""
    config = click.get_current_context().find_root().obj
    return read_settings(Path(config) if config else None)


def logged_settings() -> Settings:
    """The settings of the running command, whose errors are logged from now on."""
    settings = settings_of()
    note_failures(settings)
    return settings


@contextmanager
def memory_of() -> Iterator[Memory]:
    """Open the memory of the settings."""
    with open_memory(logged_settings()) as memory:
        yield memory


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command: a value for `--json`, and a text, or a function that prints it, for people."""

    value: object
    text: str | Callable[[], None]
    has_failed: bool = False
    """Whether the exit code is 1."""


def memory_command(function: Callable[..., Result]) -> Callable[..., None]:
    """Make a command of a function whose first argument is the memory. Adds `--json`, and prints the result."""

    @json_option
    @wraps(function)
    def command(*, as_json: bool, **options: object) -> None:
        with memory_of() as memory:
            result = function(memory, **options)
        if as_json:
            print_json(result.value)
        elif isinstance(result.text, str):
            say(result.text)
        else:
            result.text()
        if result.has_failed:
            sys.exit(1)

    return command


def confirm(question: str) -> None:
    """Ask before something irreversible; "no" aborts the command. With `--json` the question goes to stderr."""
    click.confirm(question, abort=True, err=bool(click.get_current_context().params["as_json"]))


def scope_in_terminal(workspace: str, channel: str, person: str, *, is_direct: bool) -> Scope:
    """A person in a place; empty values are the terminal's."""
    terminal = settings_of().terminal
    return Scope(
        workspace=workspace or terminal.workspace,
        channel=channel or terminal.channel,
        person=person or terminal.person,
        visibility=Visibility.DIRECT if is_direct else Visibility.PUBLIC,
    )


def say(text: str = "") -> None:
    """Print a text for people, without control characters."""
    click.echo("".join(c for c in text if c.isprintable() or c in "\n\t\u200d"))


def print_json(value: object) -> None:
    """Print a value as indented JSON; characters that the output lacks or a terminal would interpret are escaped."""
    can_show = sys.stdout.encoding.lower().startswith("utf")
    text = json.dumps(plain(value), ensure_ascii=not can_show, indent=2)
    click.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def workspaces_named(memory: Memory, workspace: str) -> list[str]:
    """The workspace of `--workspace`; all for an empty one. Raises `InvalidInput` if nothing is stored of it."""
    known = memory.audit.workspaces()
    if workspace and workspace not in known:
        there = (
            f"there are {', '.join(shown_line(each, 60) for each in known)}"
            if known
            else f"{settings_of().storage.place} is empty"
        )
        raise InvalidInput(f"nothing is stored of a workspace {shown_line(workspace, 60)}; {there}")
    return [workspace] if workspace else known


def administrator() -> str:
    """The name of the user of the command line in the event log."""
    try:
        # A name that is not UTF-8 has surrogates, which no database accepts.
        return f"cli:{os.fsencode(getpass.getuser()).decode(errors='replace')}"
    except (OSError, KeyError, ImportError):  # a container without a user database
        return "cli:unknown"
