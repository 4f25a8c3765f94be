"""`chat.*`: messages of the bot."""

from tests.doubles.slack import events
from tests.doubles.slack.core import Slack
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.limits import MARKDOWN_LIMIT, UPDATE_TEXT_LIMIT, visible_text
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Channel, Ephemeral, Json, Message
from tests.doubles.slack.workspace import Workspace


@method("chat.postMessage", "chat:write")
def post_message(call: Request) -> Json:
    """A new message, at the top of a channel or in a thread."""
    channel = call.channel(to_write=True)
    text, blocks, warnings = said(call)
    message = new_message(call, channel, text, blocks)
    message.subtype = "thread_broadcast" if message.thread_ts and call.flag("reply_broadcast") else ""
    message.is_markdown = bool(call.text("markdown_text"))
    message.metadata = call.parsed("metadata")
    publish(call.slack, call.workspace, channel, message)
    body = {"channel": channel.id, "ts": message.ts, "message": call.message_json(message)}
    return body | with_warnings(warnings)


@method("chat.update", "chat:write")
def update(call: Request) -> Json:
    """Change one of the bot's own messages. Its blocks stay unless `blocks` (or `markdown_text`) replaces them."""
    channel = call.channel(to_write=True)
    message = own_message(call, channel, "cant_update_message")
    if message.stream is not None and message.stream.state == "open":
        raise SlackError("streaming_state_conflict")
    if len(call.text("text")) > UPDATE_TEXT_LIMIT:
        raise SlackError("msg_too_long")
    text, blocks, warnings = said(call)
    before = call.message_json(message)
    message.edits.append(message.text)
    message.text = text or message.text
    message.is_markdown = bool(call.text("markdown_text"))
    if "blocks" in call.args or message.is_markdown:
        message.blocks = blocks
    message.sent = {**message.sent, **call.args}
    if "metadata" in call.args:
        message.metadata = call.parsed("metadata")
    ts = call.slack.stamps.ts()
    if not blocks:
        message.edited = {"user": call.workspace.bot.id, "ts": ts}
    event = events.changed(call.workspace, channel, message, before, ts, call.slack.base_url)
    call.slack.echo(call.workspace, event, channel)
    body = {"channel": channel.id, "ts": message.ts, "text": message.text, "message": call.message_json(message)}
    return body | with_warnings(warnings)


@method("chat.delete", "chat:write")
def delete(call: Request) -> Json:
    """Delete one of the bot's own messages."""
    channel = call.channel()
    message = own_message(call, channel, "cant_delete_message")
    if message.stream is not None and message.stream.state == "open":
        raise SlackError("cant_delete_message")
    before = call.message_json(message)
    call.workspace.drop(message)
    call.slack.echo(call.workspace, events.deleted(channel, before, call.slack.stamps.ts()), channel)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.postEphemeral", "chat:write")
def post_ephemeral(call: Request) -> Json:
    """A message for one person in the channel. Its `message_ts` is no address for any other method."""
    channel = call.channel(to_write=True)
    user = call.need("user")
    if user not in call.workspace.users:
        raise SlackError("user_not_found")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    text, blocks, _ = said(call)
    thread_ts = thread_of(call, channel)
    ephemeral = Ephemeral(
        channel=channel.id, user=user, ts=call.slack.stamps.ts(), text=text, blocks=blocks, thread_ts=thread_ts
    )
    call.workspace.ephemerals.append(ephemeral)
    return {"message_ts": ephemeral.ts}


@method("chat.getPermalink")
def get_permalink(call: Request) -> Json:
    """The address of a message in a browser."""
    channel = call.channel()
    message = call.workspace.message(channel.id, call.need("message_ts"))
    link = f"https://{call.workspace.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def said(call: Request) -> tuple[str, list[Json], list[str]]:
    """Text, blocks and warnings of a call that says something. Raises `no_text` and the limits' errors."""
    text, markdown = call.text("text"), call.text("markdown_text")
    blocks = call.parsed("blocks", [])
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    if markdown and (text or blocks):
        raise SlackError("markdown_text_conflict")
    if len(markdown) > MARKDOWN_LIMIT:
        raise SlackError("msg_too_long")
    if not (text.strip() or markdown.strip() or blocks or call.parsed("attachments")):
        raise SlackError("no_text")
    kept, warnings = visible_text(text or markdown)
    return kept, call.slack.accept_blocks(blocks), warnings


def thread_of(call: Request, channel: Channel) -> str:
    """The thread a call goes to. Slack wants the root's ts: raises `cannot_reply_to_message` for any other."""
    thread_ts = call.text("thread_ts")
    if not thread_ts:
        return ""
    root = call.workspace.find(channel.id, thread_ts)
    if root is None or root.thread_ts:
        raise SlackError("cannot_reply_to_message")
    return thread_ts


def new_message(call: Request, channel: Channel, text: str, blocks: list[Json]) -> Message:
    """A message of the bot, not yet there."""
    bot = call.workspace.bot
    return Message(
        channel=channel.id,
        ts=call.slack.stamps.ts(),
        user=bot.id,
        bot_id=bot.bot_id,
        text=text,
        blocks=blocks,
        thread_ts=thread_of(call, channel),
        sent=dict(call.args),
    )


def publish(slack: Slack, workspace: Workspace, channel: Channel, message: Message) -> None:
    """It is there now: everybody sees it, and the thread's status line goes."""
    workspace.keep(message)
    _clear_status(workspace, message)
    slack.echo(workspace, events.posted(workspace, channel, message, slack.base_url), channel)


def own_message(call: Request, channel: Channel, refusal: str) -> Message:
    """The bot's message that a call names. Raises `message_not_found`, or the refusal for somebody else's."""
    message = call.workspace.message(channel.id, call.need("ts"))
    if message.user != call.workspace.bot.id:
        raise SlackError(refusal)
    return message


def with_warnings(warnings: list[str]) -> Json:
    """The fields that carry warnings."""
    return {"warning": ",".join(warnings), "response_metadata": {"warnings": warnings}} if warnings else {}


def _clear_status(workspace: Workspace, message: Message) -> None:
    """`assistant.threads.setStatus` is cleared by a reply; a session's status is not."""
    shown = workspace.status(message.channel, message.thread_ts)
    if message.thread_ts and shown and shown != "processing":
        last = next(s for s in reversed(workspace.statuses) if s.thread_ts == message.thread_ts)
        last.status = ""
