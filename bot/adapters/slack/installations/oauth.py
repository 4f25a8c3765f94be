"""The two web pages that install the app in a workspace: slack-bolt's OAuth flow over our stores.

A person opens `/slack/install`, agrees at Slack, and returns to `/slack/oauth_redirect` with a code for a token and the
state that we issued. The state must be in their browser's cookie too, and is valid once within ten minutes
(docs.slack.dev/authentication/installing-with-oauth).
"""

import html
import logging
from collections.abc import Awaitable, Callable

import aiohttp
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackClientError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.slack.installations.installations import STATE_GOOD_FOR_S, Installations
from bot.adapters.slack.installations.scopes import SCOPES
from bot.adapters.slack.web import library_log
from bot.config import SlackSettings
from bot.errors import MessengerError

log = logging.getLogger(__name__)

INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"

Keep = Callable[[Installation], Awaitable[None]]

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_WHY = {
    "access_denied": "Nothing was installed, for you did not agree at Slack.",
    "invalid_browser": "This is not the browser that the installation was begun in, or its cookies are switched off.",
    "invalid_state": "This attempt is too old, or was finished before.",
    "missing_code": "Slack did not send what is needed to finish.",
    "invalid_code": "Slack did not accept this attempt.",
}
_UNREACHABLE = "Slack or this bot's storage cannot be reached at the moment. Try again in a minute."


class _Refused(BoltError):
    """An installation that the bot cannot use; the text tells the person why."""


class _States(AsyncOAuthStateStore):
    """OAuth states behind slack-sdk's interface."""

    def __init__(self, installations: Installations) -> None:
        self._installations = installations

    async def async_issue(self, *args: object, **kwargs: object) -> str:
        return await self._installations.new_state()

    async def async_consume(self, state: str) -> bool:
        return await self._installations.use_state(state)


class _Flow(AsyncOAuthFlow):
    """slack-bolt's OAuth flow. It stores installations that the bot can use, and revokes the tokens of others."""

    def __init__(self, client: AsyncWebClient, settings: AsyncOAuthSettings, keep: Keep) -> None:
        # Errors only: slack-bolt's warnings quote the code.
        logger = library_log().getChild("oauth")
        logger.setLevel(logging.ERROR)
        super().__init__(client=client, logger=logger, settings=settings)
        self._keep = keep

    async def store_installation(self, request: AsyncBoltRequest, installation: Installation) -> None:
        if why := _why_not(installation):
            if installation.bot_token:
                await self._hand_back(installation.bot_token)
            raise _Refused(why)
        await self._keep(installation)

    async def _hand_back(self, token: str) -> None:
        try:
            await self.client.auth_revoke(token=token)
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("could not revoke an unused token: %s", error)


def oauth_pages(
    settings: SlackSettings, installations: Installations, client: AsyncWebClient, keep: Keep
) -> list[web.RouteDef]:
    """The routes of the pages. `client` has no token; `keep` stores an installation, or raises `MessengerError`."""
    flow = _Flow(client, _oauth_settings(settings, installations), keep)

    async def install(request: web.Request) -> web.Response:
        return await _answered(flow.handle_installation, request)

    async def callback(request: web.Request) -> web.Response:
        return await _answered(flow.handle_callback, request)

    return [web.get(INSTALL_PATH, install, allow_head=False), web.get(REDIRECT_PATH, callback, allow_head=False)]


def _oauth_settings(settings: SlackSettings, installations: Installations) -> AsyncOAuthSettings:
    return AsyncOAuthSettings(
        client_id=settings.client_id,
        client_secret=settings.client_secret.get_secret_value(),
        scopes=sorted(SCOPES),
        user_scopes=[],
        redirect_uri=f"{settings.public_url}{REDIRECT_PATH}" if settings.public_url else None,
        install_path=INSTALL_PATH,
        redirect_uri_path=REDIRECT_PATH,
        # https://slack.com/api/ -> https://slack.com/oauth/v2/authorize
        authorization_url=f"{settings.api_url.removesuffix('api/')}oauth/v2/authorize",
        # Not used for saving and finding, as the library would do that on the event loop.
        installation_store=AsyncInstallationStore(),
        state_store=_States(installations),
        state_expiration_seconds=STATE_GOOD_FOR_S,
        callback_options=AsyncCallbackOptions(success=_succeeded, failure=_failed),
        logger=library_log(),
    )


def _why_not(installation: Installation) -> str:
    """Why the bot cannot use an installation; empty if it can."""
    if installation.is_enterprise_install or not installation.team_id:
        return "Goodbot cannot be installed for a whole organisation: choose one of its workspaces."
    if not installation.bot_token:
        return "Slack gave no bot token."
    if installation.bot_refresh_token:
        return "This app has token rotation switched on, which Goodbot does not support: switch it off at Slack."
    return ""


async def _answered(
    handle: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], request: web.Request
) -> web.Response:
    try:
        answer = await to_aiohttp_response(await handle(await to_bolt_request(request)))
    except (MessengerError, SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        log.error("an installation failed: %s", error)
        answer = await to_aiohttp_response(_page(502, "Not installed", _UNREACHABLE))
    answer.headers.update(_HEADERS)
    return answer


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    return await args.default.success(args)


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    why = str(args.error) if isinstance(args.error, _Refused) else _WHY.get(args.reason)
    log.warning("an installation was not completed: %.80r", why or args.reason)
    status = 403 if isinstance(args.error, _Refused) else args.suggested_status_code
    return _page(status, "Not installed", why or f"Slack says: {args.reason[:80]}")


def _page(status: int, title: str, text: str) -> BoltResponse:
    body = (
        f"<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(text)}</p>"
        f'<p><a href="{INSTALL_PATH}">Begin again</a></p></html>\n'
    )
    return BoltResponse(status=status, body=body, headers={"Content-Type": "text/html; charset=utf-8"})
