"""Slack's Web API client: waits for rate limits, retries, and raises the bot's own errors."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import aiohttp
from slack_bolt.logger.messages import warning_client_prioritized_and_token_skipped
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.adapters.flow_control import Sleep, with_retries
from bot.adapters.slack.events import Json
from bot.errors import ChannelNotFound, MessengerError, MessengerUnavailable, NotPermitted, RateLimited, TooLong

log = logging.getLogger(__name__)

Method = Callable[..., Awaitable[AsyncSlackResponse]]
"""A method of slack-sdk's client."""

NO_WAIT_S = 0.0
"""The `max_wait_s` of a call that never waits for a rate limit."""
_TIMEOUT_S = 30
_SUBJECTS = ("channel", "channel_id", "user", "users", "usergroup", "file")
"""The arguments that say what a call is about."""
_NOT_THERE = frozenset(
    {
        *("channel_not_found", "not_in_channel", "is_archived", "user_not_in_channel", "message_not_found"),
        *("cannot_reply_to_message", "thread_not_found", "channel_is_archived", "invalid_thread_ts", "user_not_found"),
    }
)
_TOKEN_GONE = frozenset({"token_revoked", "account_inactive"})
_FORBIDDEN = _TOKEN_GONE | {
    *("missing_scope", "not_allowed_token_type", "invalid_auth", "not_authed", "no_permission", "access_denied"),
    *("restricted_action", "restricted_action_thread_only_channel", "ekm_access_denied", "team_access_not_granted"),
    *("token_expired", "cannot_dm_bot", "messages_tab_disabled"),
}
_NO_TOKEN = _TOKEN_GONE | {"invalid_auth", "not_authed", "not_allowed_token_type", "token_expired"}
_TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long"})
_TRANSIENT = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The token's workspace and bot user (`auth.test`)."""

    team: str
    user: str
    bot: str
    name: str

    @property
    def workspace(self) -> str:
        """The workspace as memory names it."""
        return f"slack:{self.team}"


def require_own(identity: Identity | None, workspace: str) -> None:
    """Raise `ChannelNotFound` for another workspace than the token's. Passes if that is not known yet."""
    if identity is not None and workspace != identity.workspace:
        raise ChannelNotFound(f"cannot reach {workspace}: this bot is in {identity.workspace}")


class Web:
    """The client for one bot token. `max_wait_s` is the longest total wait of a call for rate limits.

    `gone` is called if the token was revoked. Works also without shared connections (`open`).
    """

    def __init__(
        self, *, token: str, api_url: str, max_wait_s: float, sleep: Sleep, gone: Callable[[str], None]
    ) -> None:
        self.token = token
        self.client = _client(api_url, token)
        self.library_client = _client(api_url, None)
        """The client for slack-bolt, which gets the token with each payload."""
        self._max_wait_s = max_wait_s
        self._sleep = sleep
        self._gone = gone

    async def open(self) -> None:
        """Open connections that all calls share."""
        if self.client.session is None or self.client.session.closed:
            timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
            # The library read the proxy from the environment; `trust_env` would ask a thread for it at each call.
            self.client.session = aiohttp.ClientSession(timeout=timeout, proxy=self.client.proxy)

    async def close(self) -> None:
        """Close the shared connections. Later calls open connections of their own."""
        if self.client.session is not None:
            await self.client.session.close()

    def session(self) -> aiohttp.ClientSession:
        """The shared connections, for files. Only between `open` and `close`."""
        if self.client.session is None or self.client.session.closed:
            raise MessengerUnavailable("the connection to Slack is closed: nothing can be fetched any more")
        return self.client.session

    async def identity(self) -> Identity:
        """Whose token this is. Raises `MessengerError`."""
        answer = await self.call(self.client.auth_test, about="the bot's token")
        return Identity(
            team=str(answer["team_id"]),
            user=str(answer["user_id"]),
            bot=str(answer.get("bot_id") or ""),
            name=str(answer.get("user") or "goodbot"),
        )

    async def direct_channel(self, person: str) -> str:
        """The id of a person's direct conversation with the bot. Raises `MessengerError`."""
        answer = await self.call(self.client.conversations_open, users=person)
        return str(answer["channel"]["id"])

    async def call(
        self, method: Method, *, about: str = "", max_wait_s: float | None = None, **arguments: object
    ) -> Json:
        """Make a call that may be repeated: it only reads, or a second time changes nothing.

        `about` describes it in the log; without, the channel or person in its arguments does. Raises `MessengerError`;
        `code_of` has Slack's own code.
        """
        return await with_retries(
            lambda: self.call_once(method, about=about, max_wait_s=max_wait_s, **arguments), self._sleep
        )

    async def call_once(
        self, method: Method, *, about: str = "", max_wait_s: float | None = None, **arguments: object
    ) -> Json:
        """Make a call that must not be repeated, unless Slack says that it did not happen.

        `MessengerUnavailable` means that it is not known whether it happened.
        """
        left = self._max_wait_s if max_wait_s is None else max_wait_s
        about = about or next((str(arguments[name]) for name in _SUBJECTS if name in arguments), "")
        what = f"{method.__name__.replace('_', '.')} for {about}"
        while True:
            try:
                answer = await method(**arguments)
            except SlackApiError as exc:
                wait_s = _wait_s(exc)
                if wait_s is None:
                    raise self._translated(exc, what) from exc
                if wait_s > left:
                    raise RateLimited(
                        f"{what}: Slack asks to wait {wait_s:g} s; try again then", retry_after_s=wait_s
                    ) from exc
                log.info("%s: Slack limits the rate, waiting %g s", what, wait_s)
                left -= wait_s
                await self._sleep(wait_s)
            except (aiohttp.ClientError, TimeoutError, OSError) as exc:
                reason = str(exc) or type(exc).__name__
                raise MessengerUnavailable(f"{what}: Slack cannot be reached ({reason}); try again later") from exc
            except SlackClientError as exc:
                raise MessengerError(f"{what}: the call cannot be made: {exc}") from exc
            else:
                return answer.data if isinstance(answer.data, Mapping) else {}

    def _translated(self, error: SlackApiError, what: str) -> MessengerError:
        code, status = _code(error), _status(error)
        if code in _TOKEN_GONE:
            self._gone(code)
        if code in _NOT_THERE:
            return ChannelNotFound(f"{what}: Slack says {code}; is the bot a member there (/invite)?")
        if code in _FORBIDDEN:
            needed = _body(error).get("needed")
            remedy = f"add the scope {needed} and reinstall the app" if needed else "check the token and its scopes"
            return NotPermitted(f"{what}: Slack says {code}; {remedy}")
        if code in _TOO_LONG:
            return TooLong(f"{what}: Slack says {code}; send it in more parts", limit=12_000)
        if code in _TRANSIENT or status >= 500 or not code:
            return MessengerUnavailable(f"{what}: Slack answered {code or f'HTTP {status}'}; try again later")
        details = _body(error).get("response_metadata", {}).get("messages", "")
        return MessengerError(f"{what}: Slack says {code} {details}".rstrip())


def next_cursor(answer: Json) -> str:
    """Where the next page of a list begins; empty on the last one."""
    return str((answer.get("response_metadata") or {}).get("next_cursor") or "")


def library_log() -> logging.Logger:
    """The logger of slack-bolt and slack-sdk, at INFO: below it they log messages and tokens."""
    logger = logging.getLogger(f"{__name__}.library")
    logger.setLevel(logging.INFO)
    logger.addFilter(_is_news)
    return logger


def _is_news(record: logging.LogRecord) -> bool:
    """False for slack-bolt's warning that it ignores the token in the environment: each payload has its own."""
    return record.getMessage() != warning_client_prioritized_and_token_skipped()


def _client(api_url: str, token: str | None) -> AsyncWebClient:
    return AsyncWebClient(
        token=token,
        base_url=api_url,
        timeout=_TIMEOUT_S,
        retry_handlers=[],
        logger=library_log(),
    )


def names_token(error: NotPermitted, variable: str, remedy: str) -> NotPermitted:
    """The error for a refused token, with the setting and the remedy; any other error unchanged."""
    if code_of(error) not in _NO_TOKEN:
        return error
    refused = NotPermitted(f"Slack refuses the token in {variable} ({code_of(error)}): {remedy}")
    refused.__cause__ = error.__cause__
    return refused


def code_of(error: BaseException) -> str:
    """Slack's own code of a refusal (`already_reacted`); empty for every other error."""
    return _code(error.__cause__) if isinstance(error.__cause__, SlackApiError) else ""


def may_have_happened(error: BaseException) -> bool:
    """Whether a call that failed with this error may still have had its effect."""
    return isinstance(error, MessengerUnavailable) and not isinstance(error.__cause__, aiohttp.ClientConnectorError)


def _body(error: SlackApiError) -> Json:
    data = getattr(error.response, "data", None)
    return data if isinstance(data, Mapping) else {}


def _code(error: SlackApiError) -> str:
    return str(_body(error).get("error", ""))


def _status(error: SlackApiError) -> int:
    return int(getattr(error.response, "status_code", 0) or getattr(error.response, "status", 0))


def _wait_s(error: SlackApiError) -> float | None:
    """The wait that Slack asks for, at least one second, so that retries end; None if it asks for none."""
    if _status(error) != 429 and _code(error) not in ("ratelimited", "rate_limited"):
        return None
    headers = getattr(error.response, "headers", {})
    asked = headers.get("Retry-After") or headers.get("retry-after") or "1"
    return max(1.0, float(asked)) if str(asked).replace(".", "", 1).isdigit() else 1.0
