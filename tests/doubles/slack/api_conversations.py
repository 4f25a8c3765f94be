"""`conversations.*`."""

from collections.abc import Sequence
from typing import TypeVar

from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.render import channel_json
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Channel, Json, Message

T = TypeVar("T")
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")


@method("conversations.info", *_READ)
def info(call: Request) -> Json:
    """One conversation."""
    channel = call.channel()
    return {"channel": channel_json(channel, call.workspace.bot.id, _other_side(call, channel))}


@method("conversations.list", *_READ)
def list_all(call: Request) -> Json:
    """The conversations the bot may know of."""
    wanted = call.text("types", "public_channel").split(",")
    kinds = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
    bot = call.workspace.bot.id
    fitting = [
        channel
        for channel in call.workspace.channels.values()
        if channel.kind in {kinds[name] for name in wanted}
        and (channel.kind == "channel" or bot in channel.members)
        and not (channel.archived and call.flag("exclude_archived"))
    ]
    page, more = paged(call, fitting, 100)
    return {"channels": [channel_json(c, bot, _other_side(call, c)) for c in page], **more}


@method("conversations.open", "im:write", "mpim:write")
def open_conversation(call: Request) -> Json:
    """The direct conversation with one person."""
    if call.text("channel"):
        channel = call.channel()
    else:
        users = call.need("users").split(",")
        if len(users) != 1:
            raise SlackError("invalid_arguments", "this stand-in opens conversations with one person")
        channel = call.workspace.im(users[0])
    if call.flag("return_im"):
        body = channel_json(channel, call.workspace.bot.id, _other_side(call, channel))
        return {"no_op": True, "already_open": True, "channel": body}
    return {"channel": {"id": channel.id}}


@method("conversations.members", *_READ)
def members(call: Request) -> Json:
    """User ids, in pages."""
    page, more = paged(call, sorted(call.channel().members), 100)
    return {"members": page, **more}


@method("conversations.history", *_HISTORY)
def history(call: Request) -> Json:
    """The messages at the top of a channel, newest first, in pages."""
    channel = _readable(call)
    top = [m for m in call.workspace.messages(channel.id) if not m.thread_ts or m.subtype == "thread_broadcast"]
    page, more = paged(call, list(reversed(_between(call, top))), 100)
    return {
        "messages": [call.message_json(message) for message in page],
        "has_more": bool(more),
        "pin_count": 0,
        **more,
    }


@method("conversations.replies", *_HISTORY)
def replies(call: Request) -> Json:
    """A thread: its root and then its replies, oldest first, in pages."""
    channel = _readable(call)
    asked = call.workspace.find(channel.id, call.need("ts"))
    if asked is None:
        raise SlackError("thread_not_found")
    root_ts = asked.thread_ts or asked.ts
    root = call.workspace.find(channel.id, root_ts)
    answers = _between(call, call.workspace.replies(channel.id, root_ts))
    page, more = paged(call, ([root] if root is not None else []) + answers, 1000)
    return {"messages": [call.message_json(message) for message in page], "has_more": bool(more), **more}


def paged(call: Request, items: Sequence[T], limit: int) -> tuple[list[T], Json]:
    """One page of a list, and the cursor of the next one if there is one."""
    start = int(call.text("cursor") or 0)
    stop = start + call.number("limit", limit)
    more = {"response_metadata": {"next_cursor": str(stop)}} if stop < len(items) else {}
    return list(items[start:stop]), more


def _readable(call: Request) -> Channel:
    channel = call.channel()
    if call.workspace.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _between(call: Request, messages: list[Message]) -> list[Message]:
    oldest, latest = call.text("oldest", "0"), call.text("latest", "9" * 12)
    edge = call.flag("inclusive")
    return [
        message
        for message in messages
        if float(oldest) < float(message.ts) < float(latest) or (edge and message.ts in (oldest, latest))
    ]


def _other_side(call: Request, channel: Channel) -> str:
    others = sorted(channel.members - {call.workspace.bot.id})
    return others[0] if channel.kind == "im" and others else ""
