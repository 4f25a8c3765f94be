"""Libraries of the extras, which may not be installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.errors import ConfigError


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """A context for imports of an extra's libraries, which `what` needs. Raises `ConfigError` if one is missing."""
    try:
        yield
    except ImportError as error:
        missing = f"{what} needs a library that is not installed ({error.name or error})"
        raise ConfigError(f"{missing}; run pip install 'goodbot[{extra}]'") from error
