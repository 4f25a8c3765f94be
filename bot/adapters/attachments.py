"""Attached files for the agent: text as text, pictures as pictures, within limits of size and number."""

from dataclasses import dataclass

from bot.model import ImageFile, TextFile

LARGEST_FILE = 64_000
"""Bytes of one attached text."""
LARGEST_IMAGE = 3_000_000
"""Bytes of one picture. Models take about 5 MB, and base 64 adds a third."""
MOST_FILES = 5
"""Of all kinds together."""

_NO_TEXT = ("video/", "audio/", "font/", "application/pdf", "application/zip", "application/gzip")
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """What came with a message; for a file that could not be read, a text that says why."""

    files: tuple[TextFile, ...] = ()
    images: tuple[ImageFile, ...] = ()

    @classmethod
    def of(cls, read: list[TextFile | ImageFile]) -> "Attached":
        """Files sorted by kind, each kind in order."""
        return cls(
            files=tuple(one for one in read if isinstance(one, TextFile)),
            images=tuple(one for one in read if isinstance(one, ImageFile)),
        )


def objection(media_type: str, size: int) -> str:
    """The reason not to fetch a file of this declared type and size; empty if it is fetched."""
    if media_type.startswith(_NO_TEXT):
        return "it is neither text nor a picture"
    most = largest(media_type)
    return f"it has {size} bytes; {most} are read" if size > most else ""


def is_picture(media_type: str) -> bool:
    """Whether the declared type is that of a picture."""
    return media_type.startswith("image/")


def largest(media_type: str) -> int:
    """The most bytes fetched of a file of this declared type."""
    return LARGEST_IMAGE if is_picture(media_type) else LARGEST_FILE


def made_of(name: str, media_type: str, content: bytes) -> TextFile | ImageFile:
    """The fetched file, by its first bytes: its declared type may be wrong."""
    if is_picture(media_type):
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
