"""The Starlette application that serves the memory, with the HTTP interface mounted in it."""

import re
from dataclasses import dataclass
from functools import cache

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.adapters.web.api import administration, episodes, imports, messages, topics
from bot.adapters.web.authentication import Keys, RequireKey
from bot.adapters.web.envelope import (
    Problem,
    on_failure,
    on_http_error,
    on_invalid_request,
    on_told_fault,
    on_unavailable,
)
from bot.adapters.web.health import Check, ReadyCheck
from bot.adapters.web.metrics import Metrics
from bot.adapters.web.metrics_page import MetricsPage, TimedRequests
from bot.adapters.web.pages.site import Site
from bot.adapters.web.token_buckets import TokenBuckets
from bot.errors import AccessDenied
from memory.errors import MemoryFault
from memory.model.teaching import EmojiMap
from memory.ports import NewId
from memory.services import Memory

_REQUEST_ID = re.compile(r"[\w.:-]{1,80}", re.ASCII)
_KEYS = {
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "bearer": {"type": "http", "scheme": "bearer"},
}
"""The ways to send a key; one suffices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebParts:
    """The dependencies of the application."""

    memory: Memory
    emoji: EmojiMap
    keys: Keys
    pace: TokenBuckets
    checks: tuple[Check, ...] = ()
    """The checks of `/readyz`."""
    site: Site | None = None
    """The pages; None to serve none."""
    metrics: Metrics | None = None
    """The metrics; None to count nothing."""


def make_application(parts: WebParts) -> Starlette:
    """The application. Paths below `/v1` need a key; `/healthz` and `/readyz` are public and contain no secrets."""
    api, ready_check = _api(), ReadyCheck(parts.checks)

    async def with_memory(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] |= {"memory": parts.memory, "emoji": parts.emoji}
        await api(scope, receive, send)

    async def healthy(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def openapi(_: Request) -> JSONResponse:
        document = api.openapi()
        components = {**document["components"], "securitySchemes": _KEYS}
        return JSONResponse({**document, "components": components, "security": [{name: []} for name in _KEYS]})

    async def ready(_: Request) -> JSONResponse:
        found = await ready_check()
        return JSONResponse(found.as_dict(), 200 if found.is_ready else 503)

    return Starlette(
        routes=[
            Route("/healthz", healthy),
            Route("/readyz", ready),
            Route("/openapi.json", openapi),
            *([Route("/metrics", MetricsPage(parts.metrics, parts.keys))] if parts.metrics is not None else ()),
            Mount("/v1", RequireKey(with_memory, keys=parts.keys, pace=parts.pace)),
            *(parts.site.routes() if parts.site is not None else ()),
        ],
        middleware=[
            Middleware(RequestIds, new_id=parts.memory.new_id),
            *([Middleware(TimedRequests, metrics=parts.metrics)] if parts.metrics is not None else ()),
        ],
        exception_handlers={HTTPException: on_http_error, MemoryFault: on_unavailable, Exception: on_failure},
    )


@cache
def _api() -> FastAPI:
    """The HTTP interface with its OpenAPI document. Created once; requests carry the memory they use."""
    api = FastAPI(
        title="Goodbot",
        summary="What a chat bot was taught, and what it did.",
        version="1",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        exception_handlers={
            HTTPException: on_http_error,
            RequestValidationError: on_invalid_request,
            MemoryFault: on_told_fault,
            AccessDenied: on_told_fault,
            Exception: on_failure,
        },
        responses={status: {"model": Problem} for status in (401, 403, 404, 409, 413, 422, 429, 503)},
        servers=[{"url": "/v1"}],
        generate_unique_id_function=_operation_id,
    )
    for module in (topics, imports, episodes, messages, administration):
        api.include_router(module.router)
    return api


def _operation_id(route: APIRoute) -> str:
    """The name that generated clients give to the call of a route, for example `episodes_list`."""
    return f"{route.tags[0]}_{route.name.strip('_')}"


class RequestIds:
    """ASGI middleware that gives each request an id, the caller's if it is valid, and repeats it in the response."""

    def __init__(self, app: ASGIApp, new_id: NewId) -> None:
        self._app, self._new_id = app, new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request with its id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent_id = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        request_id = sent_id if _REQUEST_ID.fullmatch(sent_id) else self._new_id()
        scope.setdefault("state", {})["request_id"] = request_id

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("x-request-id", request_id)
            await send(message)

        await self._app(scope, receive, sent)
