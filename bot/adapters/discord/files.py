"""Files: what people attach, as text and pictures for the agent; and what the bot hands over."""

import asyncio
import io
import logging
import zipfile
from collections.abc import Sequence

import discord

from bot.adapters.attachments import MOST_FILES, Attached, made_of, objection, unreadable
from bot.adapters.discord.rest import Rest
from bot.errors import MessengerError
from bot.model import Attachment, ImageFile, TextFile

log = logging.getLogger(__name__)


PATIENCE_S = 10.0
"""How long one try to fetch a file takes at most: what is said after it in the same channel waits for it."""
LARGEST_PLAIN = 8_000_000
"""Bytes. Discord takes 10 MiB in one message, and what it takes has changed before."""


async def small_enough(attachment: Attachment) -> Attachment:
    """The same, compressed if it is large; done in a thread."""
    if len(attachment.content) <= LARGEST_PLAIN:
        return attachment
    content = await asyncio.to_thread(_compressed, attachment)
    return Attachment(name=f"{attachment.name}.zip", content=content, media_type="application/zip")


def _compressed(attachment: Attachment) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(attachment.name, attachment.content)
    return packed.getvalue()


async def read_files(attached: Sequence[discord.Attachment], rest: Rest) -> Attached:
    """The attachments; for one that could not be read, a text that says why."""
    read = await asyncio.gather(*(_read(file, rest) for file in attached[:MOST_FILES]))
    read += [unreadable(file.filename, f"only {MOST_FILES} files are read") for file in attached[MOST_FILES:]]
    return Attached.of(read)


async def _read(file: discord.Attachment, rest: Rest) -> TextFile | ImageFile:
    media_type = file.content_type or ""
    if why := objection(media_type, file.size):
        return unreadable(file.filename, why)

    async def fetch() -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await file.read()

    try:
        content = await rest(f"fetching the attached file {file.id}", fetch)
    except MessengerError as error:
        log.warning("an attached file was not read: %s", error)
        return unreadable(file.filename, "it could not be fetched")
    return made_of(file.filename, media_type, content)
