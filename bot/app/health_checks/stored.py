"""The checks of what is stored on this machine: whether it can be read, and by whom."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from bot.adapters.check_result import CheckResult, fault, fine, warning
from bot.app.build import open_store
from bot.config import Settings
from memory.adapters.private_files import is_open_to_others, is_own, is_plain_file
from memory.errors import MemoryFault

_ROWS, _PRIVATE = "GB011", "GB012"
_SHOWN = 20
"""Damaged rows that are named; they are mended one by one."""


def rows(settings: Settings) -> Iterator[CheckResult]:
    """Whether every row can be read; a finding for each that cannot."""
    try:
        # A damaged row may keep memory from starting.
        with open_store(settings) as store:
            damaged = store.damage(limit=_SHOWN)
    except (MemoryFault, OSError) as error:
        yield fault(_ROWS, f"could not look: {error}", "mend GB002 first")
        return
    for row in damaged:
        yield fault(_ROWS, row.what, row.remedy)
    if not damaged:
        yield fine(_ROWS, "every stored row can be read")


def private(settings: Settings) -> Iterator[CheckResult]:
    """Whether other users of this machine can read the database, the log, or look into their folders."""
    database, log = (Path(each).expanduser().absolute() for each in (settings.storage.beside, settings.log.file))
    companions = [Path(f"{database}{ending}") for ending in ("-wal", "-shm", "-journal")]
    rotated = sorted(log.parent.glob(f"{log.name}.*"))
    files = [each for each in (database, *companions, log, *rotated) if is_open_to_others(each)]
    # A folder of somebody else's is theirs to close.
    homes = dict.fromkeys(each.parent for each in (database, log) if is_plain_file(each))
    folders = [each for each in homes if is_own(each) and is_open_to_others(each)]
    remedies = []
    if files:
        remedies.append(f"run {shlex.join(['chmod', '600', *map(str, files)])}")
    if folders:
        remedies.append(f"run {shlex.join(['chmod', '700', *map(str, folders)])}, or use a folder for Goodbot alone")
    if not remedies:
        yield fine(_PRIVATE, "database and log are for this user alone")
        return
    named = ", ".join(map(str, (*files, *folders)))
    yield warning(_PRIVATE, f"other users of this machine can look into {named}", "; ".join(remedies))


CHECKS = (rows, private)
