"""Replaces the ids in Slack's mentions by names."""

import logging
import re
from datetime import datetime, timedelta

from cachetools import TTLCache

from bot.adapters.naming import Names, plain_name
from bot.adapters.slack.directory import Channels
from bot.adapters.slack.events import UNNAMED, Json
from bot.adapters.slack.web import NO_WAIT_S, Identity, Web
from bot.errors import MessengerError
from memory.ports import Clock

log = logging.getLogger(__name__)

_UNNAMED = re.compile(r"<(?P<kind>@|#|!subteam\^)(?P<id>[UWCGS][A-Z0-9]+)\|?>")
_TTL = timedelta(hours=1)


class Mentions:
    """Looks up the present names of people, channels and user groups. `me` is the bot, whose name is known."""

    def __init__(self, web: Web, names: Names, channels: Channels, clock: Clock, *, me: Identity) -> None:
        self._me = me
        self._web = web
        self._names = names
        self._channels = channels
        self._handles: TTLCache[str, str, datetime] = TTLCache(1000, _TTL, clock)

    async def labelled(self, text: str, channel: str) -> str:
        """Slack's text with a label in each mention that has none: `<@U1>` becomes `<@U1|Ana>`.

        A private channel is named in itself only; `channel` is where the text is.
        """
        labels = await self._labels(text, channel)
        return _UNNAMED.sub(lambda found: f"<{found['kind']}{found['id']}|{labels[found['id']]}>", text)

    async def in_text(self, text: str, channel: str) -> str:
        """The text of a form, which Slack does not escape, with names in place of mentions."""
        labels = await self._labels(text, channel)
        return _UNNAMED.sub(lambda found: f"{'#' if found['kind'] == '#' else '@'}{labels[found['id']]}", text)

    async def in_event(self, event: Json) -> Json:
        """A message event with labels in its text, or in that of the message it changed."""
        channel, message = str(event.get("channel") or ""), event.get("message")
        if message:
            text = await self.labelled(str(message.get("text") or ""), channel)
            return {**event, "message": {**message, "text": text}}
        return {**event, "text": await self.labelled(str(event.get("text") or ""), channel)}

    async def name_of(self, target: str) -> str:
        """The name of a person or a user group; empty if Slack does not tell."""
        return plain_name(await (self._handle(target) if target.startswith("S") else self._names.of(target)))

    async def _labels(self, text: str, channel: str) -> dict[str, str]:
        """The names for the mentions in a text, by id."""
        return {
            found["id"]: await self._label(found["kind"], found["id"], channel) for found in _UNNAMED.finditer(text)
        }

    async def _label(self, kind: str, target: str, channel: str) -> str:
        if target == self._me.user:
            return self._me.name
        if kind == "@":
            name = await self._names.of(target)
        elif kind == "#":
            name = await self._channels.name(target, reader=channel)
        else:
            name = await self._handle(target)
        return plain_name(name) or UNNAMED[kind[0]]

    async def _handle(self, group: str) -> str:
        handle = self._handles.get(group)
        if handle is None:
            try:
                answer = await self._web.call_once(self._web.client.usergroups_list, about=group, max_wait_s=NO_WAIT_S)
            except MessengerError as error:
                log.info("the user group %s has no name: %s", group, error)
                return ""
            for each in answer.get("usergroups") or ():
                self._handles[str(each.get("id"))] = str(each.get("handle") or "")
            handle = self._handles.get(group) or ""
        return handle
