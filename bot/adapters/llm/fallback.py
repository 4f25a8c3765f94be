"""A chain of language models: the next one replies where one cannot."""

import logging
from collections.abc import Callable, Sequence

from bot.errors import MalformedReply, ModelError, ModelRejected, ModelUnavailable
from bot.model import ModelReply, ModelRequest
from bot.ports import LanguageModel

log = logging.getLogger(__name__)

PAUSE_S = 60.0
"""How long a model that failed is asked last."""


class FallbackModel:
    """Asks the models in order until one replies. What a model declines for its content no other is asked.

    A model that could not be reached, refused the request or made no sense comes last for `PAUSE_S` seconds by
    `monotonic`, so that each message does not wait for it anew. Raises the first model's error if all fail.
    """

    def __init__(self, models: Sequence[LanguageModel], *, monotonic: Callable[[], float]) -> None:
        if not models:
            raise ValueError("a chain needs at least one model")
        self._models = tuple(models)
        self._monotonic = monotonic
        self._failed_at: dict[int, float] = {}

    @property
    def name(self) -> str:
        """The first model's; each reply says which one it is from."""
        return self._models[0].name

    async def warm_up(self) -> None:
        """Load the first model; the others load when they are needed."""
        await self._models[0].warm_up()

    async def close(self) -> None:
        """Give up every model's connections."""
        for model in self._models:
            await model.close()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """The first reply there is. Raises `ModelError`."""
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
