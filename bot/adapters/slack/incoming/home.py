"""App Home: a person's own page, built from the replies to the bot's commands in their direct conversation.

So it shows nothing that these commands would not show.
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from bot.adapters.command_words import ParsedCommand
from bot.adapters.private_reply import replying_to
from bot.adapters.slack.events import Json, Location
from bot.adapters.slack.incoming.context import HandlerContext
from bot.adapters.slack.outgoing.blocks import (
    HOME_CHOICE,
    Block,
    button,
    choice_blocks,
    plain_text_object,
    pressed_command,
    sections,
)
from bot.errors import MessengerError
from bot.model import Attachment, Choice, PersonArrived

log = logging.getLogger(__name__)

HOME_COMMAND = "goodbot_home_command_"
"""Prefix of the action ids of the page's own buttons; the command follows, the button's value is its argument."""

TITLES = {"memory": "My lessons", "ratings": "My ratings", "review": "Waiting for a teacher"}
"""The sections of the page by their command, with their titles, from top to bottom."""

_PROMISE = "My answers come from a machine and may be wrong. React 👍 or 👎 to teach me."
_MOST_SECTIONS = 10
"""The most blocks of one section: a page takes 100."""
_FOR_TEACHERS = "review"


class CommandAnswered(NamedTuple):
    """One message of the reply to a command."""

    text: str
    choices: Sequence[Choice]


class Home:
    """Publishes the page when it is opened, and after each press of its buttons."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context

    async def opened(self, body: Json) -> None:
        """A person opened the app: its page, or their direct conversation. The first time they are welcomed there."""
        event, occasion = body["event"], str(body["event_id"])
        location = Location(channel=str(event["channel"]), user=str(event["user"]), kind="im")
        if event.get("tab") not in ("home", "messages") or not await self._context.roles.admits(location):
            return
        if event["tab"] == "messages":
            await self._arrive(location, occasion)
        else:
            welcome = await self._captured(location, self._arrive(location, occasion))
            await self._publish(location, occasion, messages=welcome)

    async def _arrive(self, location: Location, occasion: str) -> None:
        context = self._context
        await context.sink(
            PersonArrived(
                event_id=f"{occasion}/arrived",
                scope=await context.channels.scope(location),
                at=context.clock(),
                teachers=partial(context.teachers.names, location),
            )
        )

    async def pressed(self, body: Json) -> None:
        """A button of the page: the same command as typed in the direct conversation, answered on the page."""
        action, user = body["actions"][0], str(body["user"]["id"])
        try:
            channel = await self._context.web.direct_channel(user)
        except MessengerError as error:
            log.warning("no direct conversation with %s: %s", user, error)
            return
        location = Location(channel=channel, user=user, kind="im", team=str(body["user"].get("team_id") or ""))
        typed, occasion = _command(action), f"home/{user}/{action['action_ts']}"
        await self._publish(location, occasion, _part_of(action), await self._answer(typed, location, occasion))

    async def _publish(
        self, location: Location, occasion: str, part: str = "", messages: Sequence[CommandAnswered] = ()
    ) -> None:
        """Publish the page. The reply to a press replaces its section, else it is shown on top."""
        shown = {part: messages} if part else {}
        is_teacher = await self._context.roles.is_teacher(location)
        missing = [name for name in TITLES if name not in shown and (is_teacher or name != _FOR_TEACHERS)]
        *parts, privacy = await asyncio.gather(
            *(self._answer(ParsedCommand(name), location, f"{occasion}/page") for name in (*missing, "privacy"))
        )
        view = _view(
            self._context.identity.name,
            news=() if shown else messages,
            parts=shown | dict(zip(missing, parts, strict=True)),
            privacy=privacy,
        )
        web = self._context.web
        try:
            await web.call(
                web.client.views_publish, about=f"the home of {location.user}", user_id=location.user, view=view
            )
        except MessengerError as error:
            log.warning("App Home was not shown: %s", error)

    async def _answer(self, typed: ParsedCommand, location: Location, occasion: str) -> list[CommandAnswered]:
        """The reply to a command of this person."""
        event_id, at = f"{occasion}/{typed.name}", self._context.clock()
        return await self._captured(location, self._context.command(typed, location, event_id=event_id, at=at))

    async def _captured(self, location: Location, act: Awaitable[None]) -> list[CommandAnswered]:
        """The private replies of an action, collected instead of posted."""
        messages: list[CommandAnswered] = []

        async def catch(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
            messages.append(CommandAnswered(text, choices))
            return ""

        with replying_to(location.user, catch):
            await act
        return messages


def _part_of(action: Json) -> str:
    """The section of the page that a choice is in; empty for other buttons."""
    name = str(action["action_id"]).removeprefix(HOME_CHOICE).rpartition("_")[0]
    return name if name in TITLES else ""


def _command(action: Json) -> ParsedCommand:
    name = str(action["action_id"])
    if name.startswith(HOME_CHOICE):
        return pressed_command(action)
    return ParsedCommand(name.removeprefix(HOME_COMMAND), str(action.get("value") or ""))


def _view(
    bot_name: str,
    *,
    news: Sequence[CommandAnswered],
    parts: Mapping[str, Sequence[CommandAnswered]],
    privacy: Sequence[CommandAnswered],
) -> Block:
    """The page as Slack's view; `news` is the reply to the last press, `parts` are sections by command (`TITLES`)."""
    blocks: list[Block] = [
        {"type": "header", "text": plain_text_object(f"{bot_name} learns from you")},
        *sections(_PROMISE),
        {"type": "actions", "elements": _buttons()},
        *_shown(news, "news"),
    ]
    for command, title in TITLES.items():
        if messages := parts.get(command):
            blocks += [
                {"type": "divider"},
                {"type": "header", "text": plain_text_object(title)},
                *_shown(messages, command),
            ]
    return {"type": "home", "blocks": [*blocks, {"type": "divider"}, *_shown(privacy, "privacy")]}


def _shown(messages: Sequence[CommandAnswered], name: str) -> list[Block]:
    """Text, and the choices of the last message below it."""
    text = "\n\n".join(message.text for message in messages)
    choices = messages[-1].choices if messages else ()
    return [*sections(text, _MOST_SECTIONS), *choice_blocks(choices, f"{HOME_CHOICE}{name}_")]


def _buttons() -> list[Block]:
    commands = (("Undo the last", "undo"), ("Export my data", "export"), ("Help", "help"))
    plain = [button(label, HOME_COMMAND + name) for label, name in commands]
    forget = button("Forget me", f"{HOME_COMMAND}forget", "yes") | {
        "style": "danger",
        "confirm": {
            "title": plain_text_object("Forget me?"),
            "text": plain_text_object(
                "This erases what I keep about you and the lessons you taught me. It cannot be undone."
            ),
            "confirm": plain_text_object("Erase it"),
            "deny": plain_text_object("Keep it"),
            "style": "danger",
        },
    }
    return [*plain, forget]
