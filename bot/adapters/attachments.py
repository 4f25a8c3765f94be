"""Reads attached files for the agent, as texts and pictures, within limits of size and number."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bot.errors import MessengerError
from bot.model import ImageFile, TextFile

log = logging.getLogger(__name__)

LARGEST_FILE = 64_000
"""Bytes of one attached text."""
LARGEST_IMAGE = 3_000_000
"""Bytes of one picture. Models take about 5 MB, and base 64 adds a third."""
MOST_FILES = 5
"""The most files of one message."""

_NO_TEXT = ("video/", "audio/", "font/", "application/pdf", "application/zip", "application/gzip")
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


F = TypeVar("F")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFiles:
    """The files of a message, with a text that says why in place of each that could not be read."""

    files: tuple[TextFile, ...] = ()
    images: tuple[ImageFile, ...] = ()


async def read_each(
    attached: Sequence[F], read: Callable[[F], Awaitable[TextFile | ImageFile]], name_of: Callable[[F], str]
) -> AttachedFiles:
    """Read the first files, in order; each further one becomes a text that says it was not read."""
    each: list[TextFile | ImageFile] = [*await asyncio.gather(*map(read, attached[:MOST_FILES]))]
    each += [unreadable(name_of(file), f"only {MOST_FILES} files are read") for file in attached[MOST_FILES:]]
    return AttachedFiles(
        files=tuple(one for one in each if isinstance(one, TextFile)),
        images=tuple(one for one in each if isinstance(one, ImageFile)),
    )


async def read_one(
    name: str, media_type: str, size: int, fetch: Callable[[int], Awaitable[bytes]]
) -> TextFile | ImageFile:
    """Read a file of this declared type and size. `fetch` gets the most bytes wanted, may raise `MessengerError`."""
    most = LARGEST_IMAGE if media_type.startswith("image/") else LARGEST_FILE
    if media_type.startswith(_NO_TEXT):
        return unreadable(name, "it is neither text nor a picture")
    if size > most:
        return unreadable(name, f"it has {size} bytes; {most} are read")
    try:
        return file_from_content(name, media_type, await fetch(most))
    except MessengerError as error:
        log.warning("an attached file was not read: %s", error)
        return unreadable(name, "it could not be fetched")


def file_from_content(name: str, media_type: str, content: bytes) -> TextFile | ImageFile:
    """The fetched file. Its kind is decided by the first bytes, as the declared type may be wrong."""
    if media_type.startswith("image/"):
        kind = _kind_of(content)
        if not kind:
            return unreadable(name, "it is no picture in PNG, JPEG, GIF or WebP")
        return ImageFile(name=name, media_type=kind, content=content)
    try:
        return TextFile(name=name, text=content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return unreadable(name, "it is no UTF-8 text")


def unreadable(name: str, why: str) -> TextFile:
    """The text in place of a file that could not be read."""
    return TextFile(name=name, text=f"[not read: {why}]")


def _kind_of(content: bytes) -> str:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS if content.startswith(beginning)), "")
