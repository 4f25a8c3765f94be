"""App Home: a person's own page, made of the answers to the bot's commands in their direct conversation.

So it can show nothing that the commands would not: what is of a channel stays in that channel.
"""

import asyncio
import logging
from collections.abc import Sequence

from bot.adapters.command_words import Typed
from bot.adapters.slack.acknowledgement import Ack, TimelyAcknowledgement
from bot.adapters.slack.choices import HOME_CHOICE, chosen
from bot.adapters.slack.context import HandlerContext
from bot.adapters.slack.events import Location
from bot.adapters.slack.home_view import HOME_COMMAND, TITLES, Page
from bot.adapters.slack.private_reply import private_replies
from bot.adapters.slack.web import Json
from bot.errors import MessengerError
from bot.model import BotMessage
from memory.model import Role

log = logging.getLogger(__name__)

_FOR_TEACHERS = "review"


class Home:
    """Publishes the page when it is opened, and again after each press of its buttons."""

    def __init__(self, handlers: HandlerContext, in_time: TimelyAcknowledgement) -> None:
        self._context = handlers
        self._in_time = in_time

    async def opened(self, body: Json) -> None:
        """A person opened the app; only the Home tab is a page."""
        event = body["event"]
        location = Location(channel=str(event["channel"]), user=str(event["user"]), kind="im")
        if event.get("tab") == "home" and await self._context.admits(location):
            await self._publish(location, str(body["event_id"]))

    async def pressed(self, ack: Ack, body: Json) -> None:
        """A button of the page: the same command as typed in the direct conversation, answered on the page."""
        await self._in_time(ack, self._pressed(body))

    async def _pressed(self, body: Json) -> None:
        action, user = body["actions"][0], str(body["user"]["id"])
        channel = await self._direct(user)
        location = Location(channel=channel, user=user, kind="im", team=str(body["user"].get("team_id") or ""))
        if channel and await self._context.admits(location):
            typed, occasion = _command(action), f"home/{user}/{action['action_ts']}"
            await self._publish(location, occasion, _part_of(action), await self._answer(typed, location, occasion))

    async def _publish(
        self, location: Location, occasion: str, part: str = "", messages: Sequence[BotMessage] = ()
    ) -> None:
        """Publish the page. The answer to a press replaces the part it belongs to, else it is shown on top."""
        shown = {part: messages} if part else {}
        is_teacher = await self._context.roles.of(location) in (Role.TEACHER, Role.ADMIN)
        missing = [name for name in TITLES if name not in shown and (is_teacher or name != _FOR_TEACHERS)]
        *parts, privacy = await asyncio.gather(
            *(self._answer(Typed(name), location, f"{occasion}/page") for name in (*missing, "privacy"))
        )
        page = Page(
            bot_name=self._context.identity.name,
            news=() if shown else messages,
            parts=shown | dict(zip(missing, parts, strict=True)),
            privacy=privacy,
        )
        web = self._context.web
        try:
            await web.call(
                web.client.views_publish, f"the home of {location.user}", user_id=location.user, view=page.view()
            )
        except MessengerError as error:
            log.warning("App Home was not shown: %s", error)

    async def _answer(self, typed: Typed, location: Location, occasion: str) -> list[BotMessage]:
        """What a command answers this person, caught instead of posted."""
        messages: list[BotMessage] = []

        async def catch(message: BotMessage) -> None:
            messages.append(message)

        with private_replies.by(location.user, catch):
            event_id = f"{occasion}/{typed.name}"
            await self._context.command(typed, location, event_id=event_id, at=self._context.clock())
        return messages

    async def _direct(self, user: str) -> str:
        web = self._context.web
        try:
            answer = await web.call(web.client.conversations_open, user, users=user)
        except MessengerError as error:
            log.warning("no direct conversation with %s: %s", user, error)
            return ""
        return str(answer["channel"]["id"])


def _part_of(action: Json) -> str:
    """The part of the page that a choice is in; empty for another button."""
    name = str(action["action_id"]).removeprefix(HOME_CHOICE).rpartition("_")[0]
    return name if name in TITLES else ""


def _command(action: Json) -> Typed:
    name = str(action["action_id"])
    if name.startswith(HOME_CHOICE):
        return chosen(action)
    return Typed(name.removeprefix(HOME_COMMAND), str(action.get("value") or ""))
