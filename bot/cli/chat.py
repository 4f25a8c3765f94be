"""`goodbot chat`: the bot in this terminal."""

import asyncio
from pathlib import Path

import click

from bot.app.processes.log_file import start_log
from bot.app.wiring.startup import load_early, make_embedder, read_settings


@click.command()
@click.option("--teacher", is_flag=True, help="Be a teacher: what you approve or correct counts for everybody here.")
@click.option("--admin", is_flag=True, help="Be an administrator: a teacher who may change settings, too.")
@click.pass_context
def chat(ctx: click.Context, teacher: bool, admin: bool) -> None:
    """Talk with the bot in this terminal. Needs no account and no key; reads piped input too."""
    config = ctx.find_root().obj
    settings = read_settings(Path(config) if config else None)
    start_log(settings)
    load_early(embedder := make_embedder(settings))
    # Imported while the embedder loads: imports take half of the time until the first answer.
    from bot.app.chat import chat as run_chat
    from bot.app.wiring.build import open_memory

    with open_memory(settings, embedder) as memory:
        asyncio.run(run_chat(settings, memory, teacher=teacher, admin=admin))
