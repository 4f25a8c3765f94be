"""The certificates of this machine are read once in a process of tests: every client of HTTP would read them anew."""

import ssl
from functools import cache


def read_certificates_once() -> None:
    """From now on, in this process. Whoever asks for connections of the same kind gets the same context."""
    ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]  # what it takes is hashable
