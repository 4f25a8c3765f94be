"""The base of all sections, and types and validators that they share."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)]
"""A list of non-empty texts. Not strict, as strict validation refuses a TOML array for a tuple."""


class Section(BaseModel):
    """The base of sections: frozen, strict about names and types. Errors hold no values, which may be secrets."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True, validate_default=True
    )


def http_address(example: str) -> AfterValidator:
    """A validator of settings that are an http address, or empty."""
    return AfterValidator(lambda url: require_http(url, example))


def require_http(url: str, example: str) -> str:
    """The URL, if it is an http address or empty. Raises `ValueError` otherwise."""
    if url and not url.startswith(("http://", "https://")):
        raise ValueError(f"must start with http:// or https://, for example {example}")
    return url
