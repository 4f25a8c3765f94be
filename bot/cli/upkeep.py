"""`goodbot migrate`, `rebuild`, `forget` and `purge`."""

import sys

import click

from bot.cli.session import administrator, json_option, memory_of, print_json, say, settings_of
from bot.conversation.forget_messages import held_counts, kept_lessons
from bot.conversation.messages import purge_counts
from memory.rules.retrieval.prompt import shown_line
from memory.services import Erased, Purge


@click.command()
@json_option
@click.pass_context
def migrate(ctx: click.Context, as_json: bool) -> None:
    """Bring the database up to date (opening it does the same). Safe to repeat."""
    with memory_of(ctx):
        place = settings_of(ctx).storage.place
    if as_json:
        print_json({"database": place, "up_to_date": True})
    else:
        say(f"{place} is up to date.")


@click.command()
@click.option("--check", is_flag=True, help="Only compare; exit with 1 if anything differs.")
@json_option
@click.pass_context
def rebuild(ctx: click.Context, check: bool, as_json: bool) -> None:
    """Recompute verdicts, strength, salience and the index from the event log."""
    with memory_of(ctx) as memory:
        found = memory.audit.check()
        repaired = memory.audit.rebuild() if found and not check else 0
    if as_json:
        print_json({"differences": found, "repaired": repaired})
    else:
        for difference in found:
            where = f"{shown_line(difference.workspace, 80)} {difference.episode_id} {difference.what}"
            say(f"{where}: stored {difference.stored}, the log says {difference.expected}")
        if not found:
            say("Everything stored is what the event log says.")
        elif not check:
            say(f"{repaired} values repaired.")
    if check and found:
        sys.exit(1)


@click.command()
@click.option("--workspace", default="", help="The person's workspace; the terminal's by default.")
@click.option("--person", required=True, help="Whose data to erase.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
def forget(ctx: click.Context, workspace: str, person: str, yes: bool, as_json: bool) -> None:
    """Erase everything about one person, and answers to others that repeat their words. Cannot be undone.

    Lessons that others wrote about their questions stay, without the questions.
    """
    name = workspace or settings_of(ctx).terminal.workspace
    who = shown_line(f"{person} in {name}", 120)
    with memory_of(ctx) as memory:
        held = memory.privacy.holdings(name, person)
        if held.is_empty:
            _report(Erased(episodes=0, derived=0, messages=0, reactions=0), f"Nothing is stored about {who}.", as_json)
            return
        counts = held_counts(held)
        kept = f" {kept_lessons(len(held.kept))}" if held.kept else ""
        if not yes:
            click.confirm(f"Erase {counts} of {who}?{kept}", abort=True, err=as_json)
        erased = memory.privacy.forget(name, person)
    _report(erased, f"Erased: {counts}.{kept}", as_json)


def _report(erased: Erased, text: str, as_json: bool) -> None:
    if as_json:
        print_json(erased)
    else:
        say(text)


@click.command()
@click.option("--taught-by", "person", required=True, help="Whose teaching to take back.")
@click.option("--workspace", default="", help="The person's workspace; the terminal's by default.")
@click.option("--dry-run", is_flag=True, help="Only say how much it is.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
def purge(ctx: click.Context, person: str, workspace: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take back everything one person taught: votes, lessons, corrections, promotions, and what rested on them.

    It stays in the event log. `forget` erases a person's own data instead.
    """
    name = workspace or settings_of(ctx).terminal.workspace
    with memory_of(ctx) as memory:
        planned = memory.purging.plan(name, person)
        if not (dry_run or planned.is_empty):
            if not yes:
                click.confirm(f"{_purge_text(planned, name)} Take all of it back?", abort=True, err=as_json)
            planned = memory.purging.purge(name, person, actor=administrator(), at=memory.clock())
    if as_json:
        print_json(planned)
    elif planned.is_empty or dry_run:
        say(_purge_text(planned, name))
    else:
        say(f"{_purge_text(planned, name)} Taken back.")


def _purge_text(purge: Purge, workspace: str) -> str:
    who = shown_line(f"{purge.taught_by} in {workspace}", 120)
    if purge.is_empty:
        return f"Nothing that {who} taught still counts."
    return f"Taught by {who}: {purge_counts(purge)}."
