"""State as Slack's JSON: the objects that API answers and events have in common."""

import re
from typing import Any

from tests.doubles.slack.state import Channel, Ephemeral, HostedFile, Json, Message, User, View
from tests.doubles.slack.workspace import Workspace

_MENTION = re.compile(r"(<@[A-Z0-9]+>)")


def rich_text(text: str, block_id: str) -> list[Json]:
    """The blocks Slack makes of what a person typed: mentions are elements of their own."""
    elements: list[Json] = [
        {"type": "user", "user_id": piece[2:-1]} if _MENTION.fullmatch(piece) else {"type": "text", "text": piece}
        for piece in _MENTION.split(text)
        if piece
    ]
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": block_id, "elements": [section]}]


def user_json(user: User) -> Json:
    """As in `users.info`."""
    return {
        "id": user.id,
        "team_id": user.team_id,
        "name": user.name,
        "deleted": user.deleted,
        "color": "9f69e7",
        "real_name": user.real_name,
        "tz": "Europe/Amsterdam",
        "tz_label": "Central European Time",
        "tz_offset": 3600,
        "profile": {
            "title": "",
            "phone": "",
            "real_name": user.real_name,
            "real_name_normalized": user.real_name,
            "display_name": user.name,
            "display_name_normalized": user.name,
            "status_text": "",
            "status_emoji": "",
            "team": user.team_id,
            **({"bot_id": user.bot_id, "api_app_id": user.app_id} if user.bot_id else {}),
        },
        "is_admin": user.admin,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": bool(user.guest),
        "is_ultra_restricted": user.guest == "single",
        "is_bot": bool(user.bot_id),
        "is_app_user": False,
        "updated": 1_700_000_000,
        **({"is_stranger": True} if user.external else {}),
        **({"enterprise_user": {"id": user.id, "teams": list(user.teams)}} if user.teams else {}),
    }


def bot_profile(user: User) -> Json:
    """The `bot_profile` of a message by an app."""
    icons = {f"image_{size}": f"https://example.invalid/bot_{size}.png" for size in (36, 48, 72)}
    return {
        "id": user.bot_id,
        "deleted": False,
        "name": user.name,
        "updated": 1_700_000_000,
        "app_id": user.app_id,
        "icons": icons,
        "team_id": user.team_id,
    }


def channel_json(channel: Channel, bot_id: str, user: str = "") -> Json:
    """As in `conversations.info`."""
    if channel.kind == "im":
        return {
            "id": channel.id,
            "created": channel.created,
            "is_archived": channel.archived,
            "is_im": True,
            "is_org_shared": False,
            "user": user,
            "is_user_deleted": False,
            "is_open": True,
        }
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.kind == "group",
        "created": channel.created,
        "creator": channel.creator,
        "is_archived": channel.archived,
        "is_general": False,
        "is_shared": channel.shared,
        "is_ext_shared": channel.shared,
        "is_org_shared": False,
        "is_member": bot_id in channel.members,
        "num_members": len(channel.members),
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def file_json(file: HostedFile, team: str, base_url: str) -> Json:
    """A file as in a `file_share` message."""
    extension = file.name.rpartition(".")[2] if "." in file.name else "text"
    where = f"{base_url}/files-pri/{team}-{file.id}"
    return {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": file.mimetype,
        "filetype": extension,
        "pretty_type": extension.upper(),
        "user": file.user,
        "editable": False,
        "size": len(file.content),
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": True,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": f"{where}/{file.name}",
        "url_private_download": f"{where}/download/{file.name}",
        "permalink": f"https://{team.lower()}.slack.com/files/{file.user}/{file.id}/{file.name}",
        "has_rich_preview": False,
    }


def _stub(file: HostedFile) -> Json:
    """All that is said of a file in a Slack Connect channel: the rest is for `files.info`."""
    return {
        "id": file.id,
        "mode": "file_access",
        "file_access": "check_file_info",
        "created": 0,
        "timestamp": 0,
        "user": "",
    }


def message_json(workspace: Workspace, message: Message, base_url: str) -> Json:
    """A message as in `conversations.history` and inside events."""
    text = message.text
    if message.stream is not None:  # kept in Slack's dialect, not as it was sent
        text = text.replace("**", "*").replace("&", "&amp;").replace("🎉", ":tada:")
    body: Json = {"type": "message", "text": text, "ts": message.ts}
    named = ("subtype", "client_msg_id", "bot_id", "blocks", "edited", "metadata")
    body |= {name: getattr(message, name) for name in named if getattr(message, name)}
    if message.files:
        place = workspace.channels.get(message.channel)
        is_shared = place is not None and place.shared
        body["files"] = [
            _stub(file) if is_shared else file_json(file, workspace.id, base_url) for file in message.files
        ]
        body |= {"upload": False, "display_as_bot": False}
    return body | _author_fields(workspace, message) | _thread_fields(workspace, message) | _reaction_fields(message)


def _author_fields(workspace: Workspace, message: Message) -> Json:
    author = workspace.users.get(message.user)
    if message.subtype == "bot_message":
        return {"username": author.name if author is not None else ""}
    if author is None or message.subtype == "tombstone":
        return {"user": message.user}
    if not message.bot_id:
        return {"user": author.id, "team": author.team_id}
    return {"user": author.id, "team": author.team_id, "app_id": author.app_id, "bot_profile": bot_profile(author)}


def _thread_fields(workspace: Workspace, message: Message) -> Json:
    if message.thread_ts:
        root = workspace.find(message.channel, message.thread_ts)
        parent = {"parent_user_id": root.user} if root else {}
        return {"thread_ts": message.thread_ts, **parent}
    replies = workspace.replies(message.channel, message.ts)
    if not replies:
        return {}
    people = list(dict.fromkeys(reply.user for reply in replies))
    return {
        "thread_ts": message.ts,
        "reply_count": len(replies),
        "reply_users_count": len(people),
        "latest_reply": replies[-1].ts,
        "reply_users": people,
        "is_locked": False,
        "subscribed": False,
    }


def _reaction_fields(message: Message) -> Json:
    if not message.reactions:
        return {}
    return {
        "reactions": [
            {"name": name, "users": list(users), "count": len(users)} for name, users in message.reactions.items()
        ]
    }


def ephemeral_json(ephemeral: Ephemeral) -> Json:
    """What a person's client knows of an ephemeral message."""
    return {"type": "message", "text": ephemeral.text, "ts": ephemeral.ts, "blocks": ephemeral.blocks}


def view_json(workspace: Workspace, view: View) -> Json:
    """As in `views.open` and in interactive payloads."""
    body: dict[str, Any] = {
        "private_metadata": "",
        "callback_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        "close": None,
        "submit": None,
        "external_id": "",
        **view.body,
    }
    return body | {
        "id": view.id,
        "team_id": workspace.id,
        "state": {"values": {}},
        "hash": view.hash,
        "previous_view_id": view.previous_id or None,
        "root_view_id": view.root_id,
        "app_id": workspace.app_id,
        "app_installed_team_id": workspace.id,
        "bot_id": workspace.bot.bot_id,
    }
