"""Waiting for something to become true without sleeping."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Watch:
    """Re-evaluates predicates whenever the stand-in's state changes. Lives on one event loop."""

    def __init__(self, describe: Callable[[], str]) -> None:
        self._describe = describe
        self._waiting: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = []

    def changed(self) -> None:
        """Something happened: settle every waiter whose predicate now holds."""
        for entry in list(self._waiting):
            predicate, future = entry
            if future.done():
                continue
            try:
                value = predicate()
            except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as exc:
                future.set_exception(exc)  # the waiting test is wrong, not the call that changed the state
                continue
            if value:
                future.set_result(value)

    async def until(self, predicate: Callable[[], T | None], timeout_s: float = 10.0) -> T:
        """The predicate's first truthy value. Raises `TimeoutError` that says what the state was instead."""
        if value := predicate():
            return value
        entry: tuple[Callable[[], T | None], asyncio.Future[T]] = (
            predicate,
            asyncio.get_running_loop().create_future(),
        )
        self._waiting.append(entry)
        try:
            async with asyncio.timeout(timeout_s):
                return await entry[1]
        except TimeoutError as exc:
            raise TimeoutError(f"not within {timeout_s:g} s; Slack saw:\n{self._describe()}") from exc
        finally:
            self._waiting.remove(entry)
