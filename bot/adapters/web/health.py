"""`/readyz`: whether everything that answering needs is there, part by part."""

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
"""How long a check may take before its part counts as not ready."""
FRESH_S = 1.0
"""For how long what was found is told again, so that nobody keeps the process busy by asking."""


@dataclass(frozen=True, slots=True)
class Check:
    """One part. `state` returns what it is in, in a word or two; it raises, with the reason, where it is not ready."""

    name: str
    state: Callable[[], str]
    is_needed: bool = True
    """Whether nothing is answered without it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a check found."""

    name: str
    is_ready: bool
    is_needed: bool
    state: str
    """For whoever asks; names no file and no address."""
    detail: str = ""
    """For administrators, where there is more to say."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the checks found, in their order."""

    parts: tuple[Part, ...]

    @property
    def is_ready(self) -> bool:
        """Whether every part is that is needed."""
        return all(part.is_ready for part in self.parts if part.is_needed)

    def as_dict(self) -> dict[str, object]:
        """The body of the response."""
        parts = {
            part.name: {"ready": part.is_ready, "needed": part.is_needed, "state": part.state} for part in self.parts
        }
        return {"ready": self.is_ready, "parts": parts}


async def readiness(checks: Sequence[Check]) -> Readiness:
    """Ask every part at once."""

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
            # Its text may name a file or an address, and everybody may ask.
            state, detail = type(error).__name__, str(error)
        return Part(check.name, False, check.is_needed, state, detail)

    return Readiness(tuple(await asyncio.gather(*map(ask, checks))))


class ReadyCheck:
    """Asks the parts when somebody wants to know, and at most once a second. For use on one event loop."""

    def __init__(self, checks: Sequence[Check], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._monotonic = checks, monotonic
        self._lock = asyncio.Lock()
        self._found: tuple[float, Readiness] | None = None

    async def __call__(self) -> Readiness:
        """What was found just now."""
        async with self._lock:
            now = self._monotonic()
            if self._found is None or now - self._found[0] >= FRESH_S:
                found = await readiness(self._checks)
                self._tell_changes(found)
                self._found = (now, found)
            return self._found[1]

    def _tell_changes(self, found: Readiness) -> None:
        """A line in the log for each part that is ready no more."""
        before = {part.name for part in self._found[1].parts if not part.is_ready} if self._found else set()
        for part in found.parts:
            if not part.is_ready and part.name not in before:
                log.warning("not ready: %s: %s %s", part.name, part.state, part.detail)
