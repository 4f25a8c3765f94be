"""The stand-in on a thread of its own, for tests that have no event loop or must not share one with the bot."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from tests.doubles.slack.server import SlackServer

P = ParamSpec("P")
T = TypeVar("T")


class SlackThread:
    """`with SlackThread() as slack:`; `slack.server` lives on the thread: touch it through `do`, `run`, `wait_for`."""

    def __init__(self, make_server: Callable[[], SlackServer] = SlackServer) -> None:
        self._make_server = make_server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slack", daemon=True)
        self.server: SlackServer

    def __enter__(self) -> Self:
        self._thread.start()
        self.server = self.do(self._make_server)
        self.run(self.server.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self.server.__aexit__(kind, error, trace))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def do(self, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call something on the thread's loop and return its result: `slack.do(ana.says, channel, "hello")`."""

        async def on_the_loop() -> T:
            return act(*args, **kwargs)

        return self.run(on_the_loop())

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float = 60.0) -> T:
        """Run a coroutine on the thread's loop to its end: `slack.run(server.socket_mode.ask_to_refresh())`."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout_s)

    def wait_for(self, predicate: Callable[[], T | None], timeout_s: float = 10.0) -> T:
        """As `SlackServer.wait_for`; the predicate is asked on the thread."""
        return self.run(self.server.wait_for(predicate, timeout_s), timeout_s + 5)
