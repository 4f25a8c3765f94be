"""The bot's user and workspace, by its token."""

from dataclasses import dataclass

from bot.adapters.slack.web import Json, Web
from bot.config import SlackSettings

LISTS = ("admins", "teachers", "allowed_users", "allowed_channels")
"""Settings of ids, which may name their workspace: `T0123/U0456`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What `auth.test` says of the token."""

    team: str
    url: str
    user: str
    bot: str
    name: str

    @property
    def workspace(self) -> str:
        """The workspace as memory names it."""
        return f"slack:{self.team}"


async def identify(web: Web) -> Identity:
    """Ask Slack whose token this is. Raises `MessengerError` kinds."""
    return _read(await web.call(web.client.auth_test, "the bot's token"))


def settings_in(team: str, settings: SlackSettings) -> SlackSettings:
    """The settings for one workspace: its own ids without their prefix; other workspaces' keep it and match nothing."""
    bare = {name: tuple(each.removeprefix(f"{team}/") for each in getattr(settings, name)) for name in LISTS}
    return settings.model_copy(update=bare)


def _read(answer: Json) -> Identity:
    return Identity(
        team=str(answer["team_id"]),
        url=str(answer.get("url") or ""),
        user=str(answer["user_id"]),
        bot=str(answer.get("bot_id") or ""),
        name=str(answer.get("user") or "goodbot"),
    )
