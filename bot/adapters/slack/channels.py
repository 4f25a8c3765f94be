"""Channels by id: who can read them, and their names."""

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.adapters.keyed_lock import KeyedLock
from bot.adapters.slack.events import Location
from bot.adapters.slack.web import Json, Web
from bot.adapters.ttl_cache import TtlCache
from bot.errors import MessengerError
from memory.model import Scope, Visibility
from memory.ports import Clock

log = logging.getLogger(__name__)

_KEEP = timedelta(minutes=10)
"""A channel may change who reads it while the bot is no member, and then no event of ours says so."""
_DIRECT_MESSAGE = "DM"


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A conversation."""

    visibility: Visibility
    name: str
    is_known: bool = True
    """False where Slack could not be asked just now: then this is as it was seen last, or a guess."""


class Channels:
    """Looks channels up, with a cache. One that cannot be looked up counts as private: its lessons stay in it.

    While Slack is out of reach a channel is as it was seen last.
    """

    def __init__(self, web: Web, clock: Clock) -> None:
        self._web = web
        self._in_order = KeyedLock()
        """Several events of one channel at once ask Slack once."""
        self._known: TtlCache[str, ChannelInfo] = TtlCache(clock, size=2000, keep=_KEEP)

    async def scope(self, workspace: str, location: Location, *, thread: str | None = None) -> Scope:
        """Where the bot's memory files what happened at a location; `thread` replaces the location's."""
        place = await self._place(location)
        is_shared = location.is_shared and place.visibility is not Visibility.DIRECT  # shared since it was looked up
        return Scope(
            workspace=workspace,
            channel=location.channel,
            person=location.user,
            thread=location.thread if thread is None else thread,
            visibility=Visibility.SHARED if is_shared else place.visibility,
            place=place.name,
            is_visibility_known=place.is_known or is_shared,
        )

    def changed(self, channel: str) -> None:
        """Drop the channel from the cache."""
        self._known.drop(channel)

    async def _place(self, location: Location) -> ChannelInfo:
        if location.kind == "im" or location.channel.startswith("D"):
            return ChannelInfo(Visibility.DIRECT, _DIRECT_MESSAGE)
        async with self._in_order(location.channel):
            place = self._known.get(location.channel)
            if place is None:
                place = await self._look_up(location.channel)
        return place

    async def _look_up(self, channel: str) -> ChannelInfo:
        try:
            answer = await self._web.call(self._web.client.conversations_info, channel, channel=channel)
        except MessengerError as error:
            place = ChannelInfo(Visibility.PRIVATE, channel)
            if error.retryable:  # The next event asks again.
                log.warning("%s counts as it did last, for it cannot be looked up just now: %s", channel, error)
                return replace(self._known.last(channel) or place, is_known=False)
            log.warning("%s counts as private, for it cannot be looked up: %s", channel, error)
        else:
            place = _read(answer["channel"])
        self._known.put(channel, place)
        return place


def _read(channel: Json) -> ChannelInfo:
    if channel.get("is_im"):
        return ChannelInfo(Visibility.DIRECT, _DIRECT_MESSAGE)
    name = "group DM" if channel.get("is_mpim") else f"#{channel.get('name') or channel['id']}"
    if any(channel.get(flag) for flag in ("is_ext_shared", "is_org_shared", "is_shared")):
        return ChannelInfo(Visibility.SHARED, name)
    is_private = channel.get("is_private") or channel.get("is_mpim")
    return ChannelInfo(Visibility.PRIVATE if is_private else Visibility.PUBLIC, name)
