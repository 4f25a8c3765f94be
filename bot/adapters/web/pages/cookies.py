"""The signed cookie: who is logged in, the token that every form repeats, and what is shown once."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from typing import Any

from itsdangerous import BadSignature, TimestampSigner, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from bot.adapters.web.pages.access import is_loopback
from memory.ports import Clock

NAME = "goodbot"
LASTS_S = 12 * 3600
"""How long somebody stays in without coming back to the form."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What the next page says once, with a way back where there is one."""

    text: str
    is_fault: bool = False
    undo: str = ""
    """The address that takes it back."""
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is sent there."""


@dataclass(frozen=True, slots=True)
class LoginCookie:
    """What a cookie says."""

    account: str = ""
    token: str = field(default_factory=secrets.token_urlsafe)
    """Every form repeats it; a page elsewhere does not know it."""
    notice: Notice | None = None

    def confirms(self, token: str) -> bool:
        """Whether a form has this login's token."""
        return compare_digest(token.encode(), self.token.encode())


class Cookies:
    """Reads and writes the cookie. Its content can be read by whoever has it, and changed by nobody."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        class Signer(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(clock().timestamp())

        self._serializer = URLSafeTimedSerializer(secret, salt="goodbot pages", signer=Signer)

    def read(self, request: Request) -> LoginCookie | None:
        """The login of a request; None without one, or with one that is false or too old."""
        try:
            found: dict[str, Any] = self._serializer.loads(request.cookies.get(NAME, ""), max_age=LASTS_S)
        except BadSignature:
            return None
        notice = found.get("notice")
        return LoginCookie(found["account"], found["token"], Notice(**notice) if notice else None)

    def write(self, request: Request, response: Response, login: LoginCookie) -> None:
        """Give the login to a browser. Only over https, except to one on this machine."""
        notice = login.notice
        content = {
            "account": login.account,
            "token": login.token,
            "notice": notice
            and {"text": notice.text, "is_fault": notice.is_fault, "undo": notice.undo, "fields": dict(notice.fields)},
        }
        response.set_cookie(
            NAME,
            str(self._serializer.dumps(content)),
            max_age=LASTS_S,
            httponly=True,
            samesite="lax",
            secure=not is_loopback(request.headers.get("host", "")),
        )

    def drop(self, response: Response) -> None:
        """Take the cookie away."""
        response.delete_cookie(NAME, httponly=True, samesite="lax")


def without_notice(login: LoginCookie) -> LoginCookie:
    """The login after its notice was shown."""
    return replace(login, notice=None)
