"""`goodbot run`, `goodbot slack` and `goodbot discord`."""

import asyncio

import click

from bot.app.build import open_memory, start_log
from bot.app.serve import configured
from bot.app.serve import serve as run_platforms
from bot.cli.session import settings_of
from bot.config import Settings


def _serve(settings: Settings, platforms: list[str]) -> None:
    start_log(settings, to_stderr=True)
    with open_memory(settings) as memory:
        asyncio.run(run_platforms(settings, memory, platforms))


@click.command()
@click.pass_context
def run(ctx: click.Context) -> None:
    """Run the bot on every platform that has a token."""
    settings = settings_of(ctx)
    _serve(settings, configured(settings))


@click.command()
@click.pass_context
def slack(ctx: click.Context) -> None:
    """Run the bot on Slack alone."""
    settings = settings_of(ctx)
    _serve(settings, [name for name in configured(settings) if name == "slack"])


@click.command()
@click.pass_context
def discord(ctx: click.Context) -> None:
    """Run the bot on Discord alone."""
    settings = settings_of(ctx)
    _serve(settings, [name for name in configured(settings) if name == "discord"])
