"""The dependencies of the handlers of Slack's payloads: the sink, people, channels."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.command_words import ParsedCommand, command_event
from bot.adapters.slack.directory import Channels, Roles
from bot.adapters.slack.events import Location
from bot.adapters.slack.files import Files
from bot.adapters.slack.lookups import Teachers
from bot.adapters.slack.mentions import Mentions
from bot.adapters.slack.threads import Status, Threads
from bot.adapters.slack.web import Identity, Web
from bot.config import SlackSettings
from bot.errors import MessengerError
from bot.model import Address, PersonCommand
from bot.ports import ConversationQueries, EventSink
from memory.model import Scope
from memory.ports import Clock
from memory.rules.chat_settings import ALLOWED_CHANNELS, ALLOWED_PEOPLE, effective_role

LISTS = ("admins", "teachers", "allowed_users", "allowed_channels")
"""Settings of ids, which may name their workspace: `T0123/U0456`."""


def settings_in(team: str, settings: SlackSettings) -> SlackSettings:
    """The settings for one workspace: its own ids without their prefix; other workspaces' keep it and match nothing."""
    bare = {name: tuple(each.removeprefix(f"{team}/") for each in getattr(settings, name)) for name in LISTS}
    return settings.model_copy(update=bare)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """The dependencies of handlers for one connected workspace."""

    sink: EventSink
    identity: Identity
    settings: SlackSettings
    web: Web
    channels: Channels
    roles: Roles
    mentions: Mentions
    teachers: Teachers
    threads: Threads
    status: Status
    files: Files
    queries: ConversationQueries
    clock: Clock

    async def set_in_chat(self) -> Mapping[str, str]:
        """What people set in chat for the workspace."""
        return await self.queries.set_in_chat(self.identity.workspace)

    async def admits(self, location: Location) -> bool:
        """Whether this person may use the bot in this channel, by their own id or a user group's.

        A list that people keep in chat takes the place of the settings file's, and is looked at by the sink.
        Raises `MessengerUnavailable` or `RateLimited` when Slack cannot say now who is in a group.
        """
        people, channels = self.settings.allowed_users, self.settings.allowed_channels
        is_direct = location.channel.startswith("D")
        refused_by: set[str] = set()
        if channels and not is_direct and location.channel not in channels:
            refused_by.add(ALLOWED_CHANNELS)
        if people and not await self.roles.is_among(location.user, people):
            refused_by.add(ALLOWED_PEOPLE)
        return not refused_by or refused_by <= (await self.set_in_chat()).keys()

    async def teaches_here(self, location: Location) -> bool:
        """Whether a person is a teacher or an administrator there. Raises as `Roles.of` does."""
        role = await self.roles.of(location)
        return role.may_promote or effective_role(role, location.user, await self.set_in_chat()).may_promote

    async def scope(self, location: Location, *, thread: str | None = None) -> Scope:
        """Where memory files what happened at a location."""
        return await self.channels.scope(self.identity.workspace, location, thread=thread)

    async def command(
        self,
        typed: ParsedCommand,
        location: Location,
        *,
        event_id: str,
        at: datetime,
        about: str = "",
        address: Address = Address.DIRECT,
        typed_in: str = "",
    ) -> None:
        """Deliver a command about an answer, by its time stamp, or about the last. A correction may be typed too."""
        if typed.name == "stop":
            await self.stop(location, event_id=event_id, at=at)
            return
        role = await self.roles.of(location)
        is_local = role is not await self.roles.of(location, is_wide=True)
        scope = await self.scope(location)
        await self.sink(
            command_event(
                typed,
                event_id=event_id,
                scope=scope,
                at=at,
                role=role,
                message_id=about,
                address=address,
                typed_in=typed_in,
                is_role_local=is_local,
            )
        )

    async def stop(self, location: Location, *, event_id: str, at: datetime) -> None:
        """Stop what is being worked on in the location's thread; outside of a busy one, what began last in the channel.

        Of what several people asked, the person's own comes first.
        """
        busy = self.status.busy_threads(location.channel)
        own = [thread for thread in busy if location.user in self.threads.askers(location.channel, thread)]
        thread = location.thread if location.thread in busy or not busy else (own or busy)[-1]
        scope = await self.scope(location, thread=thread)
        try:
            role = await self.roles.of(location)
        except MessengerError:
            role = self.roles.at_hand(location)  # Stopping does not wait for Slack.
        await self.sink(PersonCommand(event_id=event_id, scope=scope, name="stop", argument="", at=at, role=role))
