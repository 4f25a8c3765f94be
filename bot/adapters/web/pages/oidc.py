"""Login through an OpenID Connect provider."""

from collections.abc import Sequence
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.starlette_client import OAuth
from joserfc.errors import JoseError
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import Response

from bot.errors import AccessDenied

BEGIN, BACK = "/login/oidc", "/login/oidc/back"
"""The paths where a login begins, and to which the provider redirects."""
_DISCOVERY = ".well-known/openid-configuration"
_LASTS_S = 600


class OpenIdConnect:
    """The client of one provider. The state between the two steps is in a signed cookie of its own, for ten minutes."""

    def __init__(self, *, issuer: str, client_id: str, client_secret: str, url: str, cookie_secret: bytes) -> None:
        self._back = url.rstrip("/") + BACK
        self._client = OAuth().register(
            "provider",
            client_id=client_id,
            client_secret=client_secret,
            server_metadata_url=f"{issuer.rstrip('/')}/{_DISCOVERY}",
            client_kwargs={"scope": "openid email", "code_challenge_method": "S256"},
        )
        self.middleware: Sequence[Middleware] = (
            Middleware(
                SessionMiddleware,
                secret_key=cookie_secret.hex(),
                session_cookie="goodbot_oidc",
                max_age=_LASTS_S,
                same_site="lax",
                https_only=url.startswith("https://"),
            ),
        )

    async def begin(self, request: Request) -> Response:
        """Redirect to the provider. Raises `AccessDenied` if it cannot be reached."""
        try:
            response: Response = await self._client.authorize_redirect(request, self._back)
        except (AuthlibBaseError, JoseError, httpx2.HTTPError, ValueError, RuntimeError) as error:
            raise AccessDenied(f"the provider could not be asked: {error}") from error
        return response

    async def names(self, request: Request) -> list[str]:
        """The names of the person who logged in: verified e-mail address, subject. Raises `AccessDenied`."""
        try:
            token: dict[str, Any] = await self._client.authorize_access_token(request)
        except (AuthlibBaseError, JoseError, httpx2.HTTPError, ValueError, RuntimeError) as error:
            raise AccessDenied(f"the provider did not say who you are: {error}") from error
        claims = token.get("userinfo") or {}
        email = str(claims.get("email", "")) if claims.get("email_verified") is True else ""
        return [name for name in (email, str(claims.get("sub", ""))) if name]
