"""`goodbot migrate`, `rebuild`, `export`, `forget` and `purge`."""

import json
from pathlib import Path

import click

from bot.cli.output import deliver, require_own
from bot.cli.session import Result, administrator, confirm, memory_command, memory_of, print_json, settings_of
from bot.conversation.commands.forget_messages import kept_lessons, stored_counts
from bot.conversation.commands.purge_command import purge_counts
from bot.conversation.counts import count
from bot.conversation.reply import short_id
from memory.errors import InvalidInput
from memory.library.export import export_person
from memory.model.batch import Batch
from memory.rules.retrieval.prompt import shown_line
from memory.services import BatchPurge, ErasedCounts, Memory, Purge


@click.command()
@memory_command
def migrate(memory: Memory) -> Result:
    """Bring the database up to date (opening it does the same). Safe to repeat."""
    place = settings_of().storage.place
    return Result({"database": place, "up_to_date": True}, f"{place} is up to date.")


@click.command()
@click.option("--check", is_flag=True, help="Only compare; exit with 1 if anything differs.")
@memory_command
def rebuild(memory: Memory, check: bool) -> Result:
    """Recompute verdicts, strength, salience and the index from the event log."""
    found = memory.audit.check()
    repaired = memory.audit.rebuild() if found and not check else 0
    lines = [
        f"{shown_line(each.workspace, 80)} {each.episode_id} {each.what}: "
        f"stored {each.stored}, the log says {each.expected}"
        for each in found
    ]
    if not found:
        lines.append("Everything stored is what the event log says.")
    elif check:
        lines.append("`goodbot rebuild` makes these what the log says.")
    else:
        lines.append(f"{repaired} values repaired.")
    return Result({"differences": found, "repaired": repaired}, "\n".join(lines), has_failed=check and bool(found))


@click.command()
@click.option("--workspace", default="", help="The person's workspace; the terminal's by default.")
@click.option("--person", required=True, help="Whose data to export.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the screen.")
def export(workspace: str, person: str, output: Path | None) -> None:
    """Export everything about one person as JSON, as their own `export` in chat does.

    Of others' words it has only what the person may see.
    """
    if output is not None:
        require_own(output, settings_of())
    with memory_of() as memory:
        name = workspace or settings_of().terminal.workspace
        data = memory.privacy.copy(name, person)
        if data.is_empty:
            who = shown_line(f"{person} in {name}", 120)
            raise InvalidInput(f"nothing is stored about {who}.{_other_workspaces(memory, name)}")
    held = export_person(data, person)
    if output is None:
        print_json(held)
    else:
        deliver(json.dumps(held, ensure_ascii=False, indent=2), output, shown_line(f"The data of {person}", 80))


@click.command()
@click.option("--workspace", default="", help="The person's workspace; the terminal's by default.")
@click.option("--person", required=True, help="Whose data to erase.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@memory_command
def forget(memory: Memory, workspace: str, person: str, yes: bool) -> Result:
    """Erase everything about one person, and answers to others that repeat their words. Cannot be undone.

    Lessons that others wrote about their questions stay, without the questions. Backups and exports that were made
    before still have all of it.
    """
    name = workspace or settings_of().terminal.workspace
    who = shown_line(f"{person} in {name}", 120)
    data = memory.privacy.personal_data(name, person)
    if data.is_empty:
        nothing = ErasedCounts(episodes=0, derived=0, messages=0, reactions=0)
        return Result(nothing, f"Nothing is stored about {who}.{_other_workspaces(memory, name)}")
    counts = stored_counts(data)
    kept = f" {kept_lessons(len(data.kept))}" if data.kept else ""
    if not yes:
        confirm(f"Erase {counts} of {who}?{kept}")
    return Result(memory.privacy.forget(name, person, actor=administrator()), f"Erased: {counts}.{kept}")


@click.command()
@click.option("--person", "--taught-by", "person", default="", help="Whose teaching to take back.")
@click.option("--batch", default="", help="Which batch to take back, learned from one file (`goodbot review list`).")
@click.option("--workspace", default="", help="The person's workspace; the terminal's by default.")
@click.option("--dry-run", is_flag=True, help="Only say how much it is.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@memory_command
def purge(memory: Memory, *, person: str, batch: str, workspace: str, dry_run: bool, yes: bool) -> Result:
    """Take back everything one person taught, or one file: votes, lessons, promotions, and what was based on them.

    It stays in the event log, but no command brings it back into use. `forget` erases a person's own data instead.
    """
    if bool(person) == bool(batch):
        raise click.UsageError("say what to take back: --person NAME, or --batch ID")
    if batch:
        return _purge_batch(memory, memory.batches.find(batch, workspace), dry_run=dry_run, yes=yes)
    name = workspace or settings_of().terminal.workspace
    planned = memory.purging.plan(name, person)
    if dry_run or planned.is_empty:
        others = _other_workspaces(memory, name) if planned.is_empty else ""
        return Result(planned, f"{_purge_text(planned, name)}{others}")
    if not yes:
        confirm(f"{_purge_text(planned, name)} Take all of it back?")
    done = memory.purging.purge(name, person, actor=administrator(), at=memory.clock())
    return Result(done, f"{_purge_text(done, name)}{'' if done.is_empty else ' Taken back.'}")


def _other_workspaces(memory: Memory, name: str) -> str:
    """Where else to look for somebody of whom a workspace has nothing."""
    others = [shown_line(each, 60) for each in memory.audit.workspaces() if each != name]
    if others:
        return f" --workspace names another one: {', '.join(others)}."
    return "" if memory.audit.workspaces() else f" The database {settings_of().storage.place} is empty."


def _purge_batch(memory: Memory, batch: Batch, *, dry_run: bool, yes: bool) -> Result:
    undo, name = memory.batch_undo, f"{short_id(batch.id)} ({shown_line(batch.name, 60)})"
    planned = undo.plan(batch.workspace, batch.id)
    if dry_run:
        return Result(planned, f"Batch {name}: {_batch_counts(planned)}.")
    if not yes:
        confirm(f"Batch {name}: {_batch_counts(planned)}. Take all of it back?")
    done = undo.purge(batch.workspace, batch.id, actor=administrator())
    return Result(done, f"Batch {name}: {_batch_counts(done)}. Taken back; `goodbot learn` may bring it again.")


def _batch_counts(purge: BatchPurge) -> str:
    rested = f", and {count(purge.unlearned, 'answer')} that rested on them" if purge.unlearned else ""
    return f"{count(purge.lessons, 'lesson')}, {purge.approved} of them approved{rested}"


def _purge_text(purge: Purge, workspace: str) -> str:
    who = shown_line(f"{purge.taught_by} in {workspace}", 120)
    if purge.is_empty:
        return f"Nothing that {who} taught still counts."
    return f"Taught by {who}: {purge_counts(purge)}."
