"""Converts unexpected errors of commands to one line for the person, and logs the traceback."""

import logging
from contextlib import suppress

from bot.app.wiring.build import open_store
from bot.cli.session import logged_settings, settings_of
from bot.errors import BotError
from memory.errors import NotADatabase
from memory.rules.retrieval.prompt import shown_line

_REMEDY = "Restore a backup, or run `goodbot doctor`, which tells how to take the row out."

log = logging.getLogger(__name__)


def unexpected(error: Exception) -> BotError | NotADatabase:
    """The error to end the command with. If a row of the database is damaged, that is given as the cause."""
    with suppress(Exception):
        settings = settings_of()
        with open_store(settings) as store:
            if found := store.damage(limit=1):
                log.error("the command failed: %s", error, exc_info=error)
                return NotADatabase(f"In the database {settings.storage.place}, {found[0].what}. {_REMEDY}")
    what = shown_line(f"{type(error).__name__}: {error}".removesuffix(": "), 200)
    return BotError(f"this should not have happened: {what}. Run `goodbot doctor`; {_noted(error)}.")


def _noted(error: Exception) -> str:
    try:
        settings = logged_settings()
        log.critical("the command failed: %s", error, exc_info=error)
    except Exception:  # noqa: BLE001 - what comes next is the last word about the first failure
        return "it could not be written to the log"
    return f"the log {settings.log.file} has more"
