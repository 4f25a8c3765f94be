"""`goodbot run`, `goodbot slack` and `goodbot discord`: run the bot on chat platforms."""

import asyncio

import click

from bot.app.processes.log_file import start_log
from bot.app.serve import configured_platforms, serve as run_platforms
from bot.app.wiring.build import open_memory
from bot.cli.session import settings_of
from bot.config import Settings
from bot.errors import ConfigError


def _serve(settings: Settings, platforms: list[str]) -> None:
    start_log(settings, to_stderr=True)
    with open_memory(settings) as memory:
        asyncio.run(run_platforms(settings, memory, platforms))


def _alone(platform: str, settings: Settings) -> list[str]:
    """A list of this platform only. Raises `ConfigError` if it has no token."""
    if platform in configured_platforms(settings):
        return [platform]
    wanted = {"slack": "SLACK_BOT_TOKEN (or SLACK_CLIENT_ID for several workspaces)", "discord": "DISCORD_TOKEN"}
    raise ConfigError(f"{platform} is not configured: set {wanted[platform]}; `goodbot doctor` says what else it needs")


@click.command()
def run() -> None:
    """Run the bot on every platform that has a token, and the web if a key or an account is set."""
    settings = settings_of()
    _serve(settings, configured_platforms(settings))


@click.command()
def slack() -> None:
    """Run the bot on Slack alone."""
    settings = settings_of()
    _serve(settings, _alone("slack", settings))


@click.command()
def discord() -> None:
    """Run the bot on Discord alone."""
    settings = settings_of()
    _serve(settings, _alone("discord", settings))
