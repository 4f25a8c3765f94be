"""A language model on any server with OpenAI's chat completions, through pydantic-ai, one request at a time.

The library takes seconds to import, so it and what builds on it load in a thread, at `warm_up` or the first reply.
"""

import asyncio
import logging
from contextlib import AsyncExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.errors import ConfigError, ModelRejected
from bot.model import ModelReply, ModelRequest, UserTurn

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

log = logging.getLogger(__name__)

OFFICIAL_URL = "https://api.openai.com/v1"
_NO_KEY = "no-key"
"""What is sent to servers that need no key: the client insists on some text."""


class OpenAICompatibleModel:
    """The model `model_name` of the server at `base_url`, OpenAI's own when empty.

    `timeout_s` is the longest one reply may take, retries included; `max_tokens` bounds what the model may write and
    `temperature` how freely it does; `retries` is how often the client tries again after 408, 409, 429, 5xx or a lost
    connection, waiting as long as `Retry-After` says, else 0.5 to 8 s with jitter. The key is removed from error
    messages.

    Raises `ConfigError` when the address is none, or when OpenAI itself is asked without a key.
    """

    def __init__(
        self,
        model_name: str,
        *,
        base_url: str = "",
        api_key: str = "",
        timeout_s: float = 60.0,
        max_tokens: int = 4096,
        temperature: float | None = None,
        retries: int = 2,
    ) -> None:
        if not model_name:
            raise ConfigError("GOODBOT_MODEL names no model. Write for example GOODBOT_MODEL=openai:gpt-5-mini.")
        self._model_name = model_name
        self._address = base_url or OFFICIAL_URL
        parts = urlsplit(self._address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("OPENAI_BASE_URL is not an http address. Write for example http://localhost:11434/v1.")
        if not api_key and parts.hostname == urlsplit(OFFICIAL_URL).hostname:
            raise ConfigError(
                f"GOODBOT_MODEL={self.name} needs OPENAI_API_KEY; a server of your own (OPENAI_BASE_URL) does not."
            )
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._settings: ModelSettings = {
            "request_timeout": timeout_s,
            "max_tokens": max_tokens,
            "max_retries": retries,
        }
        if temperature is not None:
            self._settings["temperature"] = temperature
        self._loading = asyncio.Lock()
        self._resources = AsyncExitStack()
        self._model: Model[Any] | None = None

    @property
    def name(self) -> str:
        """As configured, for example `openai:gpt-5-mini`."""
        return f"openai:{self._model_name}"

    async def warm_up(self) -> None:
        """Import and build the model in a thread; the event loop goes on. Raises `ModelError` kinds."""
        await self._loaded()

    async def close(self) -> None:
        """Give up the connections. Closing twice is fine; a later reply opens new ones."""
        self._model = None
        await self._resources.aclose()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One reply of the model. Raises `ModelError` kinds only; their texts do not hold the key.

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
        try:
            response = await model_request(
                model, messages, model_settings=self._settings, model_request_parameters=parameters
            )
        except VENDOR_FAULTS as exc:
            fault = translate(exc, self.name, self._timeout_s, self._api_key)
            # A server may echo the key in its answer; then the cause must not reach a log either.
            raise fault from (exc if is_safe(exc, self._api_key) else None)
        return from_response(response, self.name)

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
                f"the model {self.name} cannot be used: {exc}. Reinstall goodbot with its dependencies."
            ) from exc
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        provider = OpenAIProvider(base_url=self._address, api_key=self._api_key or _NO_KEY)
        return OpenAIChatModel(self._model_name, provider=provider)
