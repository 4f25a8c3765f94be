"""The providers of language models and what each of them requires. Imports no client library.

Names and variables are those of pydantic-ai, which has the clients.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from bot.errors import ConfigError

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The requirements of a provider."""

    key: tuple[str, ...] = ()
    """Environment variables that may hold the key; empty if it needs no key or finds credentials elsewhere."""
    address: str = ""
    """The environment variable with the server's address, if there is no default."""
    client: str = "openai"
    """The module of the client library."""
    extra: str = ""
    """Our extra that installs the client; empty if it is always installed."""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(key=("OPENAI_API_KEY",)),
    "anthropic": Provider(key=("ANTHROPIC_API_KEY",), client="anthropic", extra="anthropic"),
    "google": Provider(key=("GOOGLE_API_KEY", "GEMINI_API_KEY"), client="google.genai", extra="google"),
    "groq": Provider(key=("GROQ_API_KEY",), client="groq", extra="groq"),
    "mistral": Provider(key=("MISTRAL_API_KEY",), client="mistralai", extra="mistral"),
    "bedrock": Provider(client="boto3", extra="bedrock"),
    "ollama": Provider(address="OLLAMA_BASE_URL"),
    "openrouter": Provider(key=("OPENROUTER_API_KEY",)),
    "deepseek": Provider(key=("DEEPSEEK_API_KEY",)),
    "azure": Provider(key=("AZURE_OPENAI_API_KEY",), address="AZURE_OPENAI_ENDPOINT"),
    "together": Provider(key=("TOGETHER_API_KEY",)),
    "fireworks": Provider(key=("FIREWORKS_API_KEY",)),
    "moonshotai": Provider(key=("MOONSHOTAI_API_KEY",)),
    "github": Provider(key=("GITHUB_API_KEY",)),
    "cerebras": Provider(key=("CEREBRAS_API_KEY",)),
    "nebius": Provider(key=("NEBIUS_API_KEY",)),
    "sambanova": Provider(key=("SAMBANOVA_API_KEY",)),
    "ovhcloud": Provider(key=("OVHCLOUD_API_KEY",)),
    "alibaba": Provider(key=("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")),
    "zai": Provider(key=("ZAI_API_KEY",)),
}


def require_provider(name: str, environ: Mapping[str, str]) -> str:
    """The key of a model's provider (`anthropic:claude-haiku-4-5`); empty if it needs none.

    Raises `ConfigError` if the provider is unknown, or its key, address or client library is missing.
    """
    provider_name, _, model = name.partition(":")
    provider = PROVIDERS.get(provider_name)
    if provider is None:
        raise ConfigError(
            f"GOODBOT_MODEL={name}: the provider {provider_name!r} is not known; known are {', '.join(PROVIDERS)}, and "
            "offline. Use openai:NAME with OPENAI_BASE_URL for any other OpenAI-compatible server"
        )
    if not model.strip():
        raise ConfigError(f"GOODBOT_MODEL={name} names no model. Write for example GOODBOT_MODEL=openai:gpt-5-mini.")
    if provider.extra and not _is_installed(provider.client):
        raise ConfigError(f"GOODBOT_MODEL={name} needs another library: pip install 'goodbot[{provider.extra}]'")
    if provider.address and not environ.get(provider.address):
        raise ConfigError(f"GOODBOT_MODEL={name} needs the address of its server: set {provider.address}")
    key = next((environ[variable] for variable in provider.key if environ.get(variable)), "")
    if provider.key and not key:
        raise ConfigError(f"GOODBOT_MODEL={name} needs {' or '.join(provider.key)}")
    return key


def require_openai_address(name: str, base_url: str, api_key: str) -> str:
    """The address of an OpenAI-compatible server; OpenAI's own if `base_url` is empty.

    Raises `ConfigError` if it is invalid, or if OpenAI itself is used without a key.
    """
    if not name.partition(":")[2].strip():
        raise ConfigError("GOODBOT_MODEL names no model. Write for example GOODBOT_MODEL=openai:gpt-5-mini.")
    address = base_url or OPENAI_URL
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("OPENAI_BASE_URL is not an http address. Write for example http://localhost:11434/v1.")
    if not api_key and parts.hostname == urlsplit(OPENAI_URL).hostname:
        raise ConfigError(
            f"GOODBOT_MODEL={name} needs OPENAI_API_KEY; a server of your own (OPENAI_BASE_URL) does not."
        )
    return address


def key_variable(name: str) -> str:
    """The variables of the key of a model, for error messages."""
    provider = PROVIDERS.get(name.partition(":")[0])
    return " or ".join(provider.key) if provider is not None and provider.key else "the provider's credentials"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package of a dotted name is missing
        return False
