"""`goodbot episodes import`: what another memory exported."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.session import json_option, memory_of, print_json, say, settings_of
from memory.errors import InvalidInput
from memory.model import Scope, Visibility
from memory.rules.retrieval.prompt import shown_line

if TYPE_CHECKING:
    from memory.library.lifecycle import ImportReport

_LARGEST_IMPORT = 64 << 20
"""Bytes. Far above what a team teaches in years; more would not fit the memory it is read into."""
_REFUSALS_SHOWN = 10


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--workspace", default="", help="Into this workspace; the terminal's by default.")
@click.option("--person", default="", help="As what this person judged; the terminal's by default.")
@click.option("--channel", default="", help="Into this channel; the terminal's by default.")
@click.option("--direct", is_flag=True, help="As said in a direct message.")
@json_option
@click.pass_context
def import_(
    ctx: click.Context, *, file: Path, workspace: str, person: str, channel: str, direct: bool, as_json: bool
) -> None:
    """Import a json export. What is there already is left alone; what is new is this person's own judgement alone.

    Records that cannot be taken are named; if none of them could, the command fails.
    """
    from memory.library.episodic import EpisodicMemory
    from memory.library.lifecycle import import_memories

    text = _read(file)
    terminal = settings_of(ctx).terminal
    scope = Scope(
        workspace=workspace or terminal.workspace,
        channel=channel or terminal.channel,
        person=person or terminal.person,
        visibility=Visibility.DIRECT if direct else Visibility.PUBLIC,
    )
    try:
        with memory_of(ctx) as memory:
            report = import_memories(text, episodic=EpisodicMemory(memory, scope))
    except InvalidInput as error:
        raise InvalidInput(f"cannot import {file}: {error}; or with `goodbot episodes export`") from error
    if as_json:
        print_json(report)
    else:
        _tell(report)
    if report.errors and not report.imported and not report.skipped:
        sys.exit(1)


def _tell(report: "ImportReport") -> None:
    say(f"{report.imported} added, {report.skipped} known already, {len(report.errors)} refused")
    for refused in report.errors[:_REFUSALS_SHOWN]:
        say(f"  record {refused.position}: {shown_line(refused.reason, 200)}")
    if len(report.errors) > _REFUSALS_SHOWN:
        say(f"  and {len(report.errors) - _REFUSALS_SHOWN} more (all of them with --json)")


def _read(path: Path) -> str:
    """The text of an export. Raises `InvalidInput` for one that is too large, no UTF-8 or cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_IMPORT + 1)
        if len(content) > _LARGEST_IMPORT:
            raise InvalidInput(f"{path} is larger than {_LARGEST_IMPORT >> 20} MiB; import it in parts")
        return content.decode("utf-8-sig")
    except OSError as exc:
        raise InvalidInput(f"cannot read {path}: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is no UTF-8 text; make an export with `goodbot episodes export`") from exc
