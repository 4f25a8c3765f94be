"""A chain of language models: if one fails, the next is asked."""

import logging
from collections.abc import Callable, Sequence

from bot.errors import MalformedReply, ModelError, ModelRejected, ModelUnavailable
from bot.model import ModelReply, ModelRequest
from bot.ports import LanguageModel

log = logging.getLogger(__name__)

PAUSE_S = 60.0
"""Seconds that a failed model is asked last."""


class FallbackModel:
    """Asks models in order until one replies. A refusal because of the content ends the chain.

    A model that was unreachable, rejected the request or gave a malformed reply is asked last for `PAUSE_S` seconds by
    `monotonic`, so that not every message waits for it. Raises the first error if all fail.
    """

    def __init__(self, models: Sequence[LanguageModel], *, monotonic: Callable[[], float]) -> None:
        if not models:
            raise ValueError("a chain needs at least one model")
        self._models = tuple(models)
        self._monotonic = monotonic
        self._failed_at: dict[int, float] = {}

    @property
    def name(self) -> str:
        """The name of the first model; each reply names the one it is from."""
        return self._models[0].name

    async def warm_up(self) -> None:
        """Load the first model; the others are loaded when they are used."""
        await self._models[0].warm_up()

    async def close(self) -> None:
        """Close the connections of all models."""
        for model in self._models:
            await model.close()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """The reply of the first model that gives one. Raises `ModelError`."""
        first_fault: ModelError | None = None
        for number in self._in_order():
            model = self._models[number]
            try:
                reply = await model.reply(request)
            except (ModelUnavailable, ModelRejected, MalformedReply) as fault:
                log.warning("%s gave no reply, the next model is asked: %s", model.name, fault)
                self._failed_at[number] = self._monotonic()
                first_fault = first_fault or fault
                continue
            self._failed_at.pop(number, None)
            return reply
        assert first_fault is not None  # noqa: S101 - there is at least one model
        raise first_fault

    def _in_order(self) -> list[int]:
        now = self._monotonic()
        resting = [number for number, at in self._failed_at.items() if now - at < PAUSE_S]
        ready = [number for number in range(len(self._models)) if number not in resting]
        return ready + sorted(resting)
