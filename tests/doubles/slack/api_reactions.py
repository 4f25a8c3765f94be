"""`reactions.*`."""

import re

from tests.doubles.slack import events
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Json, Message

_NAME = re.compile(r"[a-z0-9_+'\-]+(::skin-tone-[2-6])?")
_ALIASES = {"thumbsup": "+1", "thumbsdown": "-1", "stop_sign": "octagonal_sign"}


@method("reactions.add", "reactions:write")
def add(call: Request) -> Json:
    """The bot reacts. Twice is `already_reacted`."""
    message, name = _item(call), _name(call)
    users = message.reactions.get(name, [])
    if call.workspace.bot.id in users:
        raise SlackError("already_reacted")
    message.reactions.setdefault(name, []).append(call.workspace.bot.id)
    _tell(call, message, name, added=True)
    return {}


@method("reactions.remove", "reactions:write")
def remove(call: Request) -> Json:
    """The bot takes its reaction back. Twice is `no_reaction`."""
    message, name = _item(call), _name(call)
    users = message.reactions.get(name, [])
    if call.workspace.bot.id not in users:
        raise SlackError("no_reaction")
    users.remove(call.workspace.bot.id)
    if not users:
        del message.reactions[name]
    _tell(call, message, name, added=False)
    return {}


@method("reactions.get", "reactions:read")
def get(call: Request) -> Json:
    """A message with its reactions."""
    message = _item(call)
    body = call.message_json(message)
    return {"type": "message", "channel": message.channel, "message": body}


def _item(call: Request) -> Message:
    channel = call.channel()
    if channel.archived:
        raise SlackError("is_archived")
    if not call.text("timestamp"):
        raise SlackError("no_item_specified")
    return call.workspace.message(channel.id, call.text("timestamp"))


def _name(call: Request) -> str:
    name = call.need("name")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    return _ALIASES.get(name, name)


def _tell(call: Request, message: Message, name: str, *, added: bool) -> None:
    ts, bot = call.slack.stamps.ts(), call.workspace.bot.id
    channel = call.workspace.channel(message.channel)
    call.slack.echo(call.workspace, events.reaction(message, bot, name, ts, added=added), channel)
