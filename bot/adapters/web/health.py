"""`/readyz`: whether everything that answering needs is there, part by part."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from bot.errors import BotError
from memory.errors import MemoryFault

CHECK_S = 5.0
"""How long a check may take before its part counts as not ready."""


@dataclass(frozen=True, slots=True)
class Check:
    """One part. `state` returns what it is in, in a word or two; it raises, with the reason, where it is not ready."""

    name: str
    state: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the checks found, by part."""

    states: dict[str, str]
    faults: dict[str, str]

    @property
    def is_ready(self) -> bool:
        """Whether every part is."""
        return not self.faults

    def as_dict(self) -> dict[str, object]:
        """The body of the response."""
        parts = {name: {"ready": True, "state": state} for name, state in self.states.items()}
        parts |= {name: {"ready": False, "state": fault} for name, fault in self.faults.items()}
        return {"ready": self.is_ready, "parts": parts}


async def readiness(checks: Sequence[Check]) -> Readiness:
    """Ask every part at once."""
    found = Readiness({}, {})

    async def ask(check: Check) -> None:
        try:
            found.states[check.name] = await asyncio.wait_for(run_in_threadpool(check.state), CHECK_S)
        except TimeoutError:
            found.faults[check.name] = f"no answer within {CHECK_S:g} s"
        except (BotError, MemoryFault, OSError) as error:
            found.faults[check.name] = f"{type(error).__name__}: {error}"

    await asyncio.gather(*map(ask, checks))
    return found
