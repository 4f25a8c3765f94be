"""The slack-bolt app: routes Slack's payloads to their handlers, and acknowledges and drops all others."""

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltContext
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore

from bot.adapters.slack.events import CHANNEL_EVENTS, Json
from bot.adapters.slack.incoming.acknowledgement import Ack
from bot.adapters.slack.incoming.home import HOME_COMMAND, Home
from bot.adapters.slack.incoming.intake import Intake
from bot.adapters.slack.incoming.interactions import Interactions
from bot.adapters.slack.outgoing import blocks
from bot.adapters.slack.outgoing.blocks import CHOICE, HOME_CHOICE
from bot.adapters.slack.web import Identity, Web, library_log

log = logging.getLogger(__name__)

_ANYTHING = re.compile(".*")
_LISTENERS = "goodbot_listeners"
_NOT_INSTALLED = "This app is not installed here any more: ask whoever installed it to do so again."


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceListeners:
    """The handlers of one workspace's payloads."""

    identity: Identity
    token: str = field(repr=False)
    intake: Intake
    interactions: Interactions
    home: Home


EventListener = Callable[[WorkspaceListeners], Callable[[Json], Awaitable[None]]]
"""Selects the handler of an event among a workspace's."""
ActionListener = Callable[[WorkspaceListeners], Callable[[Json], Coroutine[Any, Any, None]]]
"""Selects the handler of a click or command among a workspace's."""
EVENTS: Mapping[str, EventListener] = {
    "message": lambda workspace: workspace.intake.message,
    "app_mention": lambda workspace: workspace.intake.message,
    "reaction_added": lambda workspace: workspace.intake.reaction,
    "reaction_removed": lambda workspace: workspace.intake.reaction,
    "agent_session_stopped": lambda workspace: workspace.intake.session_stopped,
    "app_home_opened": lambda workspace: workspace.home.opened,
    "member_joined_channel": lambda workspace: workspace.intake.joined,
    **dict.fromkeys(CHANNEL_EVENTS, lambda workspace: workspace.intake.channel_changed),
}
"""The events the app must be subscribed to (`message`: message.im, .mpim, .channels, .groups), with `ENDS`."""
ENDS = ("app_uninstalled", "tokens_revoked")
_ACTIONS: Mapping[str | re.Pattern[str], ActionListener] = {
    blocks.VOTE: lambda workspace: workspace.interactions.vote,
    **dict.fromkeys(
        (blocks.TELL, blocks.RETRY, blocks.NOT_NOW), lambda workspace: workspace.interactions.question_button
    ),
    re.compile(f"{CHOICE}.+"): lambda workspace: workspace.interactions.choice,
    re.compile(f"({HOME_COMMAND}|{HOME_CHOICE}).+"): lambda workspace: workspace.home.pressed,
}

FindListeners = Callable[[str], Awaitable[WorkspaceListeners | None]]
"""The listeners of a workspace by its id; None where the app is not installed."""

Removed = Callable[[str, Json], Awaitable[None]]
"""Called with the workspace's id and the payload if Slack says that the app was removed or tokens were revoked."""


def make_app(web: Web, *, signing_secret: str, command: str, find: FindListeners, removed: Removed) -> AsyncApp:
    """The app. It acknowledges a payload when its handler is done, so that acknowledged payloads are stored."""
    app = AsyncApp(
        logger=library_log(),
        name="goodbot",
        client=web.library_client,
        signing_secret=signing_secret,
        authorize=_authorize(find),
        # Never used, but without one slack-bolt makes its own in the home directory if SLACK_CLIENT_ID is set.
        installation_store=AsyncInstallationStore(),
        user_facing_authorize_error_message=_NOT_INSTALLED,
        process_before_response=True,
        attaching_conversation_kwargs_enabled=False,
    )

    async def installation(context: AsyncBoltContext, body: Json) -> None:
        await removed(context.team_id or "", body)

    app.middleware(_note_dropped_events)
    for name, hear in EVENTS.items():
        app.event(name)(_event(hear))
    for name in ENDS:
        app.event(name)(installation)
    app.event(_ANYTHING)(_ignore_event)
    for action_id, act in _ACTIONS.items():
        app.action(action_id)(_act(act))
    app.action(_ANYTHING)(_ignore)
    app.view(blocks.CORRECTION_VIEW)(_act(lambda workspace: workspace.interactions.correction))
    app.view(blocks.TEACHING_VIEW)(_act(lambda workspace: workspace.interactions.teaching))
    app.view(blocks.ANSWER_VIEW)(_act(lambda workspace: workspace.interactions.answer))
    app.view(_ANYTHING)(_ignore)
    app.shortcut(blocks.TEACH_SHORTCUT)(_act(lambda workspace: workspace.interactions.teach))
    app.shortcut(blocks.WHY_SHORTCUT)(_act(lambda workspace: workspace.interactions.why))
    app.shortcut(_ANYTHING)(_ignore)
    app.command(command)(_act(lambda workspace: workspace.interactions.slash))
    return app


def _event(choose: EventListener) -> Callable[..., Awaitable[None]]:
    """A listener that passes an event to its workspace's handler."""

    async def listener(context: AsyncBoltContext, body: Json) -> None:
        await choose(context[_LISTENERS])(body)

    return listener


def _act(choose: ActionListener) -> Callable[..., Awaitable[None]]:
    """A listener that passes a click or command to its workspace's handler."""

    async def listener(context: AsyncBoltContext, ack: Ack, body: Json) -> None:
        listeners: WorkspaceListeners = context[_LISTENERS]
        await listeners.interactions.take(ack, body, choose(listeners))

    return listener


def _authorize(find: FindListeners) -> Callable[..., Awaitable[Any]]:
    """The function that gives slack-bolt the token for a payload, by its workspace."""

    async def authorize(context: AsyncBoltContext, team_id: str | None) -> AuthorizeResult | None:
        listeners = await find(team_id or "")
        if listeners is None:
            return None
        context[_LISTENERS] = listeners
        return AuthorizeResult(
            enterprise_id=None,
            team_id=listeners.identity.team,
            bot_user_id=listeners.identity.user,
            bot_id=listeners.identity.bot,
            bot_token=listeners.token,
        )

    return authorize


async def _note_dropped_events(body: Json, ack: Ack, next_: Callable[[], Awaitable[None]]) -> object:
    """Log Slack's notice that it drops events: above 30,000 an hour, told once a minute."""
    if body.get("type") == "app_rate_limited":
        log.error("Slack drops events of this workspace: it has too many of them in this hour")
        return await ack()
    await next_()
    return None


async def _ignore_event() -> None:
    """Ignore an event."""


async def _ignore(ack: Ack) -> None:
    """Acknowledge and ignore a click."""
    await ack()
