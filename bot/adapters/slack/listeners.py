"""The slack-bolt app: which of Slack's payloads goes where. What has no place is acknowledged and dropped."""

import logging
import re
from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.adapters.slack import blocks
from bot.adapters.slack.acknowledging import Ack
from bot.adapters.slack.events import ends_installation
from bot.adapters.slack.home import Home
from bot.adapters.slack.identity import Identity
from bot.adapters.slack.intake import Intake
from bot.adapters.slack.interactions import Interactions
from bot.adapters.slack.web import Json, Web

EVENTS = (
    "message",
    "app_mention",
    "reaction_added",
    "reaction_removed",
    "agent_session_stopped",
    "app_home_opened",
    "app_uninstalled",
    "tokens_revoked",
)
"""What the app must be subscribed to (`message` stands for message.im, .mpim, .channels and .groups)."""

log = logging.getLogger(__name__)

_ANYTHING = re.compile(".*")


def make_app(
    web: Web,
    identity: Identity,
    *,
    signing_secret: str,
    command: str,
    intake: Intake,
    interactions: Interactions,
    home: Home,
    ended: Callable[[str], None],
) -> AsyncApp:
    """The app. It answers a payload when its listener is done, so that what is acknowledged is stored."""
    app = AsyncApp(
        logger=library_log(),
        name="goodbot",
        client=web.library_client,
        signing_secret=signing_secret,
        authorize=_authorize(web, identity),
        process_before_response=True,
        attaching_conversation_kwargs_enabled=False,
    )

    async def installation(body: Json) -> None:
        if why := ends_installation(body["event"], identity.user):
            ended(why)

    app.middleware(_note_dropped_events)
    app.event("message")(intake.message)
    app.event("app_mention")(intake.message)
    app.event(re.compile("reaction_(added|removed)"))(intake.reaction)
    app.event("agent_session_stopped")(intake.session_stopped)
    app.event("app_home_opened")(home.opened)
    app.event(re.compile("app_uninstalled|tokens_revoked"))(installation)
    app.event(_ANYTHING)(_ignore_event)
    app.action(blocks.VOTE)(interactions.vote)
    for action_id in (blocks.TELL, blocks.RETRY, blocks.NOT_NOW):
        app.action(action_id)(interactions.question_button)
    app.action(re.compile(f"{blocks.HOME_COMMAND}.+"))(home.pressed)
    app.action(_ANYTHING)(_ignore)
    app.view(blocks.CORRECTION_VIEW)(interactions.correction)
    app.view(blocks.TEACHING_VIEW)(interactions.teaching)
    app.view(_ANYTHING)(_ignore)
    app.shortcut(blocks.TEACH_SHORTCUT)(interactions.teach)
    app.shortcut(blocks.WHY_SHORTCUT)(interactions.why)
    app.shortcut(_ANYTHING)(_ignore)
    app.command(command)(interactions.slash)
    return app


def library_log() -> logging.Logger:
    """The log of slack-bolt and slack-sdk. Never in detail: they would write down what people say."""
    logger = logging.getLogger(f"{__name__}.library")
    logger.setLevel(logging.INFO)
    return logger


def _authorize(web: Web, identity: Identity) -> Callable[..., Awaitable[AuthorizeResult]]:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team,
            bot_user_id=identity.user,
            bot_id=identity.bot,
            bot_token=web.token,
        )

    return authorize


async def _note_dropped_events(body: Json, ack: Ack, next_: Callable[[], Awaitable[None]]) -> object:
    """Slack drops events of a workspace above 30,000 an hour, and says so once a minute."""
    if body.get("type") == "app_rate_limited":
        log.error("Slack drops events of this workspace: it has too many of them in this hour")
        return await ack()
    await next_()
    return None


async def _ignore_event() -> None:
    """An event of no interest."""


async def _ignore(ack: Ack) -> None:
    """A click of no interest."""
    await ack()
