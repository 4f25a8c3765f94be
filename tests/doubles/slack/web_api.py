"""HTTP in front of the methods: `POST /api/<method>` in every encoding Slack takes, with faults on request."""

import base64
import json

from aiohttp import web

from tests.doubles.slack import (
    api_agents,
    api_chat,
    api_conversations,
    api_files,
    api_oauth,
    api_people,
    api_reactions,
    api_streams,
    api_views,
)
from tests.doubles.slack.core import APP_TOKEN, Slack
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.faults import ConnectionReset, Hang, RateLimited, Refused, ResponseLost, ServerBroken
from tests.doubles.slack.request import METHODS, Method, Request
from tests.doubles.slack.state import Call, Json
from tests.doubles.slack.workspace import Workspace

API_MODULES = (
    api_agents, api_chat, api_conversations, api_files, api_oauth, api_people, api_reactions, api_streams, api_views,
)  # fmt: skip
"""Imported for the methods they register."""


class WebApi:
    """Answers Web API calls and records every one of them."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call, from the wire to the wire."""
        name = request.match_info["method"]
        args = await arguments(request)
        args |= _client(request)
        token = _token(request, args)
        call = Call(
            order=self._slack.stamps.number(),
            at=self._slack.stamps.now(),
            method=name,
            team_id=self._team(token),
            args=args,
            token=token,
        )
        self._slack.calls.append(call)
        try:
            return await self._respond(request, call)
        finally:
            self._slack.watch.changed()

    async def _respond(self, request: web.Request, call: Call) -> web.StreamResponse:
        fault = self._slack.faults.take(call.method, call.args)
        call.fault = type(fault).__name__ if fault is not None else ""
        self._slack.watch.changed()
        if isinstance(fault, RateLimited):
            retry = {"Retry-After": str(fault.retry_after_s)}
            return self._answer(call, {"ok": False, "error": "ratelimited"}, status=429, headers=retry)
        if isinstance(fault, ServerBroken):
            call.status = fault.status
            return web.Response(status=fault.status, text="<html>upstream error</html>", content_type="text/html")
        if isinstance(fault, Refused):
            return self._answer(call, {"ok": False, "error": fault.code, **fault.extra})
        if isinstance(fault, ConnectionReset):
            return _cut_off(request)
        if isinstance(fault, Hang):
            await fault.wait()
        body = self._run(call)
        if isinstance(fault, ResponseLost):
            call.answer = body
            return _cut_off(request)
        return self._answer(call, body, headers=self._scope_headers(call))

    def _run(self, call: Call) -> Json:
        try:
            known = METHODS.get(call.method)
            workspace = self._authorised(call, known)
            if known is None:
                raise SlackError("unknown_method", req_method=call.method)
            _check_scope(known, workspace)
            return {"ok": True, **known.handler(Request(self._slack, workspace, call.args))}
        except SlackError as exc:
            return exc.body

    def _authorised(self, call: Call, known: Method | None) -> Workspace:
        """The workspace of the call. What takes no bot token gets the first one."""
        if known is None or known.token == "bot":
            return self._slack.by_token(call.token)
        if known.token == "app" and call.token != APP_TOKEN:
            raise SlackError("not_allowed_token_type" if call.token.startswith("xoxb-") else "invalid_auth")
        return next(iter(self._slack.workspaces.values()))

    def _team(self, token: str) -> str:
        return next((w.id for w in self._slack.workspaces.values() if w.bot_token == token), "")

    def _scope_headers(self, call: Call) -> dict[str, str]:
        workspace = self._slack.workspaces.get(call.team_id)
        return {"X-OAuth-Scopes": ",".join(sorted(workspace.scopes))} if workspace is not None else {}

    def _answer(
        self, call: Call, body: Json, *, status: int = 200, headers: dict[str, str] | None = None
    ) -> web.Response:
        call.answer, call.status = body, status
        return web.json_response(body, status=status, headers=headers)


async def arguments(request: web.Request) -> Json:
    """Arguments of the query and of the body, form or JSON; the body's win."""
    args: Json = dict(request.query)
    if request.content_type == "application/json":
        raw = await request.text()
        args |= json.loads(raw) if raw else {}
    elif request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        args |= dict(await request.post())
    return args


def _token(request: web.Request, args: Json) -> str:
    header = request.headers.get("Authorization", "")
    in_body = str(args.pop("token", ""))
    return header.removeprefix("Bearer ") if header.startswith("Bearer ") else in_body


def _client(request: web.Request) -> Json:
    """The client id and secret where a call brings them as user and password."""
    header = request.headers.get("Authorization", "")
    if not header.startswith("Basic "):
        return {}
    name, _, secret = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
    return {"client_id": name, "client_secret": secret}


def _check_scope(known: Method, workspace: Workspace) -> None:
    if known.scope and not workspace.scopes.intersection(known.scope):
        provided = ",".join(sorted(workspace.scopes))
        raise SlackError("missing_scope", needed=known.scope[0], provided=provided)


def _cut_off(request: web.Request) -> web.StreamResponse:
    """Drop the TCP connection instead of answering."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)
