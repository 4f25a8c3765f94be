"""A language model on any server with OpenAI's chat completions."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.adapters.llm.pydantic_ai import PydanticAIModel
from bot.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

OFFICIAL_URL = "https://api.openai.com/v1"
_NO_KEY = "no-key"
"""What is sent to servers that need no key: the client insists on some text."""


def openai_model(
    model_name: str,
    *,
    base_url: str = "",
    api_key: str = "",
    timeout_s: float = 60.0,
    max_tokens: int | None = 4096,
    temperature: float | None = None,
    retries: int = 2,
) -> PydanticAIModel:
    """The model `model_name` of the server at `base_url`, OpenAI's own when empty. The numbers are `PydanticAIModel`'s.

    Raises `ConfigError` when the address is none, or when OpenAI itself is asked without a key.
    """
    if not model_name:
        raise ConfigError("GOODBOT_MODEL names no model. Write for example GOODBOT_MODEL=openai:gpt-5-mini.")
    address = base_url or OFFICIAL_URL
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("OPENAI_BASE_URL is not an http address. Write for example http://localhost:11434/v1.")
    if not api_key and parts.hostname == urlsplit(OFFICIAL_URL).hostname:
        raise ConfigError(
            f"GOODBOT_MODEL=openai:{model_name} needs OPENAI_API_KEY; a server of your own (OPENAI_BASE_URL) does not."
        )

    def make() -> "Model[Any]":
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(model_name, provider=OpenAIProvider(base_url=address, api_key=api_key or _NO_KEY))

    return PydanticAIModel(
        f"openai:{model_name}",
        make,
        timeout_s=timeout_s,
        max_tokens=max_tokens,
        temperature=temperature,
        retries=retries,
        secrets=(api_key,),
    )
