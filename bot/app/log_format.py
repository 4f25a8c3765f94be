"""Lines of the log without passwords, tokens and keys, wherever they came from."""

import logging

from memory.adapters.secrets import FormatFinder
from memory.rules.redaction import Redactor


class SecretlessFormatter(logging.Formatter):
    """Formats as usual, tracebacks included, and takes out what looks like a secret."""

    def __init__(self, fmt: str) -> None:
        super().__init__(fmt)
        self._redactor = Redactor(FormatFinder())

    def format(self, record: logging.LogRecord) -> str:
        """The line as it may be written down."""
        return self._redactor.text(super().format(record))
