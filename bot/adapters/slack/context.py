"""What everything that takes in Slack's payloads works with: the sink, who people are, where things happen."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.command_words import CORRECT, Typed
from bot.adapters.slack.channels import Places
from bot.adapters.slack.events import Spot
from bot.adapters.slack.files import Files
from bot.adapters.slack.identity import Identity
from bot.adapters.slack.roles import Roles
from bot.adapters.slack.status import Status
from bot.adapters.slack.threads import Threads
from bot.adapters.slack.web import Web
from bot.config import SlackSettings
from bot.errors import MessengerError
from bot.model import Address, PersonCommand, PersonCorrection
from bot.ports import EventSink
from memory.model import Scope
from memory.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One connected workspace."""

    sink: EventSink
    identity: Identity
    settings: SlackSettings
    web: Web
    places: Places
    roles: Roles
    threads: Threads
    status: Status
    files: Files
    teaches: Callable[[str], bool]
    clock: Clock

    async def admits(self, spot: Spot) -> bool:
        """Whether this person may use the bot in this channel, by their own id or a user group's.

        Raises `MessengerUnavailable` or `RateLimited` when Slack cannot say now who is in a group.
        """
        people, channels = self.settings.allowed_users, self.settings.allowed_channels
        is_direct = spot.channel.startswith("D")
        if channels and not is_direct and spot.channel not in channels:
            return False
        return not people or await self.roles.is_among(spot.user, people)

    async def scope(self, spot: Spot, *, thread: str | None = None) -> Scope:
        """Where memory files what happened at a spot."""
        return await self.places.scope(self.identity.workspace, spot, thread=thread)

    async def command(
        self,
        typed: Typed,
        spot: Spot,
        *,
        event_id: str,
        at: datetime,
        about: str = "",
        address: Address = Address.DIRECT,
    ) -> None:
        """Deliver a command about an answer, by its time stamp, or about the last. A correction may be typed too."""
        if typed.name == "stop":
            await self.stop(spot, event_id=event_id, at=at)
            return
        role = await self.roles.of(spot)
        scope = await self.scope(spot)
        answer = about or self.threads.last_answer(spot.channel, spot.thread)
        if typed.name == CORRECT:
            await self.sink(
                PersonCorrection(
                    event_id=event_id,
                    scope=scope,
                    text=typed.argument,
                    at=at,
                    role=role,
                    message_id=answer,
                    address=address,
                )
            )
            return
        await self.sink(
            PersonCommand(
                event_id=event_id,
                scope=scope,
                name=typed.name,
                argument=typed.argument,
                at=at,
                role=role,
                message_id=answer,
            )
        )

    async def stop(self, spot: Spot, *, event_id: str, at: datetime) -> None:
        """Stop what is being worked on in the spot's thread; outside of a busy one, what began last in the channel.

        Of what several people asked, the person's own comes first.
        """
        busy = self.status.busy_threads(spot.channel)
        own = [thread for thread in busy if spot.user in self.threads.askers(spot.channel, thread)]
        thread = spot.thread if spot.thread in busy or not busy else (own or busy)[-1]
        scope = await self.scope(spot, thread=thread)
        try:
            role = await self.roles.of(spot)
        except MessengerError:
            role = self.roles.at_hand(spot)  # Stopping does not wait for Slack.
        await self.sink(PersonCommand(event_id=event_id, scope=scope, name="stop", argument="", at=at, role=role))
