"""What a job does in each workspace, so that one that fails keeps no other from it."""

import logging
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from memory.errors import JobFailed, MemoryFault

T = TypeVar("T")

_NAMED = 3
"""Workspaces that a failure names; the log has them all."""

log = logging.getLogger(__name__)


class Workspaces:
    """Does something in one workspace after the other. Where that fails, it is logged, and the others are done."""

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}

    def each(self, workspaces: Iterable[str], do: Callable[[str], T]) -> dict[str, T]:
        """What came of it, by workspace, where it did not fail."""
        done: dict[str, T] = {}
        for workspace in workspaces:
            try:
                done[workspace] = do(workspace)
            except Exception as error:
                log.error("a job failed in %s: %s", workspace, error, exc_info=error)
                self._failed[workspace] = failure_text(error)
        return done

    def summary(self, done: str) -> str:
        """What was done, in these words. Raises `JobFailed`, with them, if it failed anywhere."""
        if not self._failed:
            return done
        named = [f"In {workspace}: {why}" for workspace, why in islice(self._failed.items(), _NAMED)]
        more = [f"It failed in {len(self._failed) - _NAMED} more."] if len(self._failed) > _NAMED else []
        raise JobFailed(" ".join([*named, *more, f"Elsewhere: {done}."]))


def failure_text(error: Exception) -> str:
    """Why a job failed, as text that can be stored."""
    expected = isinstance(error, MemoryFault) and str(error)
    text = expected or f"{type(error).__name__}: {error}. Run `goodbot doctor`."
    return text.replace("\0", "").encode(errors="replace").decode()
