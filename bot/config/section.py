"""What every section of the settings is made of."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)]
"""Strict validation would refuse a TOML array for a tuple."""


class Section(BaseModel):
    """The base of sections: frozen, strict about names and types; errors hold no values, which may be secrets."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True, validate_default=True
    )


def http_address(example: str) -> AfterValidator:
    """Of a setting: an http address such as this one, or nothing."""
    return AfterValidator(lambda url: require_http(url, example))


def require_http(url: str, example: str) -> str:
    """The address, if it is one or empty. Raises `ValueError`."""
    if url and not url.startswith(("http://", "https://")):
        raise ValueError(f"must start with http:// or https://, for example {example}")
    return url
