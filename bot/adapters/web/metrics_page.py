"""The page `/metrics`, and the measurement of request times."""

import time

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.adapters.web.authentication import Keys
from bot.adapters.web.envelope import problem
from bot.adapters.web.metrics import Metrics
from bot.adapters.web.pages.access import is_from_this_machine, is_loopback
from memory.model.api_key import Right

_AREAS = {"v1": "api", "w": "pages"}


class TimedRequests:
    """ASGI middleware that measures request times by area and class of status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._requests = app, metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request and measure its time."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            area = _AREAS.get(scope["path"].removeprefix("/").partition("/")[0], "other")
            self._requests.labels(area=area, status=f"{status // 100}xx").observe(time.perf_counter() - begun)


class MetricsPage:
    """`/metrics`: open on this machine; from elsewhere it needs an admin's key."""

    def __init__(self, metrics: Metrics, keys: Keys) -> None:
        self._metrics, self._keys = metrics, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with the metrics, or refuse."""
        request = Request(scope)
        response: Response
        if _is_local(request) or await self._may_read(request.headers):
            text = await run_in_threadpool(self._metrics.text)
            response = Response(text, media_type=CONTENT_TYPE_LATEST)
        else:
            challenge = {"WWW-Authenticate": "Bearer"}
            response = problem(401, "send a key with the right admin", request.state.request_id, headers=challenge)
        await response(scope, receive, send)

    async def _may_read(self, headers: Headers) -> bool:
        key = await self._keys.find(headers)
        return key is not None and key.right.includes(Right.ADMIN)


def _is_local(request: Request) -> bool:
    """Whether a request comes from this machine and names it as its host: a header alone can be forged."""
    return request.client is not None and is_loopback(request.client.host) and is_from_this_machine(request)
