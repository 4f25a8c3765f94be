"""Text files that people attach, as text for the agent."""

import logging
from collections.abc import Sequence

import discord

from bot.adapters.discord.rest import Rest
from bot.errors import MessengerError
from bot.model import TextFile

log = logging.getLogger(__name__)

LARGEST_FILE = 64_000
"""Bytes of one attached file that the agent can make something of."""

_MOST_FILES = 5
_NO_TEXT = ("image/", "video/", "audio/", "font/", "application/pdf", "application/zip", "application/gzip")


async def read_files(attached: Sequence[discord.Attachment], rest: Rest) -> tuple[TextFile, ...]:
    """The text files among what is attached. In place of every other one stands why it could not be read."""
    files = [await _read(file, rest) for file in attached[:_MOST_FILES]]
    files += [_unread(file, f"only {_MOST_FILES} files are read") for file in attached[_MOST_FILES:]]
    return tuple(files)


async def _read(file: discord.Attachment, rest: Rest) -> TextFile:
    if (file.content_type or "").startswith(_NO_TEXT):
        return _unread(file, "it is no text")
    if file.size > LARGEST_FILE:
        return _unread(file, f"it has {file.size} bytes; {LARGEST_FILE} are read")
    try:
        content = await rest(f"fetching the attached file {file.id}", file.read)
        return TextFile(name=file.filename, text=content.decode("utf-8-sig"))
    except MessengerError as error:
        log.warning("an attached file was not read: %s", error)
        return _unread(file, "it could not be fetched")
    except UnicodeDecodeError:
        return _unread(file, "it is no UTF-8 text")


def _unread(file: discord.Attachment, why: str) -> TextFile:
    return TextFile(name=file.filename, text=f"[not read: {why}]")
