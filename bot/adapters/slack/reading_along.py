"""What people wrote to each other before a message, looked up when the bot is asked something there."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.adapters.slack.events import NOBODY, Json, at, is_by_person, plain
from bot.adapters.slack.threads import Threads
from bot.adapters.slack.web import Method, Web
from bot.errors import ChannelNotFound, NotPermitted
from bot.model import Remark
from memory.model import Scope

_PERSON = re.compile(r"<@(?P<id>[UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_MOST_NAMED = 20
_PAGES, _PAGE = 5, 200
"""Slack hands out a thread from its beginning on: what is said last in a longer one is not found."""
_AT_ONCE_S = 0.0
"""The answer waits for no rate limit because of what others said."""


@dataclass(frozen=True, slots=True)
class ReadingAlong:
    """Reads messages of people in one workspace. `name_of` says what somebody is called; empty if nobody knows."""

    _web: Web
    _threads: Threads
    _name_of: Callable[[str], Awaitable[str]]

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """The messages that begin the threads with these time stamps, and the last ones before this; oldest first.

        What is gone or not to be read is left out. Who is mentioned in them appears by name. Raises `MessengerError`
        kinds.
        """
        roots = [await self._threads.root(scope.channel, ts) for ts in wanted]
        before = await self._before(scope, message_id) if last else []
        spoken = [each for each in before if is_by_person(each) and float(each["ts"]) < float(message_id)]
        newest = spoken[-last:] if last else []
        found = {str(each["ts"]): each for each in (*filter(is_by_person, roots), *newest)}
        names = await self._names(found.values())
        return [
            Remark(message_id=ts, person=str(found[ts]["user"]), text=_text(found[ts], names), at=at(ts))
            for ts in sorted(found, key=float)
        ]

    async def _before(self, scope: Scope, message_id: str) -> list[Json]:
        """The messages before one in its thread, or in its channel where it begins one; oldest first."""
        is_reply = bool(scope.thread) and scope.thread != message_id
        client = self._web.client
        method: Method = client.conversations_replies if is_reply else client.conversations_history
        where = {"ts": scope.thread} if is_reply else {}
        found: list[Json] = []
        cursor = ""
        for _ in range(_PAGES if is_reply else 1):
            try:
                answer = await self._web.call(
                    method,
                    scope.channel,
                    patience_s=_AT_ONCE_S,
                    channel=scope.channel,
                    latest=message_id,
                    limit=_PAGE,
                    cursor=cursor or None,
                    **where,
                )
            except (ChannelNotFound, NotPermitted):
                break
            found += answer.get("messages") or ()
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return sorted(found, key=lambda each: float(each["ts"]))

    async def _names(self, messages: Iterable[Json]) -> dict[str, str]:
        texts = [str(each.get("text") or "") for each in messages]
        people = dict.fromkeys(found["id"] for text in texts for found in _PERSON.finditer(text))
        return {person: await self._name_of(person) for person in list(people)[:_MOST_NAMED]}


def _text(message: Json, names: dict[str, str]) -> str:
    text = str(message.get("text") or "")
    return plain(_PERSON.sub(lambda found: f"@{names.get(found['id']) or NOBODY['@']}", text))
