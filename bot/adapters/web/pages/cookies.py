"""The signed cookie: account, token of forms, and a notice for the next page."""

import secrets
from dataclasses import asdict, dataclass, field, replace
from hmac import compare_digest
from typing import Any

from itsdangerous import BadSignature, TimestampSigner, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from bot.adapters.web.pages.access import is_loopback
from memory.ports import Clock

NAME = "goodbot"
LASTS_S = 12 * 3600
"""Seconds until a login expires."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice that the next page shows once, optionally with an undo button."""

    text: str
    is_fault: bool = False
    undo: str = ""
    """The address to which the undo button posts; empty for no button."""
    fields: dict[str, str] = field(default_factory=dict[str, str])
    """The fields that it posts."""


@dataclass(frozen=True, slots=True)
class LoginCookie:
    """The content of the cookie."""

    account: str = ""
    token: str = field(default_factory=secrets.token_urlsafe)
    """Repeated by all forms, as other sites do not know it (CSRF)."""
    notice: Notice | None = None

    def confirms(self, token: str) -> bool:
        """Whether this is the login's token."""
        return compare_digest(token.encode(), self.token.encode())


class Cookies:
    """Reads and writes the cookie, which is signed but not encrypted."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        class Signer(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(clock().timestamp())

        self._serializer = URLSafeTimedSerializer(secret, salt="goodbot pages", signer=Signer)

    def read(self, request: Request) -> LoginCookie | None:
        """The login of a request; None if there is none, or it is invalid or expired."""
        try:
            found: dict[str, Any] = self._serializer.loads(request.cookies.get(NAME, ""), max_age=LASTS_S)
        except BadSignature:
            return None
        notice = found.get("notice")
        return LoginCookie(found["account"], found["token"], Notice(**notice) if notice else None)

    def write(self, request: Request, response: Response, login: LoginCookie) -> None:
        """Set the cookie in a response. Requires https, except on this machine."""
        response.set_cookie(
            NAME,
            str(self._serializer.dumps(asdict(login))),
            max_age=LASTS_S,
            httponly=True,
            samesite="lax",
            secure=not is_loopback(request.headers.get("host", "")),
        )

    def drop(self, response: Response) -> None:
        """Delete the cookie."""
        response.delete_cookie(NAME, httponly=True, samesite="lax")


def without_notice(login: LoginCookie) -> LoginCookie:
    """The login without its notice."""
    return replace(login, notice=None)
