"""Files that people attach, as text and pictures for the agent."""

import logging
from collections.abc import Sequence

import discord

from bot.adapters.attachments import MOST_FILES, Attached, made_of, objection, unread
from bot.adapters.discord.rest import Rest
from bot.errors import MessengerError
from bot.model import ImageFile, TextFile

log = logging.getLogger(__name__)


async def read_files(attached: Sequence[discord.Attachment], rest: Rest) -> Attached:
    """What is attached. In place of what could not be read stands why."""
    read = [await _read(file, rest) for file in attached[:MOST_FILES]]
    read += [unread(file.filename, f"only {MOST_FILES} files are read") for file in attached[MOST_FILES:]]
    return Attached.of(read)


async def _read(file: discord.Attachment, rest: Rest) -> TextFile | ImageFile:
    media_type = file.content_type or ""
    if why := objection(media_type, file.size):
        return unread(file.filename, why)
    try:
        content = await rest(f"fetching the attached file {file.id}", file.read)
    except MessengerError as error:
        log.warning("an attached file was not read: %s", error)
        return unread(file.filename, "it could not be fetched")
    return made_of(file.filename, media_type, content)
