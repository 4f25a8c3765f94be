"""Files: what people attach, as text for the agent; what the bot hands over, as an upload in a direct message."""

import logging
from urllib.parse import urlsplit

import aiohttp

from bot.adapters.slack.web import Json, Web
from bot.errors import MessengerError, MessengerUnavailable
from bot.model import Attachment, BotMessage, TextFile

log = logging.getLogger(__name__)

LARGEST_FILE = 64_000
"""Bytes of one attached file that the agent can make something of."""

_MOST_FILES = 5
_NO_TEXT = ("image/", "video/", "audio/", "font/", "application/pdf", "application/zip", "application/gzip")
_SLACK_HOST = ".slack.com"


class Files:
    """Fetches and hands over files with the bot's token, which goes to no other host than Slack's."""

    def __init__(self, web: Web, *, api_url: str) -> None:
        self._web = web
        self._api_host = urlsplit(api_url).netloc

    async def read(self, attached: tuple[Json, ...]) -> tuple[TextFile, ...]:
        """The text files among what is attached. In place of every other one stands why it could not be read."""
        files = [await self._read(file) for file in attached[:_MOST_FILES]]
        files += [_unread(file, f"only {_MOST_FILES} files are read") for file in attached[_MOST_FILES:]]
        return tuple(files)

    async def _read(self, file: Json) -> TextFile:
        url = str(file.get("url_private_download") or file.get("url_private") or "")
        announced = int(file.get("size") or 0)
        if str(file.get("mimetype") or "").startswith(_NO_TEXT):
            return _unread(file, "it is no text")
        if announced > LARGEST_FILE:
            return _unread(file, f"it has {announced} bytes; {LARGEST_FILE} are read")
        if file.get("is_external") or not self._is_slack_s(url):
            return _unread(file, "it is kept outside of Slack")
        try:
            content = await self._fetch(url)
            # Without the right to read files Slack answers 200 with its login page.
            if announced and len(content) != announced:
                raise MessengerUnavailable("what came is not the file; does the app have the scope files:read?")
            return TextFile(name=_name(file), text=content.decode("utf-8-sig"))
        except MessengerError as error:
            log.warning("the file %s was not read: %s", file.get("id"), error)
            return _unread(file, "it could not be fetched")
        except UnicodeDecodeError:
            return _unread(file, "it is no UTF-8 text")

    def _is_slack_s(self, url: str) -> bool:
        parts = urlsplit(url)
        is_slack = parts.scheme == "https" and (parts.hostname or "").endswith(_SLACK_HOST)
        return is_slack or parts.netloc == self._api_host

    async def _fetch(self, url: str) -> bytes:
        headers = {"Authorization": f"Bearer {self._web.token}"}
        try:
            async with self._web.session().get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise MessengerUnavailable(f"fetching a file: Slack answered HTTP {answer.status}")
                content = await answer.content.read(LARGEST_FILE + 1)
                while len(content) <= LARGEST_FILE and (more := await answer.content.read(LARGEST_FILE)):
                    content += more
                return content
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise MessengerUnavailable(f"fetching a file: Slack cannot be reached ({exc}); try again later") from exc

    async def hand_over(self, message: BotMessage, attachment: Attachment, direct: str) -> None:
        """Upload a file into a direct conversation. Raises `MessengerError` kinds."""
        await self._web.once(
            self._web.client.files_upload_v2,
            direct,
            channel=direct,
            filename=attachment.name,
            content=attachment.content,
            initial_comment=message.text,
        )


def _unread(file: Json, why: str) -> TextFile:
    return TextFile(name=_name(file), text=f"[not read: {why}]")


def _name(file: Json) -> str:
    return str(file.get("name") or file.get("title") or "file")
