"""Texts about wrong settings: what is allowed, and which name was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import SecretStr
from pydantic.fields import FieldInfo


def did_you_mean(wrong: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """`; did you mean recall.final_k?`, or empty if no known name is similar."""
    similar = get_close_matches(wrong, list(known), n=1, cutoff=cutoff)
    return f"; did you mean {similar[0]}?" if similar else ""


def allowed_values(field: FieldInfo) -> str:
    """The allowed values of a setting: `a whole number from 1 to 50`, `"native" or "text"`."""
    if get_origin(field.annotation) is Literal:
        return " or ".join(f'"{choice}"' for choice in get_args(field.annotation))
    default = field.default
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return f"a whole number{_range(field)}"
    if isinstance(default, float):
        return f"a number{_range(field)}"
    if isinstance(default, tuple):
        return 'a list of texts, for example ["👍", "+1"]'
    return f"a text{_length(field)}"


def _range(field: FieldInfo) -> str:
    low = next((limit.ge for limit in field.metadata if isinstance(limit, Ge)), None)
    high = next((limit.le for limit in field.metadata if isinstance(limit, Le)), None)
    return f" from {low} to {high}"


def _length(field: FieldInfo) -> str:
    shortest = next((limit.min_length for limit in field.metadata if isinstance(limit, MinLen)), 0)
    longest = next((limit.max_length for limit in field.metadata if isinstance(limit, MaxLen)), None)
    if longest is not None:
        return f" of {shortest} to {longest} characters"
    return " that is not empty" if shortest else ""


def shown_setting(field: FieldInfo, value: object) -> str:
    """A wrong value, shortened; a secret is not shown."""
    if isinstance(field.default, SecretStr):
        return "a value that is not shown"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= 60 else f"{text[:59]}…"
