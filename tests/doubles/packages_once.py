"""The installed packages are searched for tools once in a process of tests: every bot would read 200 files for it."""

import sys
from functools import cache
from importlib.metadata import EntryPoints, entry_points

from bot.adapters.tools import plugins


def search_packages_once() -> None:
    """From now on, in this process."""
    plugins.entry_points = _entry_points  # type: ignore[attr-defined,assignment]  # takes only what is given there


def _entry_points(*, group: str) -> EntryPoints:
    return _found(group, tuple(sys.path))


@cache
def _found(group: str, _: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)
