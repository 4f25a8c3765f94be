"""What the app asked for, and waiting for something to happen without sleeping."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tests.doubles.discord.model import Call

T = TypeVar("T")

_CALLS_SHOWN = 12


class Journal:
    """Every part calls `changed` after it changed something; whoever waits then looks again."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._waiting: list[asyncio.Event] = []

    def changed(self) -> None:
        """Wake everyone who waits."""
        for wake in self._waiting:
            wake.set()

    async def until(self, predicate: Callable[[], T], timeout_s: float) -> T:
        """What the predicate says once it is true. Raises `AssertionError` with the latest calls when it never is."""
        wake = asyncio.Event()
        self._waiting.append(wake)
        try:
            async with asyncio.timeout(timeout_s):
                while not (outcome := predicate()):
                    wake.clear()
                    await wake.wait()
                return outcome
        except TimeoutError:
            told = f"it did not happen within {timeout_s} s; the app's latest calls:\n{self._latest()}"
            raise AssertionError(told) from None
        finally:
            self._waiting.remove(wake)

    def matching(self, pattern: str) -> list[Call]:
        """The calls of a route, in the order they came in."""
        return [call for call in self.calls if matches(pattern, call.method, call.path)]

    def _latest(self) -> str:
        shown = (f"  {call.method} {call.path} -> {call.status} {call.body}" for call in self.calls[-_CALLS_SHOWN:])
        return "\n".join(shown) or "  none"


def matches(pattern: str, method: str, path: str) -> bool:
    """Whether a request is one of a route such as `POST /channels/*/messages`.

    `*` is one segment (or any method), a final `**` any rest, and the pattern `*` every request.
    """
    if pattern == "*":
        return True
    wanted_method, wanted_path = pattern.split(" ", 1)
    wanted, given = wanted_path.strip("/").split("/"), path.strip("/").split("/")
    if wanted[-1] == "**":
        wanted, given = wanted[:-1], given[: len(wanted) - 1]
    return (
        wanted_method in ("*", method)
        and len(wanted) == len(given)
        and all(one in ("*", other) for one, other in zip(wanted, given, strict=True))
    )
