"""Calls Discord's REST API: retries where that is safe, and raises the bot's own errors.

discord.py itself waits for rate limits up to a limit, and retries after 500, 502, 504 and 524. It does not retry after
503 or a broken connection, and treats a 429 without a `Via` header as a ban (discord/http.py).
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import aiohttp
import discord

from bot.adapters.flow_control import TRIES, Sleep, with_retries
from bot.errors import ChannelNotFound, MessengerError, MessengerUnavailable, NotPermitted, RateLimited, TooLong

T = TypeVar("T")


FAULTS = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)
"""The exceptions that a failed call of the library raises."""

UNKNOWN_CHANNEL, UNKNOWN_MEMBER, UNKNOWN_MESSAGE, UNKNOWN_EMOJI = 10003, 10007, 10008, 10014
MISSING_ACCESS, CANNOT_DM, MISSING_PERMISSION = 50001, 50007, 50013
ALREADY_ACKNOWLEDGED = 40060
"""An interaction is acknowledged once."""
NO_HISTORY = 160002
"""Replying needs the right to read the channel's history."""

HAS_THREAD = 160004
"""A message begins one thread at most."""

BLOCKED = frozenset({200000, 240000})
"""The message's text is blocked: by a server's AutoMod, or by Discord because of a harmful link."""

_NOT_THERE = frozenset({UNKNOWN_CHANNEL, 10004, UNKNOWN_MEMBER, MISSING_ACCESS})
_FORBIDDEN = frozenset({CANNOT_DM, MISSING_PERMISSION, NO_HISTORY, 30010, 50083, 90001, 160005, 20028})
"""Also: too many emoji on a message, an archived or locked thread, a person who blocked the bot."""

_LIMIT = 2000
_NONCE_LENGTH = 25
_BAN_S = 60.0


class Rest:
    """Makes calls with retries. `sleep` waits between two tries."""

    def __init__(self, sleep: Sleep) -> None:
        self._sleep = sleep

    async def __call__(self, what: str, call: Callable[[], Awaitable[T]], *, again: bool = True) -> T:
        """Make a call; with `again` it may be repeated. Raises `MessengerError`."""

        async def once() -> T:
            try:
                return await call()
            except FAULTS as exc:
                raise translated_errors(exc, what) from exc

        try:
            return await with_retries(once, self._sleep, TRIES if again else 1)
        except RuntimeError as exc:
            if "closed" not in str(exc):
                raise
            # aiohttp has no class of its own for it.
            raise MessengerUnavailable(f"{what}: the connection to Discord is closed; try again later") from exc

    async def all_of(self, what: str, iterate: Callable[[], AsyncIterator[T]], *, again: bool = True) -> list[T]:
        """All that an iterator of the library gives; `iterate` makes one for each try. Raises `MessengerError`."""

        async def read() -> list[T]:
            return [each async for each in iterate()]

        return await self(what, read, again=again)


def nonce_for(of: str) -> str:
    """The nonce of a message: sending a second message with the same nonce returns the first."""
    return hashlib.sha256(of.encode()).hexdigest()[:_NONCE_LENGTH]


def code_of(error: BaseException) -> int:
    """Discord's own code of a refusal; 0 for every other error."""
    cause = error.__cause__
    return cause.code if isinstance(cause, discord.HTTPException) else 0


def translated_errors(error: BaseException, what: str) -> MessengerError:
    """The bot's error for an exception of the library. `what` says what was tried, and on what."""
    match error:
        case discord.RateLimited():
            wait_s = error.retry_after
            return RateLimited(f"{what}: Discord asks to wait {wait_s:g} s; try again then", retry_after_s=wait_s)
        case discord.LoginFailure():
            return MessengerError(f"{what}: Discord refuses the token; set DISCORD_TOKEN to a valid one")
        case discord.HTTPException():
            return _refused(error, what)
        case discord.GatewayNotFound() | aiohttp.ClientError() | OSError() | TimeoutError():
            reason = str(error) or type(error).__name__
            return MessengerUnavailable(f"{what}: Discord cannot be reached ({reason}); try again later")
        case _:
            return MessengerError(f"{what}: {str(error) or type(error).__name__}")


def _refused(error: discord.HTTPException, what: str) -> MessengerError:
    code, status = error.code, error.status
    description = f"{what}: Discord says {status} {error.text or ''} ({code})"
    if status == 429:
        # discord.py waits for all other rate limits: this one is a ban by the network in front of Discord.
        return RateLimited(f"{what}: Discord refuses all requests for a while", retry_after_s=_retry_after_s(error))
    if status == 401:
        return MessengerError(f"{description}; the token is no longer valid: set DISCORD_TOKEN to a new one")
    if code in _NOT_THERE:
        return ChannelNotFound(f"{description}; invite the bot, and let it view the channel")
    if code in _FORBIDDEN or status == 403:
        return NotPermitted(f"{description}; give the bot's role the permission in that channel")
    if status >= 500:
        return MessengerUnavailable(f"{description}; try again later")
    if code == 50035 and "fewer in length" in error.text:
        return TooLong(f"{description}; send it in more parts", limit=_LIMIT)
    return MessengerError(description)


def _retry_after_s(error: discord.HTTPException) -> float:
    asked = str(error.response.headers.get("Retry-After", ""))
    return float(asked) if asked.replace(".", "", 1).isdigit() else _BAN_S
