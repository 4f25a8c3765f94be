"""Files in Slack: reads attachments for the agent, and uploads files to direct messages."""

import logging
from urllib.parse import urlsplit

import aiohttp

from bot.adapters.attachments import AttachedFiles, read_each, read_one, unreadable
from bot.adapters.slack.events import Json
from bot.adapters.slack.web import Web
from bot.errors import MessengerError, MessengerUnavailable
from bot.model import Attachment, BotMessage, ImageFile, TextFile

log = logging.getLogger(__name__)

_SLACK_HOST = ".slack.com"
_ASK_FOR_IT = "check_file_info"
"""In channels of several organisations events name a file by its id alone (docs.slack.dev, "file_share")."""


class Files:
    """Fetches and uploads files with the bot's token, which is sent to Slack's hosts only."""

    def __init__(self, web: Web, *, api_url: str) -> None:
        self._web = web
        self._api_host = urlsplit(api_url).netloc

    async def read(self, attached: tuple[Json, ...]) -> AttachedFiles:
        """The attachments, with a text that says why in place of each that could not be read."""
        return await read_each(attached, self._read, _name)

    async def _read(self, file: Json) -> TextFile | ImageFile:
        if file.get("file_access") == _ASK_FOR_IT:
            try:
                answer = await self._web.call(self._web.client.files_info, file=str(file["id"]))
            except MessengerError as error:
                log.warning("the file %s was not read: %s", file["id"], error)
                return unreadable(_name(file), "it could not be fetched")
            file = answer["file"]
        url = str(file.get("url_private_download") or file.get("url_private") or "")
        announced, media_type = int(file.get("size") or 0), str(file.get("mimetype") or "")
        if file.get("is_external") or not self._is_slack_url(url):
            return unreadable(_name(file), "it is kept outside of Slack")

        async def fetch(most: int) -> bytes:
            content = await self._fetch(url, most)
            # Without the right to read files Slack answers 200 with its login page.
            if announced and len(content) != announced:
                raise MessengerUnavailable("what came is not the file; does the app have the scope files:read?")
            return content

        return await read_one(_name(file), media_type, announced, fetch)

    def _is_slack_url(self, url: str) -> bool:
        parts = urlsplit(url)
        is_slack = parts.scheme == "https" and (parts.hostname or "").endswith(_SLACK_HOST)
        return is_slack or parts.netloc == self._api_host

    async def _fetch(self, url: str, most: int) -> bytes:
        headers = {"Authorization": f"Bearer {self._web.token}"}
        try:
            async with self._web.session().get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise MessengerUnavailable(f"fetching a file: Slack answered HTTP {answer.status}")
                content = await answer.content.read(most + 1)
                while len(content) <= most and (more := await answer.content.read(most)):
                    content += more
                return content
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise MessengerUnavailable(f"fetching a file: Slack cannot be reached ({exc}); try again later") from exc

    async def hand_over(self, message: BotMessage, attachment: Attachment, direct: str) -> None:
        """Upload a file into a direct conversation. Raises `MessengerError`."""
        await self._web.call_once(
            self._web.client.files_upload_v2,
            channel=direct,
            filename=attachment.name,
            content=attachment.content,
            initial_comment=message.text,
        )


def _name(file: Json) -> str:
    return str(file.get("name") or file.get("title") or "file")
