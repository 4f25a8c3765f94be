"""The OAuth scopes the manifest asks for, and which events need each (docs.slack.dev/reference/events)."""

from collections.abc import Mapping

SCOPES: Mapping[str, str] = {
    "app_mentions:read": "hearing mentions",
    "assistant:write": "the agent's view with its status and stop button",
    "channels:history": "following threads in public channels",
    "channels:read": "telling public channels from private ones",
    "chat:write": "answering",
    "commands": "the slash command and the shortcuts",
    "files:read": "reading attached text files",
    "files:write": "handing over an export",
    "groups:history": "following threads in private channels",
    "groups:read": "the names of private channels",
    "im:history": "hearing direct messages",
    "im:read": "telling direct messages from channels",
    "im:write": "opening a direct message",
    "mpim:history": "hearing group direct messages",
    "mpim:read": "telling group direct messages from channels",
    "reactions:read": "hearing reactions such as 👍 and 👎",
    "reactions:write": "the 🧠 on answers that became lessons",
    "usergroups:read": "admins and teachers by user group, and the names of groups",
    "users:read": "telling guests and bots from members",
}
"""Every scope that is needed, and what does not work without it."""

EVENTS: Mapping[str, tuple[str, ...]] = {
    "agent_session_stopped": ("assistant:write",),  # which all of the agent's view needs
    "app_home_opened": (),
    "app_mention": ("app_mentions:read",),
    "app_uninstalled": (),
    "channel_shared": ("channels:read", "groups:read"),
    "channel_unshared": ("channels:read", "groups:read"),
    "member_joined_channel": ("channels:read", "groups:read"),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
    "message.mpim": ("mpim:history",),
    "reaction_added": ("reactions:read",),
    "reaction_removed": ("reactions:read",),
    "tokens_revoked": (),
}
"""Every event the app subscribes to -> the scopes without which Slack does not send it."""
