"""Replies through the `response_url` of a click or command, which works for half an hour and five messages."""

import logging
from collections.abc import Mapping, Sequence

import aiohttp

from bot.adapters.private_reply import PrivateReply
from bot.adapters.slack.outgoing.blocks import choice_blocks, fallback_text, sections
from bot.adapters.slack.web import Web
from bot.errors import MessengerUnavailable
from bot.model import Attachment, Choice

log = logging.getLogger(__name__)

_LONGEST = 20_000


class ResponseUrl:
    """Posts to `response_url` addresses, visible only to the person who acted."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def private_reply(self, url: str, *, replaces: bool = False) -> PrivateReply:
        """A private reply through this address. With `replaces` the first message replaces the one that was clicked."""

        async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
            nonlocal replaces
            shown = fallback_text(text, _LONGEST)
            body = {"response_type": "ephemeral", "replace_original": replaces, "text": shown}
            if buttons := choice_blocks(choices):
                body["blocks"] = [*sections(text), *buttons]
            await self._post(url, body)
            replaces = False
            return ""

        return tell

    async def change(self, url: str, **body: object) -> None:
        """Change the message that was clicked. A failure is only logged."""
        try:
            await self._post(url, body)
        except MessengerUnavailable as error:
            log.info("could not update the clicked message: %s", error)

    async def _post(self, url: str, body: Mapping[str, object]) -> None:
        try:
            async with self._web.session().post(url, json=dict(body)) as answer:
                if answer.status >= 400:
                    raise MessengerUnavailable(f"answering a click: Slack answered HTTP {answer.status}")
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise MessengerUnavailable(f"answering a click: Slack cannot be reached ({exc}); try again later") from exc
