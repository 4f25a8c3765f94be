"""The checks of Slack for `goodbot doctor`: with the bot's own tokens, read-only, without receiving events.

No WebSocket is opened: while the bot runs, Slack would give some of its events to the doctor.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.adapters.check_result import CheckResult, clock_result, failed, passed, request_failed, warning, who_decides
from bot.adapters.flow_control import Sleep
from bot.adapters.slack.connection import EVENTS_PATH
from bot.adapters.slack.directory import OWNERS
from bot.adapters.slack.events import Json
from bot.adapters.slack.installations.scopes import EVENTS, SCOPES
from bot.adapters.slack.web import Method, Web, code_of
from bot.config import SlackSettings
from bot.conversation.counts import count
from bot.errors import ChannelNotFound, ConfigError, MessengerError, MessengerUnavailable
from memory.ports import Clock

if TYPE_CHECKING:
    from bot.adapters.slack.installations.database import InstallationDatabase

TOKENS, ACCOUNT, GRANTED, CONNECTION, SUBSCRIBED, CHANNELS, CLOCK, COMMAND, TEACHERS, INSTALLED = (
    f"GB02{number}" for number in range(10)
)

APPS = "api.slack.com/apps"
_SIGNATURE_AGE = timedelta(minutes=5)
"""Slack's signed requests are refused when they are older (docs.slack.dev, "Verifying requests from Slack")."""
_MANIFEST_COMMAND = "/goodbot"
_UNSIGNED, _NOT_ALLOWED = 401, 405
_NETWORK = "check the network, the proxy (HTTPS_PROXY) and SLACK_API_URL, and run goodbot doctor again"
_REMEDIES = {
    "invalid_auth": f'copy the "Bot User OAuth Token" from {APPS}, page "OAuth & Permissions", into SLACK_BOT_TOKEN',
    "account_inactive": f'install the app again on {APPS}, page "Install App", and set its new token',
    "token_revoked": f'install the app again on {APPS}, page "Install App", and set its new token',
    "token_expired": 'switch "token rotation" off on the page "OAuth & Permissions", and set the new token',
}
PASTE = f'paste config/slack-manifest.json on {APPS}, page "App Manifest", and install the app again'
_APP_TOKEN = f'make an app-level token with the scope connections:write on {APPS}, page "Basic Information"'


def token_findings(settings: SlackSettings) -> list[CheckResult]:
    """Whether the tokens that the mode needs are set and of the right kind. Makes no request."""
    bot, app = settings.bot_token.get_secret_value(), settings.app_token.get_secret_value()
    found = []
    if has_several_workspaces(settings):
        found += _oauth_findings(settings)
    elif not bot:
        where = f'copy it from {APPS}, page "OAuth & Permissions", into SLACK_BOT_TOKEN'
        found.append(failed(TOKENS, "there is an app token or a signing secret for Slack, and no bot token", where))
    elif not bot.startswith("xoxb-"):
        kind = "a person's token" if bot.startswith("xoxp-") else "no bot token, which begins with xoxb-"
        found.append(failed(TOKENS, f"SLACK_BOT_TOKEN is {kind}", _REMEDIES["invalid_auth"]))
    if settings.mode == "socket" and not app.startswith("xapp-"):
        what = "SLACK_APP_TOKEN is no app-level token, which begins with xapp-" if app else "SLACK_APP_TOKEN is not set"
        found.append(failed(TOKENS, f"Socket Mode needs an app token: {what}", f"{_APP_TOKEN}, into SLACK_APP_TOKEN"))
    if settings.mode == "http" and not settings.signing_secret.get_secret_value():
        remedy = f'copy the "Signing Secret" from {APPS}, page "Basic Information", into SLACK_SIGNING_SECRET'
        found.append(failed(TOKENS, "mode http needs a signing secret, and SLACK_SIGNING_SECRET is not set", remedy))
    first = "client id and secret, token key" if has_several_workspaces(settings) else "bot token"
    second = "app token" if settings.mode == "socket" else "signing secret"
    return found or [passed(TOKENS, f"{first} and {second} for Slack are set")]


def has_several_workspaces(settings: SlackSettings) -> bool:
    """Whether workspaces install the app by themselves, instead of one whose token is set."""
    return bool(settings.client_id) and not settings.bot_token.get_secret_value()


def _oauth_findings(settings: SlackSettings) -> list[CheckResult]:
    # These bring a database's library with them, which one token does not need.
    from bot.adapters.slack.installations.encryption import TokenCipher
    from bot.adapters.slack.installations.workspaces import check_oauth

    try:
        TokenCipher(settings.token_key)
        check_oauth(settings)
    except ConfigError as error:
        page = f'{APPS}, page "Basic Information"'
        remedy = f'client id and secret are on {page}; see "Several workspaces" in config/README.md'
        return [failed(TOKENS, str(error), remedy)]
    return []


class SlackHealthChecks:
    """Runs the checks. `timeout_s` is the time limit of one request."""

    def __init__(
        self,
        settings: SlackSettings,
        *,
        clock: Clock,
        timeout_s: float = 10.0,
        sleep: Sleep = asyncio.sleep,
        named_in_chat: Sequence[str] = (),
        database: "InstallationDatabase | None" = None,
    ) -> None:
        self._settings = settings
        self._database = database
        self._named_in_chat = named_in_chat
        self._clock = clock
        self._timeout_s = timeout_s
        self._headers: dict[str, str] = {}
        self._web = Web(
            token=settings.bot_token.get_secret_value(),
            api_url=settings.api_url,
            max_wait_s=timeout_s,
            sleep=sleep,
            gone=lambda code: None,
        )

    async def results(self) -> list[CheckResult]:
        """Every result, in order of code. Never raises: a failed request is a result too."""
        found = token_findings(self._settings)
        if not all(result.ok for result in found):
            return found
        await self._web.open()
        try:
            if has_several_workspaces(self._settings):
                return [*found, *await self._of_several()]
            try:
                identity = await self._ask(self._web.client.auth_test, "the bot's token")
            except MessengerError as error:
                return [*found, _not_asked(ACCOUNT, error)]
            found.append(passed(ACCOUNT, f"the bot is @{identity.get('user')} in {identity.get('team')}"))
            date = self._headers.get("date", "")
            granted_scopes = self._headers.get("x-oauth-scopes", "")
            found.append(_granted(granted_scopes))
            found.append(await (self._socket(identity) if self._settings.mode == "socket" else self._port(EVENTS_PATH)))
            found.append(_subscribed(granted_scopes))
            found += await self._channels(str(identity.get("user")))
        finally:
            await self._web.close()
        found.append(self._compared(date))
        found.append(self._command())
        found.append(self._teachers())
        return found

    async def _of_several(self) -> list[CheckResult]:
        """The checks that need no workspace's token, for several workspaces."""
        from bot.adapters.slack.installations.oauth import INSTALL_PATH

        pages = await self._port(INSTALL_PATH)
        socket = [await self._socket({})] if self._settings.mode == "socket" else []
        address = self._settings.public_url or "the address that leads to this machine"
        what = f"workspaces install the app at {address}{INSTALL_PATH}; each one's token is tried when it is used"
        found = [
            passed(ACCOUNT, what),
            *socket,
            pages,
            await self._clock_of_several(),
            self._command(),
            self._teachers(),
        ]
        return [*found, await self._installed(self._database)] if self._database is not None else found

    async def _installed(self, database: "InstallationDatabase") -> CheckResult:
        """Whether this process's token key decrypts all stored tokens."""
        from bot.adapters.slack.installations.encryption import TokenCipher
        from bot.adapters.slack.installations.installations import Installations

        settings = self._settings
        kept = Installations(
            database, client_id=settings.client_id, cipher=TokenCipher(settings.token_key), clock=self._clock
        )
        try:
            number = await kept.check()
        except ConfigError as error:
            remedy = "give every process the same GOODBOT_SLACK_TOKEN_KEY; a new key goes behind the old one first"
            return failed(INSTALLED, str(error), remedy)
        except MessengerUnavailable as error:
            return failed(INSTALLED, str(error), "see the message")
        finally:
            kept.close()
        found = f"{count(number, 'workspace')} installed the app, and the token key reads every token"
        return passed(INSTALLED, found if number else "no workspace installed the app yet")

    async def _clock_of_several(self) -> CheckResult:
        """Compare clocks by the date of Slack's refusal, as there is no token."""
        try:
            await self._ask(self._web.client.auth_test, "the time")
        except MessengerError as error:
            refusal = error.__cause__
            if not isinstance(refusal, SlackApiError):
                return _not_asked(CLOCK, error)
            self._headers = {name.lower(): value for name, value in refusal.response.headers.items()}
        return self._compared(self._headers.get("date", ""))

    def _compared(self, date: str) -> CheckResult:
        limit = _SIGNATURE_AGE if self._settings.mode == "http" else None
        return clock_result(CLOCK, "Slack", date, self._clock(), limit=limit)

    async def _ask(self, method: Method, about: str, **arguments: str) -> Json:
        """The answer, with its headers kept. Raises `MessengerError`."""

        @wraps(method)
        async def timed(**arguments: object) -> AsyncSlackResponse:
            try:
                async with asyncio.timeout(self._timeout_s):
                    answer = await method(**arguments)
            except TimeoutError as exc:
                raise TimeoutError(f"no answer within {self._timeout_s:g} s") from exc
            self._headers = {name.lower(): value for name, value in answer.headers.items()}
            return answer

        try:
            return await self._web.call_once(timed, about=about, max_wait_s=self._timeout_s, **arguments)
        except ValueError as exc:
            # aiohttp's word for an address or a token with characters that neither can have; it quotes no token.
            raise MessengerUnavailable(f"{about}: Slack cannot be asked: {exc}") from exc

    # How events come in ---------------------------------------------------------------------------------------------

    async def _socket(self, identity: Json) -> CheckResult:
        token = self._settings.app_token.get_secret_value()
        try:
            await self._ask(self._web.client.apps_connections_open, "Socket Mode", app_token=token)
        except MessengerError as error:
            if error.retryable:
                return _not_asked(CONNECTION, error)
            return failed(CONNECTION, str(error), f"{_APP_TOKEN}, and set SLACK_APP_TOKEN to it")
        ours, theirs = await self._app_of(identity) if identity else "", _app_in(token)
        if ours and theirs and ours != theirs:
            what = f"SLACK_APP_TOKEN belongs to the app {theirs}, and SLACK_BOT_TOKEN to the app {ours}"
            return failed(CONNECTION, what, "set both tokens of the same app")
        return passed(CONNECTION, "the app token opens a socket")

    async def _app_of(self, identity: Json) -> str:
        """The id of the app that the bot belongs to; empty when Slack does not tell."""
        try:
            answer = await self._ask(self._web.client.bots_info, "the bot", bot=str(identity.get("bot_id") or ""))
        except MessengerError:
            return ""
        return str((answer.get("bot") or {}).get("app_id") or "")

    async def _port(self, path: str) -> CheckResult:
        """Whether the address is free, or the bot itself listens there."""
        host, port = self._settings.http_host, self._settings.http_port
        where = f"{host}:{port}"
        try:
            server = await asyncio.start_server(lambda reader, writer: writer.close(), host, port)
        except OSError as error:
            if await self._bot_listens(f"{_reachable(host)}:{port}", path):
                return passed(CONNECTION, f"the bot is running: it listens on {where}")
            what = f"cannot listen on {where}: {error.strerror or error}"
            return failed(CONNECTION, what, "set GOODBOT_SLACK_HTTP_PORT and GOODBOT_SLACK_HTTP_HOST to a free address")
        server.close()
        await server.wait_closed()
        return passed(CONNECTION, f"{where} is free; a public address must lead to its {path}")

    async def _bot_listens(self, where: str, path: str) -> bool:
        """Whether the bot answers there: it refuses unsigned events, and `OPTIONS` on its pages."""
        method, expected = ("POST", _UNSIGNED) if path == EVENTS_PATH else ("OPTIONS", _NOT_ALLOWED)
        timeout = aiohttp.ClientTimeout(total=self._timeout_s)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.request(method, f"http://{where}{path}") as answer,
            ):
                return answer.status == expected
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return False

    # Where it is used -----------------------------------------------------------------------------------------------

    async def _channels(self, bot: str) -> list[CheckResult]:
        """The named channels: the bot gets events only from those it is a member of."""
        named = self._settings.allowed_channels
        if not named:
            return [passed(CHANNELS, "slack.allowed_channels names none: it answers wherever it is invited")]
        results = [await self._channel(channel, bot) for channel in named]
        faults = [result for result in results if isinstance(result, CheckResult)]
        good = [result for result in results if isinstance(result, str)]
        return [*([passed(CHANNELS, f"the bot is a member of {', '.join(good)}")] if good else []), *faults]

    async def _channel(self, channel: str, bot: str) -> CheckResult | str:
        """The channel's name, or what is wrong there."""
        try:
            answer = await self._ask(self._web.client.conversations_info, channel, channel=channel)
        except ChannelNotFound:
            what = f"{channel} in slack.allowed_channels is no channel, or a private one without the bot"
            return failed(CHANNELS, what, f"compare the id, or type /invite @{bot} in the channel")
        except MessengerError as error:
            return _not_asked(CHANNELS, error)
        found = answer.get("channel") or {}
        name = f"#{found.get('name') or channel}"
        if found.get("is_archived"):
            return failed(CHANNELS, f"{name} ({channel}) is archived", "take it out of slack.allowed_channels")
        if not found.get("is_member"):
            return failed(CHANNELS, f"the bot is not a member of {name} ({channel})", f"type /invite @{bot} there")
        return name

    def _teachers(self) -> CheckResult:
        """Who teaches, by the settings file and the settings in chat."""
        settings = self._settings
        groups = {OWNERS: settings.owners, "whoever created a channel, in it": settings.creators}
        remedy = "set GOODBOT_SLACK_TEACHERS, or slack.owners or slack.creators"
        return who_decides(TEACHERS, settings, groups, self._named_in_chat, remedy)

    def _command(self) -> CheckResult:
        """Slack has no call that lists an app's commands."""
        command = self._settings.command
        if command == _MANIFEST_COMMAND:
            return passed(COMMAND, f"the slash command is {command}, as in the manifest")
        what = f"the slash command is {command}, and {_MANIFEST_COMMAND} in the manifest; Slack does not tell its own"
        return warning(COMMAND, what, f'name it {command} on {APPS}, page "Slash Commands", too')


def _missing(granted_scopes: str) -> list[str]:
    """The scopes that are needed and not in the header `x-oauth-scopes` of Slack's response."""
    granted = {scope.strip() for scope in granted_scopes.split(",")}
    return [scope for scope in SCOPES if scope not in granted]


def _granted(granted_scopes: str) -> CheckResult:
    if not granted_scopes.strip():
        return warning(GRANTED, "Slack did not say which scopes the token has", "compare them with the manifest")
    missing = [f"{scope} ({SCOPES[scope]})" for scope in _missing(granted_scopes)]
    if not missing:
        return passed(GRANTED, f"all {len(SCOPES)} scopes are granted")
    return failed(GRANTED, f"missing scopes: {', '.join(missing)}", PASTE)


def _subscribed(granted_scopes: str) -> CheckResult:
    """Whether the scopes allow all events. Slack does not tell which events an app is subscribed to."""
    missing = set(_missing(granted_scopes)) if granted_scopes.strip() else set()
    silent = [event for event, scopes in EVENTS.items() if missing & set(scopes)]
    if silent:
        return failed(SUBSCRIBED, f"without their scopes these events do not come: {', '.join(silent)}", PASTE)
    return passed(
        SUBSCRIBED,
        f"the scopes allow all {len(EVENTS)} events. Whether they are subscribed Slack does not tell: "
        'the manifest does it; without it compare the page "Event Subscriptions"',
    )


def _reachable(host: str) -> str:
    """The host to connect to from this machine: localhost for an address that means all interfaces."""
    return "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - a name compared, not bound


def _app_in(token: str) -> str:
    """The id of the app that an app-level token belongs to: xapp-1-A012ABCD-..."""
    parts = token.split("-")
    return parts[2] if len(parts) > 3 and parts[2].startswith("A") else ""


def _not_asked(code: str, error: MessengerError) -> CheckResult:
    refusal = code_of(error)
    if refusal in _REMEDIES:
        return failed(code, str(error), _REMEDIES[refusal])
    return request_failed(code, error, _NETWORK)
