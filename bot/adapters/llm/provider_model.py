"""A language model of any provider of pydantic-ai.

The library takes seconds to import, so it is imported in a thread, by `warm_up` or the first reply.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.adapters.llm.providers import require_openai_address
from bot.errors import ModelRejected
from bot.model import ModelReply, ModelRequest, ModelTurn, UserTurn

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

log = logging.getLogger(__name__)

_FIRST_CHUNKS = 64
"""The first so many chunks of a stream are each passed on; later, when the stream has grown by 1/64."""

_NO_KEY = "no-key"
"""The key for servers that need none, as the client requires one."""

_NO_TAGS = ("\0<", "\0>")
"""Tags of thoughts that no text has, as the library takes tags out of the middle of an answer, too: see `written`."""


class ProviderModel:
    """A model of a provider, such as `anthropic:claude-haiku-4-5`.

    `openai:NAME` is a model of the OpenAI-compatible server at `base_url`, or of OpenAI if that is empty, with
    `api_key`. The clients of other providers read address and key from their own environment variables (`providers`);
    the key is also passed here, to be removed from error messages.

    `timeout_s` is the time limit of a reply, retries included; `max_tokens` limits its length. `retries` is how often
    OpenAI's client retries after 408, 409, 429, 5xx or a lost connection; it waits as long as `Retry-After` says, else
    0.5 to 8 s with jitter.

    Raises `ConfigError` if the address of an OpenAI-compatible server is invalid, or OpenAI itself is used without a
    key.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: str = "",
        timeout_s: float = 60.0,
        max_tokens: int = 4096,
        temperature: float | None = None,
        retries: int = 2,
    ) -> None:
        self._provider, _, self._model_name = name.partition(":")
        self.name = name
        """The name as configured."""
        self._address = require_openai_address(name, base_url, api_key) if self._provider == "openai" else ""
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

    async def warm_up(self) -> None:
        """Import the library and build the model in a thread. Raises `ModelError`."""
        await self._loaded()

    async def close(self) -> None:
        """Close the connections. May be repeated; a later reply opens new ones."""
        self._model = None
        await self._resources.aclose()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """A reply of the model. Raises `ModelError` only, without the key in its text.

        A request that is rejected with pictures is repeated without them, as many models accept none.
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

        from bot.adapters.llm import dialogue, provider_errors

        messages = dialogue.to_messages(request, with_images=with_images)
        parameters = dialogue.to_parameters(request.tools)
        try:
            async with asyncio.timeout(self._timeout_s):  # not every client respects the timeout in the settings
                response, lost = None, ""
                if request.on_partial is not None:
                    response, lost = await self._streamed(model, messages, parameters, request.on_partial)
                if response is None:
                    response = await model_request(
                        model, messages, model_settings=self._settings, model_request_parameters=parameters
                    )
        except provider_errors.VENDOR_FAULTS as exc:
            fault = provider_errors.as_model_error(exc, self.name, self._timeout_s, self._api_key)
            # A server may echo the key in its answer; then the cause must not be logged either.
            raise fault from (exc if provider_errors.is_safe(exc, self._api_key) else None)
        reply = dialogue.from_response(response, self.name, {tool.name for tool in request.tools})
        return replace(reply, usage=reply.usage + dialogue.usage_of_broken_stream(lost, response)) if lost else reply

    async def _streamed(
        self,
        model: "Model[Any]",
        messages: "list[ModelMessage]",
        parameters: "ModelRequestParameters",
        on_partial: Callable[[ModelTurn], None],
    ) -> "tuple[ModelResponse | None, str]":
        """Stream the reply. None if the stream broke off or is not supported: the reply is then requested whole.

        Also returns what came of a stream that broke off, as the provider counts it although it never says how much.
        """
        from pydantic_ai.direct import model_request_stream

        from bot.adapters.llm import dialogue, provider_errors

        came = ""
        try:
            async with model_request_stream(
                model, messages, model_settings=self._settings, model_request_parameters=parameters
            ) as stream:
                number, next_shown = 0, 0
                async for _ in stream:
                    number += 1
                    if number >= next_shown:  # less often as the reply grows, as each time all of it is parsed
                        turn = dialogue.partial_turn(stream.get())
                        came = f"{turn.text}{''.join(str(each.arguments) for each in turn.calls)}"
                        on_partial(turn)
                        next_shown = number + 1 + number // _FIRST_CHUNKS
                response = stream.get()
        except provider_errors.STREAM_FAULTS as exc:
            if not provider_errors.may_succeed_unstreamed(exc):
                raise
            log.info("%s: a stream broke off, asking for the whole reply: %s", self.name, type(exc).__name__)
            return None, came
        has_ended = "finish_reason" in (response.provider_details or {}) or response.usage.total_tokens > 0
        has_said = bool(response.parts) or response.finish_reason == "content_filter"
        return (response, "") if has_said and has_ended else (None, came)

    async def _loaded(self) -> "Model[Any]":
        async with self._loading:
            if self._model is None:
                model = await asyncio.to_thread(self._build)
                self._model = await self._resources.enter_async_context(model)
            return self._model

    def _build(self) -> "Model[Any]":
        try:
            for module in ("pydantic_ai.direct", "bot.adapters.llm.dialogue", "bot.adapters.llm.provider_errors"):
                import_module(module)
        except ImportError as exc:
            raise ModelRejected(
                f"the model {self.name} cannot be used: {exc}. Reinstall goodbot with its dependencies."
            ) from exc
        if self._provider == "openai":
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.profiles import ModelProfile
            from pydantic_ai.providers.openai import OpenAIProvider

            provider = OpenAIProvider(base_url=self._address, api_key=self._api_key or _NO_KEY)
            profile = ModelProfile(thinking_tags=_NO_TAGS)
            return OpenAIChatModel(self._model_name, provider=provider, profile=profile)
        return self._inferred()

    def _inferred(self) -> "Model[Any]":
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        try:
            return infer_model(self.name)
        except (UserError, ImportError, ValueError) as exc:
            message = str(exc).replace(self._api_key, "***") if self._api_key else str(exc)
            raise ModelRejected(f"the model {self.name} cannot be used: {message}") from None
