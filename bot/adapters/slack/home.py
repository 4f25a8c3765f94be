"""App Home: a person's own page, made of what the bot's commands answer."""

import asyncio
import logging

from bot.adapters.slack.acknowledging import Ack, InTime
from bot.adapters.slack.aside import answering_by
from bot.adapters.slack.blocks import HOME_COMMAND, home_view
from bot.adapters.slack.desk import Desk
from bot.adapters.slack.events import Spot
from bot.adapters.slack.web import Json
from bot.adapters.words import Typed
from bot.errors import MessengerError
from bot.model import BotMessage

log = logging.getLogger(__name__)


class Home:
    """Publishes the page when it is opened, and again after its buttons changed something."""

    def __init__(self, desk: Desk, in_time: InTime) -> None:
        self._desk = desk
        self._in_time = in_time

    async def opened(self, body: Json) -> None:
        """A person opened the app; only the Home tab is a page."""
        event = body["event"]
        spot = Spot(channel=str(event["channel"]), user=str(event["user"]), kind="im")
        if event.get("tab") == "home" and self._desk.admits(spot):
            await self._publish(spot, str(body["event_id"]))

    async def pressed(self, ack: Ack, body: Json) -> None:
        """A button of the page: the same command as typed, answered in the direct conversation."""
        await self._in_time(ack, self._pressed(body))

    async def _pressed(self, body: Json) -> None:
        action, user = body["actions"][0], str(body["user"]["id"])
        channel = await self._direct(user)
        spot = Spot(channel=channel, user=user, kind="im")
        if channel and self._desk.admits(spot):
            name = str(action["action_id"]).removeprefix(HOME_COMMAND)
            occasion = f"home/{user}/{action['action_ts']}"
            await self._desk.command(Typed(name), spot, event_id=occasion, at=self._desk.clock())
            await self._publish(spot, occasion)

    async def _publish(self, spot: Spot, occasion: str) -> None:
        web, name = self._desk.web, self._desk.identity.name
        lessons, privacy = await asyncio.gather(
            self._answer("memory", spot, occasion), self._answer("privacy", spot, occasion)
        )
        try:
            view = home_view(name, lessons, privacy)
            await web.call(web.client.views_publish, f"the home of {spot.user}", user_id=spot.user, view=view)
        except MessengerError as error:
            log.warning("App Home was not shown: %s", error)

    async def _answer(self, command: str, spot: Spot, occasion: str) -> str:
        """What a command answers this person, caught instead of posted."""
        texts: list[str] = []

        async def catch(message: BotMessage) -> None:
            texts.append(message.text)

        with answering_by(spot.user, catch):
            event_id = f"{occasion}/{command}"
            await self._desk.command(Typed(command), spot, event_id=event_id, at=self._desk.clock())
        return "\n\n".join(texts)

    async def _direct(self, user: str) -> str:
        web = self._desk.web
        try:
            answer = await web.call(web.client.conversations_open, user, users=user)
        except MessengerError as error:
            log.warning("no direct conversation with %s: %s", user, error)
            return ""
        return str(answer["channel"]["id"])
