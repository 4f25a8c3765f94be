"""Who the bot is in the workspace its token belongs to."""

from dataclasses import dataclass

from bot.adapters.slack.web import Json, Web


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


def _read(answer: Json) -> Identity:
    return Identity(
        team=str(answer["team_id"]),
        url=str(answer.get("url") or ""),
        user=str(answer["user_id"]),
        bot=str(answer.get("bot_id") or ""),
        name=str(answer.get("user") or "goodbot"),
    )
