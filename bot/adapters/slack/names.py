"""What people are called in a Slack workspace."""

from bot.adapters.slack.web import Web

_AT_ONCE_S = 0.0
"""A name is a courtesy: nothing waits for it."""


async def name_of(web: Web, user: str) -> str:
    """Their display name, else their full one; nothing if they have none. Raises `MessengerError` kinds."""
    answer = await web.once(web.client.users_info, user, patience_s=_AT_ONCE_S, user=user)
    profile = answer["user"].get("profile") or {}
    return str(profile.get("display_name") or profile.get("real_name") or answer["user"].get("name") or "")
