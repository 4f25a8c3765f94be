"""Any pydantic-ai model as a `bot.ports.LanguageModel`, one request at a time.

The library takes seconds to import, so it and what builds on it load in a thread, at `warm_up` or the first reply.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.errors import ModelRejected
from bot.model import ModelReply, ModelRequest, UserTurn

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

log = logging.getLogger(__name__)

ModelFactory = Callable[[], "Model[Any]"]
"""Builds the vendor's model. Called once, in a thread, so it may import and load. Raises `ModelError` kinds."""


class PydanticAIModel:
    """One configured model.

    `timeout_s` is the longest one reply may take, retries included; `max_tokens` bounds what the model may write and
    `temperature` how freely it does;
    `retries` is how often the client tries again after 408, 409, 429, 5xx or a lost connection, waiting as long as
    `Retry-After` says, else 0.5 to 8 s with jitter. Whatever stands in `secrets` is removed from error messages.
    """

    def __init__(
        self,
        name: str,
        make_model: ModelFactory,
        *,
        timeout_s: float = 60.0,
        max_tokens: int | None = None,
        temperature: float | None = None,
        retries: int | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._name = name
        self._make_model = make_model
        self._timeout_s = timeout_s
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._retries = retries
        self._secrets = tuple(secret for secret in secrets if secret)
        self._loading = asyncio.Lock()
        self._resources = AsyncExitStack()
        self._model: Model[Any] | None = None

    @property
    def name(self) -> str:
        """As configured, for example `offline` or `openai:gpt-5-mini`."""
        return self._name

    async def warm_up(self) -> None:
        """Import and build the model in a thread; the event loop goes on. Raises `ModelError` kinds."""
        await self._loaded()

    async def close(self) -> None:
        """Give up the connections. Closing twice is fine; a later reply opens new ones."""
        self._model = None
        await self._resources.aclose()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One reply of the model. Raises `ModelError` kinds only; their texts hold none of the secrets.

        A request that is refused with pictures is made once more without: many models take none.
        """
        has_images = any(isinstance(turn, UserTurn) and turn.images for turn in request.turns)
        try:
            return await self._reply(request, with_images=True)
        except ModelRejected as fault:
            if not has_images:
                raise
            log.warning("asking again without the pictures: %s", fault)
        return await self._reply(request, with_images=False)

    async def _reply(self, request: ModelRequest, *, with_images: bool) -> ModelReply:
        model = await self._loaded()
        from pydantic_ai.direct import model_request

        from bot.adapters.llm.dialogue import from_response, to_messages, to_parameters
        from bot.adapters.llm.faults import VENDOR_FAULTS, is_safe, translate

        messages, parameters = to_messages(request, with_images=with_images), to_parameters(request.tools)
        settings = self._settings()
        try:
            response = await model_request(
                model, messages, model_settings=settings, model_request_parameters=parameters
            )
        except VENDOR_FAULTS as exc:
            fault = translate(exc, self._name, self._timeout_s, self._secrets)
            # A server may echo the key in its answer; then the cause must not reach a log either.
            raise fault from (exc if is_safe(exc, self._secrets) else None)
        return from_response(response, self._name)

    async def _loaded(self) -> "Model[Any]":
        async with self._loading:
            if self._model is None:
                model = await asyncio.to_thread(self._build)
                self._model = await self._resources.enter_async_context(model)
            return self._model

    def _build(self) -> "Model[Any]":
        try:
            for module in ("pydantic_ai.direct", "bot.adapters.llm.dialogue", "bot.adapters.llm.faults"):
                import_module(module)
        except ImportError as exc:
            raise ModelRejected(
                f"the model {self._name} cannot be used: {exc}. Reinstall goodbot with its dependencies."
            ) from exc
        return self._make_model()

    def _settings(self) -> "ModelSettings":
        settings: ModelSettings = {"request_timeout": self._timeout_s}
        if self._max_tokens is not None:
            settings["max_tokens"] = self._max_tokens
        if self._temperature is not None:
            settings["temperature"] = self._temperature
        if self._retries is not None:
            settings["max_retries"] = self._retries
        return settings
