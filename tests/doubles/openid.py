"""A small OpenID provider: discovery, keys, the two endpoints, and tokens signed as it is told."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT = "goodbot"


class Provider:
    """Vouches for whoever `claims` says."""

    def __init__(self) -> None:
        self.url = ""
        self.claims: Mapping[str, Any] = {"sub": "u1", "email": "ana@example.org", "email_verified": True}
        self.key = RSAKey.generate_key(2048, {"kid": "k1"})
        self.signs_with = self.key
        self._nonce = ""
        self.application = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    async def _discovery(self, _: Request) -> Response:
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return JSONResponse({"issuer": self.url, **{name: f"{self.url}/{path}" for name, path in names.items()}})

    async def _keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _authorize(self, request: Request) -> Response:
        self._nonce = request.query_params["nonce"]
        assert request.query_params["code_challenge_method"] == "S256"
        back = urlencode({"code": "c1", "state": request.query_params["state"]})
        return RedirectResponse(f"{request.query_params['redirect_uri']}?{back}")

    async def _token(self, _: Request) -> Response:
        moments = {"iat": 1_700_000_000, "exp": 4_000_000_000}
        claims = {"iss": self.url, "aud": CLIENT, "nonce": self._nonce, **moments, **self.claims}
        token = jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.signs_with)
        return JSONResponse({"access_token": "a1", "token_type": "Bearer", "id_token": token})
