"""Troubles that a test orders for the next calls of a route."""

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.doubles.discord.errors import KNOWN, ApiError
from tests.doubles.discord.journal import matches
from tests.doubles.discord.model import Json


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered instead; nothing happens."""

    status: int
    body: Json | str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until `release`; then all goes on as if nothing had been."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset before anything happened."""


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """It happens, but the connection breaks before the answer."""


Trouble = Answer | Hang | Reset | LostAnswer


def rate_limited(retry_after_s: float = 0.01, *, is_global: bool = False, by_cloudflare: bool = False) -> Answer:
    """429. By Cloudflare: a page without JSON or `Via`, which means a ban."""
    if by_cloudflare:
        return Answer(429, "error code: 1015", {"Retry-After": str(retry_after_s)})
    body: Json = {"message": "You are being rate limited.", "retry_after": retry_after_s, "global": is_global}
    scope = {"X-RateLimit-Scope": "global" if is_global else "user", "Retry-After": str(retry_after_s)}
    # discord.py takes a 429 without `Via` for a Cloudflare ban and gives up at once.
    return Answer(429, body, {"Via": "1.1 google", **scope, **({"X-RateLimit-Global": "true"} if is_global else {})})


def failing(status: int = 500) -> Answer:
    """A server error. discord.py tries 500, 502, 504 and 524 again after 1, 3, 5, 7 s, others not at all."""
    return Answer(status, {"message": f"{status}: server error", "code": 0})


def refusing(code: int, status: int = 0, message: str = "") -> Answer:
    """One of Discord's own errors by its code; status and text are known for the common ones."""
    known_status, known_message = KNOWN.get(code, (400, f"error {code}"))
    refusal = ApiError(status or known_status, code, message or known_message)
    return Answer(refusal.status, refusal.body())


@dataclass(slots=True, eq=False)
class Fault:
    """An ordered trouble; `hits` counts the calls that met it."""

    pattern: str
    trouble: Trouble
    left: int | None
    hits: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """Whether no further call meets it."""
        return self.left == 0


class Faults:
    """All ordered troubles; the earliest that fits a call and is not used up is met."""

    def __init__(self) -> None:
        self._ordered: list[Fault] = []

    def order(self, pattern: str, trouble: Trouble, times: int | None) -> Fault:
        """`times` None: until cleared."""
        fault = Fault(pattern, trouble, times)
        self._ordered.append(fault)
        return fault

    def clear(self) -> None:
        """No more troubles; hanging calls go on."""
        for fault in self._ordered:
            fault.left = 0
            fault.released.set()
        self._ordered.clear()

    def met_by(self, method: str, path: str) -> Fault | None:
        """Count this call against the fault that it meets."""
        for fault in self._ordered:
            if not fault.over and matches(fault.pattern, method, path):
                fault.hits += 1
                fault.left = None if fault.left is None else fault.left - 1
                return fault
        return None


def cut(request: web.Request, *, reset: bool) -> web.Response:
    """Break the connection of a request: with a TCP reset, or just by its end."""
    if request.transport:
        if reset and (raw := request.transport.get_extra_info("socket")):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        request.transport.abort()
    return web.Response()  # Goes nowhere.
