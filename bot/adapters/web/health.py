"""`/readyz`: checks the parts that answering needs."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from bot.errors import BotError, NotReady
from memory.errors import MemoryFault

log = logging.getLogger(__name__)

CHECK_S = 5.0
"""The time limit of a check, in seconds; then its part is not ready."""
FRESH_S = 1.0
"""How long, in seconds, results are reused, so that requests cannot keep the process busy."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a part. `state` returns the part's state in a word or two, or raises if it is not ready."""

    name: str
    state: Callable[[], str]
    is_needed: bool = True
    """Whether the bot cannot answer without it."""


@dataclass(frozen=True, slots=True)
class Part:
    """The result of a check."""

    name: str
    is_ready: bool
    is_needed: bool
    state: str
    """The state for everybody, without files and addresses."""
    detail: str = ""
    """More about it, for administrators."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The results of all checks, in order."""

    parts: tuple[Part, ...]

    @property
    def is_ready(self) -> bool:
        """Whether all needed parts are ready."""
        return all(part.is_ready for part in self.parts if part.is_needed)

    def as_dict(self) -> dict[str, object]:
        """The body of the response."""
        parts = {
            part.name: {"ready": part.is_ready, "needed": part.is_needed, "state": part.state} for part in self.parts
        }
        return {"ready": self.is_ready, "parts": parts}


async def readiness(checks: Sequence[Check]) -> Readiness:
    """Run all checks concurrently."""

    async def ask(check: Check) -> Part:
        state = detail = ""
        try:
            state = await asyncio.wait_for(run_in_threadpool(check.state), CHECK_S)
            return Part(check.name, True, check.is_needed, state)
        except TimeoutError:
            state = f"no answer within {CHECK_S:g} s"
        except NotReady as error:
            state = str(error)
        except (BotError, MemoryFault, OSError) as error:
            # Its text may name a file or an address, and this page is public.
            state, detail = type(error).__name__, str(error)
        return Part(check.name, False, check.is_needed, state, detail)

    return Readiness(tuple(await asyncio.gather(*map(ask, checks))))


class ReadyCheck:
    """Runs the checks on demand, at most once a second. For one event loop only."""

    def __init__(self, checks: Sequence[Check], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._monotonic = checks, monotonic
        self._lock = asyncio.Lock()
        self._found: tuple[float, Readiness] | None = None

    async def __call__(self) -> Readiness:
        """The current results."""
        async with self._lock:
            now = self._monotonic()
            if self._found is None or now - self._found[0] >= FRESH_S:
                found = await readiness(self._checks)
                self._log_changes(found)
                self._found = (now, found)
            return self._found[1]

    def _log_changes(self, found: Readiness) -> None:
        """Log each part that is no longer ready."""
        before = {part.name for part in self._found[1].parts if not part.is_ready} if self._found else set()
        for part in found.parts:
            if not part.is_ready and part.name not in before:
                log.warning("not ready: %s: %s %s", part.name, part.state, part.detail)
