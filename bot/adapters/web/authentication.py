"""Authenticates callers of the HTTP interface by their key, before anything else of the request is read."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.adapters.web.envelope import problem, unavailable
from bot.adapters.web.numbers import whole_number
from bot.adapters.web.token_buckets import TokenBuckets
from bot.errors import AccessDenied
from memory.errors import MemoryFault
from memory.model import Scope as Place, Visibility
from memory.model.api_key import ApiKey, Right
from memory.services import Memory

BODY_BYTES = 2**20
"""The largest accepted body."""

IMPORT_PATH = "/episodes/import"
"""The path whose body is streamed, so that it may be of any size."""

_BEARER = "Bearer "
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of a request."""

    key: ApiKey

    @property
    def workspace(self) -> str:
        """The key's workspace."""
        return self.key.workspace

    @property
    def actor(self) -> str:
        """The actor if the request names no person."""
        return f"key:{self.key.name}"

    def require(self, right: Right) -> None:
        """Raise `AccessDenied` if the key does not include this right."""
        if not self.key.right.includes(right):
            raise AccessDenied(f"this needs the right {right.value}; key {self.key.name!r} has {self.key.right.value}")

    def require_workspace(self) -> None:
        """Raise `AccessDenied` if the key is for one channel."""
        if self.key.channel:
            text = f"key {self.key.name!r} is for channel {self.key.channel} alone, and this is of the workspace"
            raise AccessDenied(text)

    def place(
        self, person: str = "", channel: str = "", thread: str = "", visibility: Visibility = Visibility.PUBLIC
    ) -> Place:
        """The scope of a call. Raises `AccessDenied` for a place that the key does not permit.

        In a direct conversation a person sees what they wrote in private anywhere, so it needs the right to teach.
        """
        is_direct = visibility is Visibility.DIRECT
        if self.key.channel and (is_direct or channel not in ("", self.key.channel)):
            raise AccessDenied(f"key {self.key.name!r} is for channel {self.key.channel} alone")
        if is_direct:
            self.require(Right.TEACH)
        return Place(
            workspace=self.key.workspace,
            channel=channel or self.key.channel or "api",
            person=person or self.actor,
            thread=thread,
            visibility=visibility,
        )


class Keys:
    """Finds the keys of requests: those of the database, and the one from the environment, an admin's."""

    def __init__(self, memory: Memory, workspace: str, first_secret: str) -> None:
        self._stored = memory.api_keys
        self._secret = first_secret.encode()
        self._first = ApiKey(
            workspace=workspace,
            name="GOODBOT_API_KEY",
            digest="",
            right=Right.ADMIN,
            made_by="environment",
            made_at=memory.clock(),
        )

    async def find(self, headers: Headers) -> ApiKey | None:
        """The key of a request, in `X-API-Key` or as a bearer token; one valid key suffices."""
        bearer = headers.get("authorization", "")
        sent = [headers.get("x-api-key", ""), bearer[len(_BEARER) :].strip() if bearer.startswith(_BEARER) else ""]
        secrets = [each for each in sent if each]
        if self._secret and any(compare_digest(each.encode(), self._secret) for each in secrets):
            return self._first
        return await run_in_threadpool(self._stored_one, secrets) if secrets else None

    def _stored_one(self, secrets: Sequence[str]) -> ApiKey | None:
        return next((key for each in secrets if (key := self._stored.authenticate(each)) is not None), None)


class RequireKey:
    """ASGI middleware that refuses requests without a valid key and bodies that are too large."""

    def __init__(self, app: ASGIApp, keys: Keys, pace: TokenBuckets) -> None:
        self._app, self._keys, self._pace = app, keys, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            key = await self._keys.find(headers)
        except MemoryFault as error:
            await unavailable(scope["state"]["request_id"], error)(scope, receive, send)
            return
        is_streamed = scope["path"].removeprefix(scope["root_path"]) == IMPORT_PATH
        body = b"" if key is None or is_streamed else await _body(headers, receive)
        refusal = self._refusal(scope["state"]["request_id"], key, body)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif key is not None and body is not None:
            scope["state"]["caller"] = Caller(key)
            if is_streamed:
                await self._app(scope, receive, send)
            else:
                await self._app({**scope, "headers": _as_json(scope["headers"])}, _Replay(body, receive), send)

    def _refusal(self, request_id: str, key: ApiKey | None, body: bytes | None) -> Response | None:
        """The response to a refused request; None if it is not refused."""
        if key is None:
            headers = {"WWW-Authenticate": "Bearer"}
            return problem(HTTPStatus.UNAUTHORIZED, "Unauthorized", request_id, headers=headers)
        bucket = (key.workspace, key.name)
        if wait := self._pace.wait_s(bucket):
            text = f"key {key.name!r} asks too often; try again in {wait:.0f} s"
            headers = {"Retry-After": f"{wait + 1:.0f}"}
            return problem(HTTPStatus.TOO_MANY_REQUESTS, text, request_id, headers=headers)
        self._pace.take(bucket)
        if body is None:
            text = f"the body is larger than {BODY_BYTES} bytes"
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text, request_id)
        if _SURROGATE.search(body) and not _is_text(body):
            text = "the body has half of a character (a lone surrogate)"
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, text, request_id)
        return None


def _is_text(body: bytes) -> bool:
    """Whether the texts in this JSON can be encoded. Invalid JSON passes, as it is refused elsewhere."""
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except (ValueError, RecursionError):
        return True
    return True


def _as_json(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with the content type of JSON, as all bodies here are JSON, whatever the client declares."""
    return [*(each for each in headers if each[0] != b"content-type"), (b"content-type", b"application/json")]


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The body, or None if it is too large."""
    announced = whole_number(headers.get("content-length", "0"))
    if announced is None or announced > BODY_BYTES:
        return None
    parts, size, is_more = [], 0, True
    while is_more:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > BODY_BYTES:
            return None
        is_more = message.get("more_body", False)
    return b"".join(parts)


class _Replay:
    """Replays a body that was read already."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def caller(request: Request) -> Caller:
    """The caller of a request."""
    found = request.state.caller
    assert isinstance(found, Caller)  # noqa: S101 - the middleware put it there
    return found
