"""`goodbot chat`."""

import asyncio

import click

from bot.app.build import open_memory
from bot.app.chat import chat as run_chat
from bot.app.log_file import start_log
from bot.cli.session import settings_of


@click.command()
@click.option("--teacher", is_flag=True, help="Be a teacher: what you approve or correct counts for everybody here.")
def chat(teacher: bool) -> None:
    """Talk with the bot in this terminal. Needs no account and no key; reads piped input too."""
    settings = settings_of()
    start_log(settings)
    with open_memory(settings) as memory:
        asyncio.run(run_chat(settings, memory, teacher=teacher))
