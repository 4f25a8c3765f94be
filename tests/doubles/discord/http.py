"""The HTTP side: reads a request, lets a fault have its way, checks the token, answers as Discord does."""

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

from aiohttp import BodyPartReader, web

from tests.doubles.discord.errors import ApiError, error
from tests.doubles.discord.faults import Answer, Fault, Faults, LostAnswer, Reset, cut
from tests.doubles.discord.journal import Journal
from tests.doubles.discord.model import Call, File
from tests.doubles.discord.routing import Incoming, Router
from tests.doubles.discord.state import State

API = "/api/v10"
CDN = "/attachments"
SOCKET = "/gateway"
LARGEST_REQUEST_BYTES = 64 * 1024 * 1024
_WITHOUT_TOKEN = (("GET", "gateway"), ("POST", "interactions"))
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Http:
    """One door for all paths, so that every request is recorded and can meet a fault."""

    def __init__(self, state: State, journal: Journal, faults: Faults, router: Router, open_socket: _Handler) -> None:
        self._state = state
        self._journal = journal
        self._faults = faults
        self._router = router
        self._open_socket = open_socket
        self.is_closing = False

    def app(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=LARGEST_REQUEST_BYTES)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        return app

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path
        is_socket = path.startswith(SOCKET)
        method = "WS" if is_socket else request.method
        segments = [unquote(segment) for segment in path.removeprefix(API).strip("/").split("/")]
        body, files = await _read(request)
        call = Call(
            method=method, path="/" + "/".join(segments), query=dict(request.query), body=body, files=tuple(files)
        )
        self._journal.calls.append(call)
        fault = self._faults.met_by(method, call.path)
        self._journal.changed()
        if fault and (instead := await self._suffer(request, call, fault)):
            return instead
        if is_socket:
            call.status, call.seen = 101, True
            return await self._open_socket(request)
        response = self._answer(request, call, segments)
        call.seen = True
        if fault and isinstance(fault.trouble, LostAnswer):
            self._journal.changed()
            return cut(request, reset=False)
        call.status = response.status
        self._journal.changed()
        return response

    async def _suffer(self, request: web.Request, call: Call, fault: Fault) -> web.Response | None:
        """What the fault answers instead; None when the request may go on."""
        trouble = fault.trouble
        if isinstance(trouble, Answer):
            call.status = trouble.status
            self._journal.changed()
            return _json(trouble.status, trouble.body, trouble.headers)
        if isinstance(trouble, Reset):
            return cut(request, reset=True)
        if isinstance(trouble, LostAnswer):
            return None
        await fault.released.wait()
        return cut(request, reset=True) if self.is_closing else None

    def _answer(self, request: web.Request, call: Call, segments: list[str]) -> web.Response:
        try:
            if request.path.startswith(CDN):
                return self._file(segments)
            if not request.path.startswith(API):
                raise ApiError(404, 0, "404: Not Found")
            self._check_token(request, segments)
            handler, params = self._router.find(call.method, segments)
            answer = handler(Incoming(params=params, query=call.query, body=call.body, files=call.files))
        except ApiError as refusal:
            return _json(refusal.status, refusal.body(), {})
        return web.Response(status=204) if answer is None else _json(200, answer, {})

    def _check_token(self, request: web.Request, segments: list[str]) -> None:
        named = (request.method, segments[0]) in _WITHOUT_TOKEN and segments[1:] != ["bot"]
        free = named or segments[0] == "webhooks"
        if not free and request.headers.get("Authorization") != f"Bot {self._state.token}":
            raise error(0)

    def _file(self, segments: list[str]) -> web.Response:
        stored = self._state.attachments.get(segments[2]) if len(segments) == 4 else None
        if stored is None:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=stored.file.content, content_type=stored.file.media_type)


def _json(status: int, body: Any, headers: Any) -> web.Response:
    if isinstance(body, str):
        return web.Response(status=status, text=body, headers=headers)
    # discord.py reads JSON only if the content type is exactly this, without a charset.
    exact = {**headers, "Content-Type": "application/json"}
    return web.Response(status=status, body=json.dumps(body).encode(), headers=exact)


async def _read(request: web.Request) -> tuple[Any, list[File]]:
    """The JSON body, or the `payload_json` and the files of a form with files."""
    if not request.content_type.startswith("multipart/"):
        raw = await request.read()
        return (json.loads(raw) if raw and request.content_type == "application/json" else None), []
    body: Any = None
    files: list[File] = []
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        content = await part.read()
        if part.name == "payload_json":
            body = json.loads(content)
        else:
            files.append(File(name=part.filename or "file", content=bytes(content)))
    return body, files
