"""Batches the embedding calls of concurrent threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]

_TOGETHER = 64
"""The most texts of a batch of several requests."""


@dataclass(slots=True, eq=False)
class _Request:
    texts: Sequence[str]
    rows: "NDArray[np.float32]" = field(default_factory=lambda: np.empty((0, 0), np.float32))
    error: Exception | None = None
    is_done: bool = False


class BatchedCalls:
    """Calls `encode` from one thread at a time, with the texts of all waiting threads in one call."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._encode_lock = Lock()
        self._waiting: list[_Request] = []
        self._waiting_lock = Lock()

    def __call__(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """The rows of these texts. Raises what `encode` raises for them, but nothing for other threads' texts."""
        mine = _Request(texts)
        with self._waiting_lock:
            self._waiting.append(mine)
        while not mine.is_done:
            with self._encode_lock:
                if not mine.is_done:
                    self._lead(mine)
        if mine.error is not None:
            raise mine.error
        return mine.rows

    def _lead(self, mine: _Request) -> None:
        """Run the next batch. If that ends this thread, the requests of others are left to their threads."""
        batch = self._next_batch()
        try:
            self._run(batch)
        except BaseException:
            with self._waiting_lock:
                waiting = (*batch, *self._waiting)
                self._waiting = [each for each in waiting if each is not mine and not each.is_done]
            raise

    def _next_batch(self) -> list[_Request]:
        """The requests of the next batch, oldest first, which leave the queue."""
        with self._waiting_lock:
            count, texts = 0, 0
            while count < len(self._waiting) and (not count or texts + len(self._waiting[count].texts) <= _TOGETHER):
                texts += len(self._waiting[count].texts)
                count += 1
            taken, self._waiting = self._waiting[:count], self._waiting[count:]
            return taken

    def _run(self, requests: Sequence[_Request]) -> None:
        try:
            rows = self._encode([text for request in requests for text in request.texts])
        except Exception as error:  # noqa: BLE001 - raised in the thread that made the request
            if len(requests) > 1:  # only one of them may be at fault
                for request in requests:
                    self._run([request])
            else:
                requests[0].error, requests[0].is_done = error, True
            return
        at = 0
        for request in requests:
            request.rows = rows[at : at + len(request.texts)]
            at += len(request.texts)
            request.is_done = True
