"""Running a job in each workspace, so that a failure in one does not affect the others."""

import logging
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from memory.errors import JobFailed, MemoryFault

T = TypeVar("T")

_NAMED = 3
"""How many workspaces an error message names; the log has all."""

log = logging.getLogger(__name__)


class Workspaces:
    """Runs a function in one workspace after another. A failure is logged, and the others are run."""

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}

    def each(self, workspaces: Iterable[str], do: Callable[[str], T]) -> dict[str, T]:
        """The results, by workspace, of those that did not fail."""
        done: dict[str, T] = {}
        for workspace in workspaces:
            try:
                done[workspace] = do(workspace)
            except Exception as error:
                log.error("a job failed in %s: %s", workspace, error, exc_info=error)
                self._failed[workspace] = failure_text(error)
        return done

    def summary(self, done: str) -> str:
        """Return `done`, a text about what was done. Raises `JobFailed` with it if any workspace failed."""
        if not self._failed:
            return done
        named = [f"In {workspace}: {why}" for workspace, why in islice(self._failed.items(), _NAMED)]
        more = [f"It failed in {len(self._failed) - _NAMED} more."] if len(self._failed) > _NAMED else []
        raise JobFailed(" ".join([*named, *more, f"Elsewhere: {done}."]))


def failure_text(error: Exception) -> str:
    """The reason of a failure as a text that can be stored."""
    expected = isinstance(error, MemoryFault) and str(error)
    text = expected or f"{type(error).__name__}: {error}. Run `goodbot doctor`."
    return text.replace("\0", "").encode(errors="replace").decode()
