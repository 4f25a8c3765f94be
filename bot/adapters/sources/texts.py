"""Decodes files."""

import codecs
from pathlib import Path

from bot.adapters.sources.entries import LARGEST_FILE
from memory.errors import InvalidInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; of those with the same beginning the longer first."""


def read_text(path: Path, encoding: str = "") -> str:
    """Read a file as text, with `\\n` line breaks. Raises `InvalidInput`."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as exc:
        raise InvalidInput(f"cannot read {path}: {exc.strerror or exc}") from exc
    if len(content) > LARGEST_FILE:
        raise InvalidInput(f"{path} is larger than {LARGEST_FILE >> 20} MiB; learn from it in parts")
    return decoded(content, str(path), encoding)


def decoded(content: bytes, name: str, encoding: str = "") -> str:
    """Decode bytes in this encoding, else by their byte order mark, else as UTF-8. Raises `InvalidInput`.

    No other encoding is guessed, as a wrong guess would teach broken words.
    """
    used = encoding or next((found for mark, found in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(used)
    except LookupError as exc:
        raise InvalidInput(f"there is no encoding {used!r}; try --encoding cp1252") from exc
    except UnicodeError as exc:
        raise InvalidInput(
            f"{name} is no {used.upper()} text; save it as UTF-8, or say what it is: --encoding cp1252 for most that "
            "a spreadsheet wrote on Windows"
        ) from exc
    return with_plain_line_ends(text.removeprefix("\ufeff"))


def with_plain_line_ends(text: str) -> str:
    """The text with `\\n` line breaks."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
