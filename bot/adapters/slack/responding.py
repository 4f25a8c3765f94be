"""Answering through the address that came with a click or a command: good for half an hour and five messages."""

import logging

import aiohttp

from bot.adapters.slack.aside import Tell
from bot.adapters.slack.blocks import fallback_text
from bot.adapters.slack.web import Web
from bot.errors import MessengerUnavailable
from bot.model import BotMessage

log = logging.getLogger(__name__)

_LONGEST = 20_000


class Responder:
    """Posts to `response_url` addresses. Only the person who acted sees it."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def way(self, url: str) -> Tell:
        """A way to tell the person something."""

        async def tell(message: BotMessage) -> None:
            text = fallback_text(message, _LONGEST)
            await self._post(url, {"response_type": "ephemeral", "replace_original": False, "text": text})

        return tell

    async def remove(self, url: str) -> None:
        """Take the message away that was clicked on. It goes by itself at the next reload, so failing is no harm."""
        try:
            await self._post(url, {"delete_original": True})
        except MessengerUnavailable as error:
            log.info("a private question stays until the next reload: %s", error)

    async def _post(self, url: str, body: dict[str, object]) -> None:
        try:
            async with self._web.session().post(url, json=body) as answer:
                if answer.status >= 400:
                    raise MessengerUnavailable(f"answering a click: Slack answered HTTP {answer.status}")
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise MessengerUnavailable(f"answering a click: Slack cannot be reached ({exc}); try again later") from exc
