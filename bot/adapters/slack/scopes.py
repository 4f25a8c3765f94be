"""The OAuth scopes the manifest asks for, and which calls and events need each.

The scopes of methods and events are those on their pages in docs.slack.dev/reference.
"""

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
    "usergroups:read": "admins and teachers by user group",
    "users:read": "telling guests and bots from members",
}
"""Every scope that is needed, and what does not work without it."""

_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")

METHODS: Mapping[str, tuple[str, ...]] = {
    "agents.sessions.setStatus": ("chat:write",),
    "apps.connections.open": (),  # the app's own token with connections:write
    "assistant.threads.setStatus": ("chat:write",),
    "auth.revoke": (),
    "auth.test": (),
    "bots.info": ("users:read",),
    "chat.appendStream": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.startStream": ("chat:write",),
    "chat.stopStream": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": _HISTORY,
    "conversations.info": _READ,
    "conversations.open": ("im:write",),
    "conversations.replies": _HISTORY,
    "files.completeUploadExternal": ("files:write",),
    "files.getUploadURLExternal": ("files:write",),
    "files.info": ("files:read",),
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "usergroups.users.list": ("usergroups:read",),
    "users.info": ("users:read",),
    "views.open": (),
    "views.publish": (),
}
"""Every Web API method the bot calls -> its scopes. Of the reading ones each is for one kind of conversation."""

EVENTS: Mapping[str, tuple[str, ...]] = {
    "agent_session_stopped": ("assistant:write",),  # which all of the agent's view needs
    "app_home_opened": (),
    "app_mention": ("app_mentions:read",),
    "app_uninstalled": (),
    "channel_shared": ("channels:read", "groups:read"),
    "channel_unshared": ("channels:read", "groups:read"),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
    "message.mpim": ("mpim:history",),
    "reaction_added": ("reactions:read",),
    "reaction_removed": ("reactions:read",),
    "tokens_revoked": (),
}
"""Every event the app subscribes to -> the scopes without which Slack does not send it."""
