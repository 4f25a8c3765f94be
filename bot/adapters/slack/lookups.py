"""Look-ups in a connected workspace: earlier messages, names and profiles, who teaches."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from bot.adapters.naming import Names, plain_name
from bot.adapters.slack.directory import OWNERS, Channels, Roles, read_channel
from bot.adapters.slack.events import UNNAMED, Json, Location, is_by_person, plain_text, time_of, without_mention
from bot.adapters.slack.mentions import Mentions
from bot.adapters.slack.threads import Threads
from bot.adapters.slack.web import NO_WAIT_S, Identity, Web, require_own
from bot.config import SlackSettings
from bot.errors import ChannelNotFound, MessengerError, NotPermitted
from bot.model import ChannelCard, Profile, Remark
from memory.model import Scope
from memory.model.saved_messages import AnsweredQuestion
from memory.rules.chat_settings import TEACHERS, listed_ids

log = logging.getLogger(__name__)

_MOST = 100
"""The most people of one user group who are written to."""


@dataclass(frozen=True, slots=True)
class Teachers:
    """Looks up who teaches, by the settings file, the settings in chat and the roles in Slack."""

    _settings: SlackSettings
    _channels: Channels
    _roles: Roles
    _mentions: Mentions
    _set_in_chat: Callable[[], Awaitable[Mapping[str, str]]]

    async def names(self, location: Location) -> list[str]:
        """The names of those who may approve for others at a location, as far as Slack tells them."""
        settings, names = self._settings, list[str]()
        creator = await self._creator(location) if settings.creators == "teachers" else ""
        in_chat = listed_ids(TEACHERS, await self._set_in_chat())
        for each in dict.fromkeys((creator, *settings.admins, *settings.teachers, *in_chat)):
            if each and (name := await self._mentions.name_of(each)):
                group = "the group " if each.startswith("S") else ""
                names.append(f"{group}{name}{' (made this channel)' if each == creator else ''}")
        return [*names, *([OWNERS] if settings.owners != "members" else [])]

    async def _creator(self, location: Location) -> str:
        """The channel's creator, if that makes them a teacher: not if they are a guest, a foreigner or have left."""
        creator = await self._channels.creator(location)
        try:
            role = await self._roles.of(replace(location, user=creator, team="")) if creator else None
        except MessengerError as error:
            log.info("could not check whether channel creator %s teaches there: %s", creator, error)
            return creator
        return creator if role is not None and role.may_promote else ""

    async def ids(self) -> list[str]:
        """The ids of those who teach in the whole workspace; its owners only if nobody else is known."""
        found: dict[str, None] = {}
        settings, in_chat = self._settings, listed_ids(TEACHERS, await self._set_in_chat())
        for each in (*settings.admins, *settings.teachers, *in_chat, self._roles.installer):
            if each.startswith("S"):
                found |= dict.fromkeys(sorted(await self._roles.members(each))[:_MOST])
            elif each:
                found[each] = None
        if not found and settings.owners != "members":
            try:
                return await self._roles.owners()
            except MessengerError as error:
                log.info("could not look up the workspace's owners: %s", error)
        return list(found)


Label: TypeAlias = Callable[[str, str], Awaitable[str]]
"""(text, channel) to the text with a label in every mention."""

_PERSON = re.compile(r"<@(?P<id>[UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_MOST_NAMED = 20
_PAGES = 5
"""Slack returns a thread from its beginning, so the end of a longer one is not found."""


class Lookups:
    """The look-ups of one workspace's messenger, which sets identity and teachers once it is connected."""

    def __init__(self, web: Web, threads: Threads, names: Names) -> None:
        self._web = web
        self._threads = threads
        self._names = names
        self._identity: Identity | None = None
        self._labelled: Label | None = None
        self._teachers: Teachers | None = None

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """The first messages of these threads, and the last messages before this one; oldest first.

        Messages that are gone or may not be read are left out. Mentions appear as names. Raises `MessengerError`.
        """
        require_own(self._identity, scope.workspace)
        roots = [await self._threads.root(scope.channel, ts) for ts in wanted]
        before = await self._before(scope, message_id) if last else []
        by_people = [each for each in before if is_by_person(each) and float(each["ts"]) < float(message_id)]
        newest = by_people[-last:] if last else []
        found = {str(each["ts"]): each for each in (*filter(is_by_person, roots), *newest)}
        names = await self._named_in(found.values())
        return [
            Remark(message_id=ts, person=str(found[ts]["user"]), text=_text(found[ts], names), at=time_of(ts))
            for ts in sorted(found, key=float)
        ]

    async def answered_question(self, scope: Scope, message_id: str) -> AnsweredQuestion | None:
        """A reply with the message that began its thread; None for a first message, and for bots.

        Mentions of the bot are removed from both. Raises `MessengerError`.
        """
        require_own(self._identity, scope.workspace)
        if self._labelled is None or self._identity is None:
            return None
        labelled, me, channel, ts = self._labelled, self._identity.user, scope.channel, message_id
        thread = await self._threads.of(channel, ts)
        if thread == ts:
            return None
        # The first message comes with every part of a thread.
        read = await self._web.call(
            self._web.client.conversations_replies,
            channel=channel,
            ts=thread,
            oldest=ts,
            latest=ts,
            inclusive=True,
        )
        found: dict[str, Json] = {str(each["ts"]): each for each in read.get("messages") or ()}
        asked, answer = found.get(thread), found.get(ts)
        if asked is None or answer is None or not is_by_person(asked) or not is_by_person(answer):
            return None

        async def text(message: Json) -> str:
            return plain_text(await labelled(without_mention(str(message.get("text") or ""), me), channel))

        link = await self._web.call(self._web.client.chat_getPermalink, channel=channel, message_ts=ts)
        return AnsweredQuestion(
            message_id=ts,
            answer=await text(answer),
            author=str(answer["user"]),
            question=await text(asked),
            asker=str(asked["user"]),
            link=str(link.get("permalink") or ""),
            thread=thread,
        )

    async def name_of(self, workspace: str, person: str) -> str:
        """A person's name as plain words."""
        require_own(self._identity, workspace)
        return await self._name_of(person)

    async def profile(self, scope: Scope) -> Profile:
        """Name, title and time zone of the scope's person. Raises `MessengerError`."""
        require_own(self._identity, scope.workspace)
        answer = await self._web.call_once(self._web.client.users_info, user=scope.person)
        person = answer["user"]
        named = person.get("profile") or {}
        name = str(named.get("display_name") or named.get("real_name") or person.get("name") or "")
        return Profile(
            name=plain_name(name), title=plain_name(str(named.get("title") or "")), zone=str(person.get("tz") or "")
        )

    async def channel_card(self, scope: Scope) -> ChannelCard:
        """Name, topic, purpose and readers of the scope's channel. Raises `MessengerError`."""
        require_own(self._identity, scope.workspace)
        answer = await self._web.call_once(self._web.client.conversations_info, channel=scope.channel)
        topic, purpose = (str((answer["channel"].get(each) or {}).get("value") or "") for each in ("topic", "purpose"))
        visibility = read_channel(answer["channel"]).visibility
        return ChannelCard(name=scope.place, topic=topic, purpose=purpose, visibility=visibility)

    async def _before(self, scope: Scope, message_id: str) -> list[Json]:
        """The messages before one in its thread, or in its channel where it begins one; oldest first."""
        thread = scope.thread if scope.thread != message_id else ""
        pages, found = _PAGES if thread else 1, list[Json]()
        earlier = self._threads.messages(scope.channel, thread, until=message_id, pages=pages, max_wait_s=NO_WAIT_S)
        with suppress(ChannelNotFound, NotPermitted):
            async for each in earlier:
                found.append(each)
        return sorted(found, key=lambda each: float(each["ts"]))

    async def _named_in(self, messages: Iterable[Json]) -> dict[str, str]:
        texts = [str(each.get("text") or "") for each in messages]
        people = dict.fromkeys(found["id"] for text in texts for found in _PERSON.finditer(text))
        return {person: await self._name_of(person) for person in list(people)[:_MOST_NAMED]}

    async def _name_of(self, person: str) -> str:
        return plain_name(await self._names.of(person))

    async def approvers(self, scope: Scope) -> list[str]:
        """The names of those who can approve lessons there."""
        location = Location(channel=scope.channel, user=scope.person)
        return await self._teachers.names(location) if self._teachers else []

    async def teachers(self, workspace: str) -> list[str]:
        """The ids of those who can approve lessons in the whole workspace; a channel's creator is not among them."""
        return await self._teachers.ids() if self._teachers else []


def _text(message: Json, names: dict[str, str]) -> str:
    text = str(message.get("text") or "")
    return plain_text(_PERSON.sub(lambda found: f"@{names.get(found['id']) or UNNAMED['@']}", text))
