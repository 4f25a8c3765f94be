"""Settings of the garbage collector and the interpreter that keep pauses of the event loop short."""

import asyncio
import gc
import sys

SWITCH_S = 0.0005
"""How long a thread may run while the event loop waits for the interpreter lock. Python's default of 0.005 applies to
each wait, and the loop waits after every system call."""

_YOUNG, _MIDDLE, _OLD = 5_000, 20, 50
"""Thresholds of the garbage collector, rarer than Python's default, because a collection stops every thread."""


async def keep_pauses_short(warm_up: "asyncio.Task[None]") -> None:
    """Shorten pauses: switch threads sooner, and exclude modules loaded at start from garbage collection.

    Half a million objects of the libraries otherwise cost several hundred milliseconds in each full collection.
    """
    sys.setswitchinterval(SWITCH_S)
    await asyncio.wait({warm_up})
    collect_rarely()


def collect_rarely() -> None:
    """Collect cyclic garbage more rarely, and never among the objects that exist now."""
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    gc.freeze()
