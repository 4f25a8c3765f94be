"""What no command expected: one line for the person, the traceback for the log."""

import logging

import click

from bot.app.log_file import note_failures
from bot.cli.session import settings_of
from bot.errors import BotError
from memory.retrieval.prompt import shown_line

log = logging.getLogger(__name__)


def unexpected(ctx: click.Context, error: Exception) -> BotError:
    """The error to end with."""
    what = shown_line(f"{type(error).__name__}: {error}".removesuffix(": "), 200)
    return BotError(f"this should not have happened: {what}. Run `goodbot doctor`; {_noted(ctx, error)}.")


def _noted(ctx: click.Context, error: Exception) -> str:
    try:
        settings = settings_of(ctx)
        note_failures(settings)
        log.critical("the command failed: %s", error, exc_info=error)
    except Exception:  # noqa: BLE001 - what comes next is the last word about the first failure
        return "it could not be written to the log"
    return f"the log {settings.log.file} has more"
