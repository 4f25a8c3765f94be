"""One Web API call inside a method: who calls, with which arguments."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.doubles.slack.core import Slack
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.render import message_json
from tests.doubles.slack.state import Channel, Json, Message
from tests.doubles.slack.workspace import Workspace


@dataclass(frozen=True)
class Request:
    """Arguments come from the query, a form or JSON alike; in the first two every value is a string."""

    slack: Slack
    workspace: Workspace
    args: Json

    def text(self, name: str, default: str = "") -> str:
        """An optional string."""
        value = self.args.get(name)
        return default if value is None else str(value)

    def need(self, name: str) -> str:
        """A required string. Raises `invalid_arguments`."""
        value = self.text(name)
        if not value:
            raise SlackError("invalid_arguments", f"missing required field: {name}")
        return value

    def number(self, name: str, default: int) -> int:
        """An optional whole number."""
        return int(self.text(name) or default)

    def flag(self, name: str, default: bool = False) -> bool:
        """An optional truth value: JSON's, or `1`, `0`, `true`, `false`."""
        value = self.args.get(name)
        return default if value is None else value in (True, "1", "true")

    def parsed(self, name: str, default: Any = None) -> Any:
        """An optional object or list, which forms carry as JSON text. Raises `invalid_arguments`."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return default if value is None else value
        try:
            return json.loads(value)
        except json.JSONDecodeError as exc:
            raise SlackError("invalid_arguments", f"{name} is not JSON: {exc}") from exc

    def channel(self, name: str = "channel", *, to_write: bool = False) -> Channel:
        """The conversation an argument names, as this bot may see it.

        Raises `channel_not_found` (also for a private channel the bot is not in), and to write `is_archived`,
        `not_in_channel`.
        """
        channel = self.workspace.channel(self.need(name))
        inside = self.workspace.bot.id in channel.members
        if channel.kind != "channel" and not inside:
            raise SlackError("channel_not_found")
        if to_write and channel.archived:
            raise SlackError("is_archived")
        if to_write and not inside:
            raise SlackError("not_in_channel")
        return channel

    def message_json(self, message: Message) -> Json:
        """A message as the API returns it."""
        return message_json(self.workspace, message, self.slack.base_url)


Handler = Callable[[Request], Json]


@dataclass(frozen=True)
class Method:
    """A Web API method. `scope`: any one of these is enough; none for methods every token may call."""

    handler: Handler
    scope: tuple[str, ...]
    token: str
    """`bot`, `app` (an `xapp-` token) or `none` (the client's id and secret instead)."""


METHODS: dict[str, Method] = {}


def method(name: str, *scope: str, token: str = "bot") -> Callable[[Handler], Handler]:
    """Register a handler under its Web API name."""

    def register(handler: Handler) -> Handler:
        METHODS[name] = Method(handler, scope, token)
        return handler

    return register
