"""Handles arrivals: the bot joins a channel, or a person opens their conversation with it."""

from functools import partial

from bot.adapters.slack.events import Json, Location
from bot.adapters.slack.incoming.context import HandlerContext
from bot.model import BotInvited, PersonArrived


class Arrivals:
    """Delivers `BotInvited` and `PersonArrived`, with a way to learn who teaches there."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context

    async def joined(self, body: Json) -> None:
        """A `member_joined_channel` event. Others who join are of no interest."""
        event, bot = body["event"], self._context.identity.user
        inviter = Location(channel=str(event["channel"]), user=str(event.get("inviter") or bot))
        if event.get("user") == bot and await self._context.roles.admits(inviter):
            self._context.channels.changed(inviter.channel)  # it may have been looked up from outside
            await self._context.sink(
                BotInvited(
                    event_id=str(body["event_id"]),
                    scope=await self._context.channels.scope(inviter),
                    at=self._context.clock(),
                    teachers=partial(self._context.teachers.names, inviter),
                )
            )

    async def opened(self, location: Location, occasion: str) -> None:
        """A person opened their direct conversation, or the app's page."""
        await self._context.sink(
            PersonArrived(
                event_id=f"{occasion}/arrived",
                scope=await self._context.channels.scope(location),
                at=self._context.clock(),
                teachers=partial(self._context.teachers.names, location),
            )
        )
