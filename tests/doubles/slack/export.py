"""The workspace as Slack exports it (zip): slack.com/help, "How to read Slack data exports"."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from tests.doubles.slack.state import Channel, Json, Message, User
from tests.doubles.slack.workspace import Workspace

_LISTS = {"channel": "channels.json", "group": "groups.json", "im": "dms.json", "mpim": "mpims.json"}


def export(workspace: Workspace, path: Path, *, pinned: frozenset[str] = frozenset()) -> Path:
    """Write everything that was said, with the messages of these time stamps pinned."""
    lists: dict[str, list[Json]] = {name: [] for name in _LISTS.values()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", json.dumps([_user(each) for each in workspace.users.values()]))
        for channel in workspace.channels.values():
            lists[_LISTS[channel.kind]].append(_channel(channel))
            days: dict[str, list[Json]] = {}
            for message in workspace.messages(channel.id):
                day = f"{datetime.fromtimestamp(float(message.ts), UTC):%Y-%m-%d}"
                days.setdefault(day, []).append(_message(message, workspace, is_pinned=message.ts in pinned))
            for day, messages in days.items():
                folder = channel.id if channel.kind == "im" else channel.name
                archive.writestr(f"{folder}/{day}.json", json.dumps(messages, indent=4))
        for name, channels in lists.items():
            archive.writestr(name, json.dumps(channels))
        archive.writestr("integration_logs.json", "[]")
    return path


def _user(user: User) -> Json:
    profile = {"real_name": user.real_name, "display_name": user.real_name}
    return {
        "id": user.id,
        "team_id": user.team_id,
        "name": user.name,
        "deleted": user.deleted,
        "is_bot": bool(user.bot_id),
        "profile": profile,
    }


def _channel(channel: Channel) -> Json:
    found = {"id": channel.id, "created": channel.created, "members": sorted(channel.members)}
    return found if channel.kind == "im" else found | {"name": channel.name, "is_archived": channel.archived}


def _message(message: Message, workspace: Workspace, *, is_pinned: bool) -> Json:
    thread = message.thread_ts or (message.ts if _has_replies(message, workspace) else "")
    found: Json = {"type": "message", "user": message.user, "text": message.text, "ts": message.ts}
    found |= {"thread_ts": thread} if thread else {}
    found |= {"subtype": message.subtype} if message.subtype else {}
    found |= {"bot_id": message.bot_id} if message.bot_id else {}
    found |= {"pinned_to": [message.channel]} if is_pinned else {}
    if message.reactions:
        found["reactions"] = [
            {"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()
        ]
    return found


def _has_replies(message: Message, workspace: Workspace) -> bool:
    return any(each.thread_ts == message.ts for each in workspace.messages(message.channel))
