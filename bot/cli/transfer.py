"""`goodbot move`, `goodbot backup` and `goodbot reembed`: commands that process the whole memory."""

from pathlib import Path

import click

from bot.app.transfer import back_up_memory, move_memory, planned_move
from bot.app.wiring.slack_installations import installed_workspaces
from bot.cli.output import print_table, progress
from bot.cli.session import Result, json_option, logged_settings, memory_command, print_json, say
from bot.conversation.counts import count
from memory.errors import InvalidInput
from memory.services import Memory


@click.command()
@click.option("--to", "url", required=True, metavar="URL", help="An empty database: sqlite:////absolute/path/new.db")
@click.option(
    "--parts",
    type=click.IntRange(2, 1024),
    help="Make each table of the new PostgreSQL in so many partitions, by a hash of the workspace.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be copied; create and change nothing.")
@json_option
def move(url: str, parts: int | None, dry_run: bool, as_json: bool) -> None:
    """Copy everything into another database, and compare the two table by table. The old one stays as it is.

    End every process of the bot before. If the copying is interrupted, the same command continues it. Afterwards set
    DATABASE_URL to the new one.
    """
    settings = logged_settings()
    try:
        if dry_run:
            plan = planned_move(settings, url)
            _show_plan(plan, parts or 0, installed_workspaces(settings), as_json=as_json)
            return
        installed = installed_workspaces(settings)
        with progress("rows", 0) as step:
            moved = move_memory(
                settings, url, lambda done, total, table: step(done, f"of {total} rows, {table}"), parts=parts or 0
            )
    except InvalidInput as error:
        raise InvalidInput(str(error).replace("DATABASE_URL", "--to")) from error
    if as_json:
        print_json({"tables": moved, "slack_workspaces": installed})
        return
    print_table(
        ["table", "rows", "copied now", "digest, the same in both"],
        [[each.name, f"{each.rows}", f"{each.copied}", each.digest] for each in moved if each.rows],
    )
    also = f", and so are the tokens of {count(installed, 'Slack workspace')}" if installed else ""
    total = sum(each.rows for each in moved)
    say(f"{total} rows are in the new database{also}. Set DATABASE_URL to it, then start the bot.")


def _show_plan(tables: list[tuple[str, int]], parts: int, installed: int, *, as_json: bool) -> None:
    if as_json:
        found = [{"name": name, "rows": rows} for name, rows in tables]
        print_json({"tables": found, "parts": parts, "slack_workspaces": installed})
        return
    print_table(["table", "rows to copy"], [[name, f"{rows}"] for name, rows in tables if rows])
    divided = f", each table in {parts} partitions by workspace" if parts else ""
    also = f", and the tokens of {count(installed, 'Slack workspace')}" if installed else ""
    total = sum(rows for _, rows in tables)
    say(f"Dry run: {total} rows would be copied{divided}{also}. Nothing was created or changed.")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def backup(file: Path, as_json: bool) -> None:
    """Copy the memory into a file that only you may read, while the bot is used. An earlier backup is replaced.

    To restore, end every process of the bot and put the file in the database's place. What was forgotten after a backup
    is in the backup.
    """
    settings = logged_settings()
    with progress("pages", 0) as step:
        size = back_up_memory(settings, file, lambda done, total: step(done, f"of {total} pages"))
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        say(f"{size / 2**20:.1f} MiB written to {file}. Try it: DATABASE_URL=sqlite:///{file.resolve()} goodbot stats")


@click.command()
@memory_command
def reembed(memory: Memory) -> Result:
    """Embed what has no vector of the configured embedder: after another one was chosen, or where it failed.

    The bot may run meanwhile: it finds the rest by the earlier embedder, if this machine has that. If the command is
    interrupted, it continues when it is given again. A job does the same slowly.
    """
    with progress("texts", 0) as step:
        done = memory.reembedding.run(show=lambda count, total: step(count, f"of {total}"))
    left = f"; {done.waiting} were changed meanwhile, give the command again" if done.waiting else ""
    return Result(done, f"{done.episodes} episodes and {done.topics} topics embedded by {memory.embedder.name}{left}.")
