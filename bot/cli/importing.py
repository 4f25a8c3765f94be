"""`goodbot episodes import`: imports an export of another memory."""

from pathlib import Path

import click

from bot.cli.session import Result, memory_command, scope_in_terminal
from memory.errors import InvalidInput
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory

_LARGEST_IMPORT = 64 << 20
"""In bytes. Far more than a team teaches in years, and still fits into RAM."""
_REFUSALS_SHOWN = 10


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--workspace", default="", help="Into this workspace; the terminal's by default.")
@click.option("--person", default="", help="As what this person judged; the terminal's by default.")
@click.option("--channel", default="", help="Into this channel; the terminal's by default.")
@click.option("--direct", is_flag=True, help="As said in a direct message.")
@memory_command
def import_(memory: Memory, *, file: Path, workspace: str, person: str, channel: str, direct: bool) -> Result:
    """Import a json export. Known episodes stay unchanged; new ones count as judged by this person alone.

    Records that cannot be taken are named; if none of them could, the command fails.
    """
    from memory.library.episodic import EpisodicMemory
    from memory.library.lifecycle import import_memories

    text = _read(file)
    scope = scope_in_terminal(workspace, channel, person, is_direct=direct)
    try:
        report = import_memories(text, episodic=EpisodicMemory(memory, scope))
    except InvalidInput as error:
        raise InvalidInput(f"cannot import {file}: {error}; or with `goodbot episodes export`") from error
    lines = [f"{report.imported} added, {report.skipped} known already, {len(report.errors)} refused"]
    lines += [f"  record {each.position}: {shown_line(each.reason, 200)}" for each in report.errors[:_REFUSALS_SHOWN]]
    if len(report.errors) > _REFUSALS_SHOWN:
        lines.append(f"  and {len(report.errors) - _REFUSALS_SHOWN} more (all of them with --json)")
    has_failed = bool(report.errors) and not report.imported and not report.skipped
    return Result(report, "\n".join(lines), has_failed=has_failed)


def _read(path: Path) -> str:
    """The text of an export. Raises `InvalidInput` if it is too large, no UTF-8, or cannot be read."""
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
