"""Builds the language models: the agent's with its fallbacks, and the one that interprets messages."""

import os
import time

from bot.config import Settings
from bot.ports import LanguageModel
from memory.ports import Embedder


def make_model(settings: Settings, embedder: Embedder) -> LanguageModel:
    """The agent's model, with its fallbacks. Raises `ConfigError` for one that cannot be used."""
    model = make_one_model(settings, embedder, settings.model.name)
    if not settings.model.fallbacks:
        return model
    from bot.adapters.llm.fallback import FallbackModel

    others = [make_one_model(settings, embedder, name) for name in settings.model.fallbacks]
    return FallbackModel([model, *others], monotonic=time.monotonic)


def make_rewriter(settings: Settings, embedder: Embedder, agent: LanguageModel) -> LanguageModel:
    """The model that interprets messages in their conversation and reads feedback; by default the agent's."""
    name = settings.model.rewrite
    return agent if name in ("same", agent.name) else make_one_model(settings, embedder, name)


def make_one_model(settings: Settings, embedder: Embedder, name: str) -> LanguageModel:
    """The model of this name: `offline` or `PROVIDER:NAME`. Raises `ConfigError` for one that cannot be used."""
    if name == "offline":
        from bot.adapters.llm.offline.model import OfflineModel

        return OfflineModel(embedder.embed)
    from bot.adapters.llm.provider_model import ProviderModel
    from bot.adapters.llm.providers import require_provider

    chosen, is_openai = settings.model, name.startswith("openai:")
    return ProviderModel(
        name,
        base_url=chosen.openai_base_url if is_openai else "",
        api_key=chosen.openai_api_key.get_secret_value() if is_openai else require_provider(name, os.environ),
        timeout_s=chosen.timeout_s,
        max_tokens=chosen.max_output_tokens,
        temperature=chosen.temperature,
    )
