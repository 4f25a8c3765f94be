"""The dependencies of the handlers of Slack's payloads: the sink, people, channels."""

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
from memory.ports import Clock

LISTS = ("admins", "teachers", "allowed_users", "allowed_channels")
"""Settings of ids, which may name their workspace: `T0123/U0456`."""


def settings_in(team: str, settings: SlackSettings) -> SlackSettings:
    """The settings for one workspace: ids without its prefix. Ids of other workspaces keep theirs and match nothing."""
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
        """Deliver a command or typed correction about the answer with the time stamp `about`, else about the last."""
        if typed.name == "stop":
            await self.stop(location, event_id=event_id, at=at)
            return
        role = await self.roles.of(location)
        is_local = role is not await self.roles.of(location, is_wide=True)
        scope = await self.channels.scope(location)
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
        """Stop the work in the location's thread; if that is idle, the latest work in the channel.

        The person's own question comes first.
        """
        busy = self.status.busy_threads(location.channel)
        own = [thread for thread in busy if location.user in self.threads.askers(location.channel, thread)]
        thread = location.thread if location.thread in busy or not busy else (own or busy)[-1]
        scope = await self.channels.scope(location, thread=thread)
        try:
            role = await self.roles.of(location)
        except MessengerError:
            role = self.roles.cached(location)  # Stopping does not wait for Slack.
        await self.sink(PersonCommand(event_id=event_id, scope=scope, name="stop", argument="", at=at, role=role))
