"""Files in Discord: reads attachments for the agent, and prepares files to send."""

import asyncio
import io
import zipfile
from collections.abc import Sequence

import discord

from bot.adapters.attachments import AttachedFiles, read_each, read_one
from bot.adapters.discord.rest import Rest
from bot.model import Attachment, ImageFile, TextFile

TIMEOUT_S = 10.0
"""The longest time for one try to fetch a file; later messages in the same channel wait for it."""
LARGEST_PLAIN = 8_000_000
"""Bytes. Discord takes 10 MiB in one message, and what it takes has changed before."""


async def compressed_if_large(attachment: Attachment) -> Attachment:
    """The attachment, compressed (in a thread) if it is large."""
    if len(attachment.content) <= LARGEST_PLAIN:
        return attachment
    content = await asyncio.to_thread(_compressed, attachment)
    return Attachment(name=f"{attachment.name}.zip", content=content, media_type="application/zip")


def _compressed(attachment: Attachment) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(attachment.name, attachment.content)
    return packed.getvalue()


async def read_files(attached: Sequence[discord.Attachment], rest: Rest) -> AttachedFiles:
    """The attachments, with a text that says why in place of each that could not be read."""

    async def read(file: discord.Attachment) -> TextFile | ImageFile:
        async def fetch() -> bytes:
            async with asyncio.timeout(TIMEOUT_S):
                return await file.read()

        return await read_one(
            file.filename,
            file.content_type or "",
            file.size,
            lambda _: rest(f"fetching the attached file {file.id}", fetch),
        )

    return await read_each(attached, read, lambda file: file.filename)
