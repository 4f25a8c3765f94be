"""Looks up channels and people: visibility of channels, roles of people, names of both."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cachetools import LRUCache, TTLCache

from bot.adapters.flow_control import KeyedLock
from bot.adapters.slack.events import Json, Location
from bot.adapters.slack.web import NO_WAIT_S, Web, code_of
from bot.config import GROUP_ROLES, SlackSettings
from bot.errors import ChannelNotFound, MessengerError, NotPermitted
from memory.model import Role, Scope, Visibility
from memory.ports import Clock
from memory.rules.chat_settings import ALLOWED_CHANNELS, ALLOWED_PEOPLE, effective_role

log = logging.getLogger(__name__)

_TTL = timedelta(minutes=10)
"""Who reads a channel may change without an event while the bot is no member, and so may what a person is."""
_MOST_CHANNELS = 2000
_MOST_PEOPLE = 1000
"""How many of a workspace's people are searched for its owners."""
_DIRECT_MESSAGE = "DM"
OWNERS = "the workspace's owners and admins"
"""The owners as a group, in words for people."""


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A conversation."""

    visibility: Visibility
    name: str
    creator: str = ""
    """The person who made the channel; empty where Slack does not say."""
    is_known: bool = True
    """False if Slack could not be asked just now: then this is the last known state, or a guess."""


class Channels:
    """Looks channels up, with a cache. One that Slack refuses to tell about counts as private.

    While Slack cannot be reached a channel keeps its last known state.
    """

    def __init__(self, web: Web, clock: Clock, workspace: str) -> None:
        self._web = web
        self._workspace = workspace
        self._in_order = KeyedLock()
        """One look-up at a time for each channel, so that simultaneous events ask Slack once."""
        self._known: TTLCache[str, ChannelInfo, datetime] = TTLCache(_MOST_CHANNELS, _TTL, clock)
        self._last_known: LRUCache[str, ChannelInfo] = LRUCache(_MOST_CHANNELS)

    async def scope(self, location: Location, *, thread: str | None = None) -> Scope:
        """The scope of an event at a location; `thread` replaces the location's."""
        place = await self._place(location)
        is_shared = location.is_shared and place.visibility is not Visibility.DIRECT  # shared since it was looked up
        return Scope(
            workspace=self._workspace,
            channel=location.channel,
            person=location.user,
            thread=location.thread if thread is None else thread,
            visibility=Visibility.SHARED if is_shared else place.visibility,
            place=place.name,
            is_visibility_known=place.is_known or is_shared,
        )

    async def creator(self, location: Location) -> str:
        """The person who made the channel; empty where Slack does not say."""
        return (await self._place(location)).creator

    async def name(self, channel: str, *, reader: str) -> str:
        """A channel's name without its #; empty where the people of the channel `reader` may not know of it."""
        place = await self._place(Location(channel=channel, user=""))
        return place.name.removeprefix("#") if place.visibility is Visibility.PUBLIC or channel == reader else ""

    def changed(self, channel: str) -> None:
        """Drop the channel from the cache."""
        self._known.pop(channel, None)
        self._last_known.pop(channel, None)

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
            answer = await self._web.call(self._web.client.conversations_info, channel=channel)
        except MessengerError as error:
            place = ChannelInfo(Visibility.PRIVATE, channel)
            if error.retryable:  # The next event asks again.
                log.warning("could not look up %s, keeping its last known visibility: %s", channel, error)
                return replace(self._last_known.get(channel, place), is_known=False)
            log.warning("could not look up %s, treating it as private: %s", channel, error)
        else:
            place = read_channel(answer["channel"])
        self._known[channel] = self._last_known[channel] = place
        return place


def read_channel(channel: Json) -> ChannelInfo:
    """What Slack says of a channel: who can read it, its name, who made it."""
    if channel.get("is_im"):
        return ChannelInfo(Visibility.DIRECT, _DIRECT_MESSAGE)
    name = "group DM" if channel.get("is_mpim") else f"#{channel.get('name') or channel['id']}"
    creator = str(channel.get("creator") or "")
    if any(channel.get(flag) for flag in ("is_ext_shared", "is_org_shared", "is_shared")):
        return ChannelInfo(Visibility.SHARED, name, creator)
    is_private = channel.get("is_private") or channel.get("is_mpim")
    return ChannelInfo(Visibility.PRIVATE if is_private else Visibility.PUBLIC, name, creator)


class Roles:
    """Resolves roles when people act: the lists in `[slack]` come first, then what people are in the workspace.

    The lists hold user ids (U, W) and user group ids (S). `set_in_chat` gives those that people keep in chat.
    `installer` installed the app, where that is known.
    """

    def __init__(
        self,
        web: Web,
        clock: Clock,
        channels: Channels,
        settings: SlackSettings,
        set_in_chat: Callable[[], Awaitable[Mapping[str, str]]],
        *,
        team: str,
        installer: str = "",
    ) -> None:
        self._web = web
        self._team = team
        self._channels = channels
        self._set_in_chat = set_in_chat
        self._allowed_users, self._allowed_channels = settings.allowed_users, settings.allowed_channels
        self._named = {Role.ADMIN: settings.admins, Role.TEACHER: settings.teachers}
        self._owners, self._creators = GROUP_ROLES[settings.owners], GROUP_ROLES[settings.creators]
        self.installer = installer
        self._in_order = KeyedLock()
        """One look-up at a time for each person, so that simultaneous acts ask Slack once."""
        self._people: TTLCache[tuple[str, bool], Role, datetime] = TTLCache(5000, _TTL, clock)
        """By person, and whether the payload named another workspace as theirs."""
        self._groups: TTLCache[str, frozenset[str], datetime] = TTLCache(100, _TTL, clock)

    def cached(self, location: Location) -> Role:
        """The role without asking Slack, which is enough to ask a question."""
        seems_foreign = self._seems_foreign(location)
        return self._people.get((location.user, seems_foreign)) or (Role.GUEST if seems_foreign else Role.MEMBER)

    async def of(self, location: Location, *, is_wide: bool = False) -> Role:
        """The role of a person. `is_wide`: the act may reach beyond the channel, where the creator has no special role.

        Raises `MessengerUnavailable` or `RateLimited` if Slack cannot tell now. The event is then left for Slack to
        send again, so that a vote never counts for more than it may.
        """
        key = (location.user, self._seems_foreign(location))
        async with self._in_order(location.user):
            role = self._people.get(key)
            if role is None:
                role = await (
                    self._of_foreign(location.user) if self._seems_foreign(location) else self._of_ours(location.user)
                )
                self._people[key] = role
        if role is not Role.MEMBER or self._creators is role:
            return role
        is_theirs = location.user == self.installer or (
            not is_wide and await self._channels.creator(location) == location.user
        )
        return self._creators if is_theirs else role

    async def admits(self, location: Location) -> bool:
        """Whether this person may use the bot in this channel, by their own id or a user group's.

        A list set in chat replaces the settings file's, and is checked by the sink. Raises `MessengerUnavailable` or
        `RateLimited` if Slack cannot tell now who is in a group.
        """
        people, channels = self._allowed_users, self._allowed_channels
        is_direct = location.channel.startswith("D")
        refused_by: set[str] = set()
        if channels and not is_direct and location.channel not in channels:
            refused_by.add(ALLOWED_CHANNELS)
        if people and not await self.is_among(location.user, people):
            refused_by.add(ALLOWED_PEOPLE)
        return not refused_by or refused_by <= (await self._set_in_chat()).keys()

    async def is_teacher(self, location: Location) -> bool:
        """Whether a person is a teacher or an administrator there. Raises as `of` does."""
        role = await self.of(location)
        return role.may_promote or effective_role(role, location.user, await self._set_in_chat()).may_promote

    def _seems_foreign(self, location: Location) -> bool:
        return location.team not in ("", self._team)

    async def _of_ours(self, user: str) -> Role:
        return await self._by_name(user) or await self._by_account(user, unknown=Role.MEMBER)

    async def _of_foreign(self, user: str) -> Role:
        """The role of a person whose home is another workspace, perhaps of the same organisation."""
        role = await self._by_account(user, unknown=Role.GUEST)
        return (await self._by_name(user) or role) if role is Role.MEMBER else role

    async def _by_name(self, user: str) -> Role | None:
        for role, names in self._named.items():
            if await self.is_among(user, names):
                return role
        return None

    async def is_among(self, user: str, names: Iterable[str]) -> bool:
        """Whether a person is one of these, or in one of these user groups. Raises as `of` does."""
        known = tuple(names)
        if user in known:
            return True
        for group in known:
            if not group.startswith("S"):
                continue
            async with self._in_order(group):
                members = await self.members(group)
            if user in members:
                return True
        return False

    async def owners(self) -> list[str]:
        """The workspace's owners and admins among its first people. Raises `MessengerError`."""
        answer = await self._web.call(self._web.client.users_list, limit=_MOST_PEOPLE)
        listed = (each for each in answer.get("members") or () if not each.get("deleted"))
        return [str(each["id"]) for each in listed if self._read(each) is self._owners is not Role.MEMBER]

    async def members(self, group: str) -> frozenset[str]:
        """The people of a user group; empty if Slack does not tell."""
        members = self._groups.get(group)
        if members is None:
            try:
                answer = await self._web.call(self._web.client.usergroups_users_list, usergroup=group)
                members = frozenset(answer.get("users") or ())
            except NotPermitted as error:
                log.error("could not look up user group %s, ignoring its role: %s", group, error)
                members = frozenset()
            self._groups[group] = members
        return members

    async def _by_account(self, user: str, *, unknown: Role) -> Role:
        try:
            answer = await self._web.call(self._web.client.users_info, user=user)
        except NotPermitted as error:
            log.error("could not distinguish guests from members: %s", error)
            return unknown
        except ChannelNotFound as error:
            log.info("treating %s as a guest: %s", user, code_of(error))
            return Role.GUEST
        return self._read(answer["user"])

    def _read(self, user: Json) -> Role:
        if user.get("is_bot") or user.get("id") == "USLACKBOT":
            return Role.BOT
        teams = (user.get("enterprise_user") or {}).get("teams") or ()
        is_ours = str(user.get("team_id") or self._team) == self._team or self._team in teams
        if not is_ours or any(
            user.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger", "deleted")
        ):
            return Role.GUEST
        is_home = str(user.get("team_id") or self._team) == self._team
        is_owner = any(user.get(flag) for flag in ("is_admin", "is_owner", "is_primary_owner"))
        return self._owners if is_home and is_owner else Role.MEMBER


async def name_of(web: Web, user: str) -> str:
    """A person's display name, else their full name; empty if they have none. Raises `MessengerError`."""
    answer = await web.call_once(web.client.users_info, max_wait_s=NO_WAIT_S, user=user)
    profile = answer["user"].get("profile") or {}
    return str(profile.get("display_name") or profile.get("real_name") or answer["user"].get("name") or "")
