"""Events API bodies, field for field as Slack sends them."""

from tests.doubles.slack.render import message_json
from tests.doubles.slack.stamps import Stamps
from tests.doubles.slack.state import Channel, Json, Message, User
from tests.doubles.slack.workspace import Workspace

VERIFICATION_TOKEN = "verification-token"


def callback(workspace: Workspace, event: Json, stamps: Stamps, channel: Channel | None = None) -> Json:
    """The `event_callback` around an event."""
    kind = "1-" + ("message" if event["type"] == "message" else event["type"])
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": workspace.id,
        "context_team_id": workspace.id,
        "context_enterprise_id": None,
        "api_app_id": workspace.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": stamps.id("Ev"),
        "event_time": int(float(event.get("event_ts", stamps.ts()))),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": workspace.id,
                "user_id": workspace.bot.id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": bool(channel and channel.shared),
        "event_context": f"{kind}-{workspace.id}-{channel.id if channel else workspace.id}",
    }


def posted(workspace: Workspace, channel: Channel, message: Message, base_url: str) -> Json:
    """A `message` event: a new message of anyone."""
    body = message_json(workspace, message, base_url)
    for only_in_history in ("reply_count", "reply_users_count", "latest_reply", "reply_users", "is_locked"):
        body.pop(only_in_history, None)
    body.pop("subscribed", None)
    if message.subtype in ("file_share", "thread_broadcast"):
        body.pop("team", None)
    if message.subtype == "thread_broadcast":
        root = workspace.message(message.channel, message.thread_ts)
        body["root"] = message_json(workspace, root, base_url)
    return body | _place(channel, message.ts) | _foreign(workspace, channel, workspace.users.get(message.user))


def mentioned(workspace: Workspace, channel: Channel, message: Message, base_url: str) -> Json:
    """The `app_mention` event of a message; it has no `channel_type`."""
    event = posted(workspace, channel, message, base_url) | {"type": "app_mention"}
    for only_in_message in ("subtype", "channel_type", "root"):
        event.pop(only_in_message, None)
    return event


def changed(workspace: Workspace, channel: Channel, now: Message, before: Json, ts: str, base_url: str) -> Json:
    """`message_changed`; `before` is the message as JSON before the change."""
    message = message_json(workspace, now, base_url)
    message |= {"source_team": workspace.id, "user_team": message.get("team", workspace.id)}
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": message,
        "previous_message": before,
        "hidden": True,
        **_place(channel, ts),
        "ts": ts,
    }


def deleted(channel: Channel, before: Json, ts: str) -> Json:
    """`message_deleted`."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": before,
        "hidden": True,
        "deleted_ts": before["ts"],
        **_place(channel, ts),
        "ts": ts,
    }


def reaction(message: Message, user: str, name: str, ts: str, *, added: bool) -> Json:
    """`reaction_added` or `reaction_removed`. A message made through a webhook has no author to name."""
    event = {
        "type": "reaction_added" if added else "reaction_removed",
        "user": user,
        "item": {"type": "message", "channel": message.channel, "ts": message.ts},
        "reaction": name,
        "event_ts": ts,
    }
    return event | ({"item_user": message.user} if message.user and message.subtype != "bot_message" else {})


def joined(workspace: Workspace, channel: Channel, user: str, ts: str, *, inviter: str = "") -> Json:
    """`member_joined_channel`."""
    by = {"inviter": inviter} if inviter else {}
    return _membership("member_joined_channel", workspace, channel, user, ts) | by


def left(workspace: Workspace, channel: Channel, user: str, ts: str) -> Json:
    """`member_left_channel`."""
    return _membership("member_left_channel", workspace, channel, user, ts)


def channel_joined_message(workspace: Workspace, channel: Channel, user: User, ts: str) -> Json:
    """The message of subtype `channel_join` that stands in the channel."""
    return {
        "type": "message",
        "subtype": "channel_join",
        "team": workspace.id,
        "user": user.id,
        "text": f"<@{user.id}> has joined the channel",
        "ts": ts,
        **_place(channel, ts),
    }


def archived(channel: Channel, user: str, ts: str) -> Json:
    """`channel_archive`, `group_archive`."""
    kind = "channel_archive" if channel.kind == "channel" else "group_archive"
    return {"type": kind, "channel": channel.id, "user": user, "event_ts": ts}


def converted(channel: Channel, user: str, ts: str) -> Json:
    """The message that stands in a channel that was made private, or public again. It has no team."""
    kind = "private" if channel.kind == "group" else "public"
    return {
        "type": "message",
        "subtype": f"channel_convert_to_{kind}",
        "user": user,
        "text": f"made this channel *{kind}*.",
        "ts": ts,
        **_place(channel, ts),
    }


def renamed(channel: Channel, old_name: str, user: str, ts: str) -> Json:
    """The message that stands in a channel that got another name."""
    return {
        "type": "message",
        "subtype": "channel_name" if channel.kind == "channel" else "group_name",
        "user": user,
        "old_name": old_name,
        "name": channel.name,
        "text": f'has renamed the channel from "{old_name}" to "{channel.name}"',
        "ts": ts,
        **_place(channel, ts),
    }


def sharing(channel: Channel, other_team: str, ts: str) -> Json:
    """`channel_shared` or `channel_unshared`; nobody is named."""
    if channel.shared:
        return {"type": "channel_shared", "connected_team_id": other_team, "channel": channel.id, "event_ts": ts}
    return {
        "type": "channel_unshared",
        "previously_connected_team_id": other_team,
        "channel": channel.id,
        "is_ext_shared": False,
        "event_ts": ts,
    }


def home_opened(channel: str, user: str, tab: str, view: Json | None, ts: str) -> Json:
    """`app_home_opened`; the Home tab brings the view that was published last."""
    event = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab, "event_ts": ts}
    return event | ({"view": view} if view is not None else {})


def session_stopped(channel: str, thread_ts: str, user: str, streams: list[str], ts: str) -> Json:
    """`agent_session_stopped`: somebody pressed the native stop button."""
    return {
        "type": "agent_session_stopped",
        "channel": channel,
        "thread_ts": thread_ts,
        "user": user,
        "streaming_message_ts": streams,
        "event_ts": ts,
    }


def uninstalled() -> Json:
    """`app_uninstalled`."""
    return {"type": "app_uninstalled"}


def tokens_revoked(workspace: Workspace) -> Json:
    """`tokens_revoked`, naming the bot's user."""
    return {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [workspace.bot.id]}}


def rate_limited(workspace: Workspace, minute: int) -> Json:
    """The body of `app_rate_limited`: alone among events it stands at the top, not in a callback."""
    return {
        "token": VERIFICATION_TOKEN,
        "type": "app_rate_limited",
        "team_id": workspace.id,
        "minute_rate_limited": minute,
        "api_app_id": workspace.app_id,
    }


def _membership(kind: str, workspace: Workspace, channel: Channel, user: str, ts: str) -> Json:
    letter = {"channel": "C", "group": "G"}.get(channel.kind, "D")
    return {
        "type": kind,
        "user": user,
        "channel": channel.id,
        "channel_type": letter,
        "team": workspace.id,
        "event_ts": ts,
    }


def _place(channel: Channel, ts: str) -> Json:
    return {"channel": channel.id, "event_ts": ts, "channel_type": channel.kind}


def _foreign(workspace: Workspace, channel: Channel, author: User | None) -> Json:
    """In a channel shared with another workspace, messages say whose people wrote them."""
    if not channel.shared or author is None:
        return {}
    profile = {
        "name": author.name,
        "first_name": author.real_name,
        "real_name": author.real_name,
        "display_name": author.name,
        "team": author.team_id,
        "is_restricted": bool(author.guest),
        "is_ultra_restricted": author.guest == "single",
        "avatar_hash": "",
        "image_72": "",
    }
    return {"user_team": author.team_id, "source_team": author.team_id, "user_profile": profile}
