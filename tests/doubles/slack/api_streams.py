"""`chat.startStream`, `appendStream`, `stopStream`: one message that grows."""

from tests.doubles.slack import events
from tests.doubles.slack.api_agents import set_session
from tests.doubles.slack.api_chat import new_message, own_message, publish
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.limits import MARKDOWN_LIMIT, MESSAGE_BLOCKS
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Json, Message, Stream

STREAM_LIMIT = 12_000
"""Characters of one streamed message, all appends together."""
_CHUNKS = {
    "markdown_text": ("text",),
    "task_update": ("id", "title", "status"),
    "plan_update": ("title",),
    "blocks": (),
}


@method("chat.startStream", "chat:write")
def start_stream(call: Request) -> Json:
    """Start a stream: only in a thread, and in a channel only for a named person."""
    channel = call.channel(to_write=True)
    if not call.text("thread_ts"):
        raise SlackError("invalid_arguments", "missing required field: thread_ts")
    if channel.kind != "im":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not call.text(name):
                raise SlackError(f"missing_{name}")
    message = new_message(call, channel, "", [])
    message.stream, message.is_markdown = Stream(), True
    _grow(call, message, message.stream)
    publish(call.slack, call.workspace, channel, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.appendStream", "chat:write")
def append_stream(call: Request) -> Json:
    """Add to a stream."""
    channel = call.channel(to_write=True)
    message, stream = _open_stream(call)
    if not call.text("markdown_text") and not call.parsed("chunks"):
        raise SlackError("no_text")
    _grow(call, message, stream)
    stream.appends += 1
    return {"channel": channel.id, "ts": message.ts}


@method("chat.stopStream", "chat:write")
def stop_stream(call: Request) -> Json:
    """End a stream, with blocks under it."""
    channel = call.channel(to_write=True)
    message, stream = _open_stream(call)
    blocks = call.parsed("blocks", [])
    if len(blocks) > MESSAGE_BLOCKS:
        raise SlackError("invalid_blocks", f"no more than {MESSAGE_BLOCKS} items allowed [json-pointer:/blocks]")
    accepted = call.slack.accept_blocks(blocks)
    before = call.message_json(message)
    _grow(call, message, stream)
    message.blocks, message.metadata, stream.state = accepted, call.parsed("metadata"), "stopped"
    if call.text("session_status"):
        set_session(call, channel.id, message.thread_ts, call.text("session_status"))
    ts, base = call.slack.stamps.ts(), call.slack.base_url
    call.slack.echo(call.workspace, events.changed(call.workspace, channel, message, before, ts, base), channel)
    return {"channel": channel.id, "ts": message.ts, "message": call.message_json(message)}


def _open_stream(call: Request) -> tuple[Message, Stream]:
    message = own_message(call, call.channel(), "message_not_owned_by_app")
    if message.stream is None or message.stream.state in ("stopped", "expired"):
        raise SlackError("message_not_in_streaming_state")
    if message.stream.state == "stopped_by_user":
        raise SlackError("stopped_by_user")
    return message, message.stream


def _grow(call: Request, message: Message, stream: Stream) -> None:
    """Take in `markdown_text` or chunks; a stream keeps to the one it began with."""
    markdown, chunks = call.text("markdown_text"), call.parsed("chunks", [])
    if len(markdown) > MARKDOWN_LIMIT:
        raise SlackError("msg_too_long")
    mode = "text" if markdown else "chunks" if chunks else ""
    if (markdown and chunks) or (mode and stream.mode not in ("", mode)):
        raise SlackError("streaming_mode_mismatch")
    for chunk in chunks:
        missing = [name for name in _CHUNKS.get(chunk.get("type"), ("type",)) if name not in chunk]
        if chunk.get("type") not in _CHUNKS or missing:
            raise SlackError("invalid_chunks", f"{chunk}: {missing}")
    added = markdown + "".join(chunk["text"] for chunk in chunks if chunk["type"] == "markdown_text")
    if len(message.text) + len(added) > STREAM_LIMIT:
        raise SlackError("msg_too_long")
    stream.mode = stream.mode or mode
    stream.chunks.extend(chunks)
    message.text += added
