"""Settings of the models: the one that answers, the embedder, the grader."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, field_validator

from bot.config.section import Section, Texts, http_address
from bot.config.setting_errors import did_you_mean


def _qualified(name: str, *own: str) -> str:
    provider, _, model = name.partition(":")
    if name not in own and not (provider.strip() and model.strip()):
        allowed = ", ".join(f'"{each}"' for each in own)
        hint = did_you_mean(name.casefold(), own)
        raise ValueError(f'must be {allowed} or "PROVIDER:NAME", for example "openai:gpt-5-mini"{hint}')
    return name


def _model_or(*own: str) -> AfterValidator:
    """A validator of settings that name a model with its provider, or one of our own names."""
    return AfterValidator(lambda name: _qualified(name, *own))


class ModelSettings(Section):
    """`[model]`."""

    name: Annotated[str, _model_or("offline")] = "offline"
    openai_base_url: Annotated[str, http_address("http://localhost:11434/v1")] = ""
    openai_api_key: SecretStr = SecretStr("")
    fallbacks: Texts = ()
    rewrite: Annotated[str, _model_or("same", "offline")] = "same"
    timeout_s: float = Field(default=60.0, ge=1, le=600)
    max_output_tokens: int = Field(default=1024, ge=16, le=100_000)
    temperature: float = Field(default=0.0, ge=0, le=2)
    tool_calls: Literal["native", "text"] = "native"

    @field_validator("fallbacks")
    @classmethod
    def _each_offline_or_qualified(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_qualified(name, "offline") for name in names)


class EmbedderSettings(Section):
    """`[embedder]`."""

    name: str = Field(default="packaged", min_length=1)
    cache: str = ""

    @field_validator("name")
    @classmethod
    def _not_misspelt(cls, name: str) -> str:
        own = ("packaged", "hashing")
        hint = did_you_mean(name.casefold(), own, cutoff=0.8)
        if hint and name not in own:
            raise ValueError(f'must be "packaged", "hashing" or the name of a sentence-transformers model{hint}')
        return name


class GradingSettings(Section):
    """`[grading]`: a model that judges answers nobody reacted to."""

    model: Annotated[str, _model_or("off", "same")] = "off"
    idle_minutes: int = Field(default=30, ge=1, le=44_640)
    per_run: int = Field(default=10, ge=1, le=1000)
