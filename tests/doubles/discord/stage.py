"""Lets one and the same method be called on the server's event loop and from any other thread."""

import asyncio
import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST_CALL_S = 30
"""A call from another thread that takes longer means the server's loop is gone."""


class Stage:
    """Knows the loop on which everything that exists may be touched."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running server's loop."""
        assert self._loop, "the server does not run: enter it with `async with` or `with` first"
        return self._loop

    @property
    def is_here(self) -> bool:
        """Whether the caller is on the server's thread."""
        return threading.get_ident() == self._thread

    def enter(self) -> None:
        """The running loop is the server's from now on."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    def leave(self) -> None:
        """The server ended: what is left can be looked at from anywhere."""
        self._loop = None

    def run(self, action: Callable[[], R]) -> R:
        """Run it where it may touch things: over there, or at once before the start, after the end and on the loop."""
        if self._loop is None or self.is_here:
            return action()

        async def there() -> R:
            return action()

        return asyncio.run_coroutine_threadsafe(there(), self._loop).result(_LONGEST_CALL_S)


class OnStage(Protocol):
    """What has a stage."""

    stage: Stage


S = TypeVar("S", bound=OnStage)


def on_loop(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method that may be called from any thread."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.stage.run(lambda: method(self, *args, **kwargs))

    return call
