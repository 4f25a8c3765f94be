"""Answers through the `response_url` of a click or command: for half an hour and five messages."""

import logging
from collections.abc import Mapping

import aiohttp

from bot.adapters.slack.blocks import fallback_text, sections
from bot.adapters.slack.choices import choice_blocks
from bot.adapters.slack.private_reply import Tell
from bot.adapters.slack.web import Web
from bot.errors import MessengerUnavailable
from bot.model import BotMessage

log = logging.getLogger(__name__)

_LONGEST = 20_000


class ResponseUrl:
    """Posts to `response_url` addresses. Only the person who acted sees it."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def way(self, url: str, *, replaces: bool = False) -> Tell:
        """A way to tell the person something; `replaces`: the first of it takes the place of what was clicked on."""
        takes_the_place = replaces

        async def tell(message: BotMessage) -> None:
            nonlocal takes_the_place
            text = fallback_text(message, _LONGEST)
            body = {"response_type": "ephemeral", "replace_original": takes_the_place, "text": text}
            if choices := choice_blocks(message.choices):
                body["blocks"] = [*sections(message.text), *choices]
            await self._post(url, body)
            takes_the_place = False

        return tell

    async def note(self, url: str, text: str) -> None:
        """Send one line. Failing is logged, nothing more."""
        try:
            await self._post(url, {"response_type": "ephemeral", "replace_original": False, "text": text})
        except MessengerUnavailable as error:
            log.info("not told: %s: %s", text, error)

    async def remove(self, url: str) -> None:
        """Take the message away that was clicked on. It goes by itself at the next reload, so failing is no harm."""
        try:
            await self._post(url, {"delete_original": True})
        except MessengerUnavailable as error:
            log.info("a private question stays until the next reload: %s", error)

    async def _post(self, url: str, body: Mapping[str, object]) -> None:
        try:
            async with self._web.session().post(url, json=dict(body)) as answer:
                if answer.status >= 400:
                    raise MessengerUnavailable(f"answering a click: Slack answered HTTP {answer.status}")
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise MessengerUnavailable(f"answering a click: Slack cannot be reached ({exc}); try again later") from exc
