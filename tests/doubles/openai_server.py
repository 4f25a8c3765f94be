"""A chat completions server on this machine: answers what a test scripted, remembers what it was asked."""

import json
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """What the server does with one request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    """Never answers; the connection stays open until the server closes."""
    drops: bool = False
    """Closes the connection without a byte."""
    breaks_after: int | None = None
    """Of a stream: how many events come before the connection closes."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


def _completion(message: Mapping[str, object], finish_reason: str, model: str) -> Scripted:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200},
    }
    return Scripted(body=json.dumps(body).encode(), headers={"content-type": "application/json"})


def text(content: str, *, finish_reason: str = "stop", model: str = "gpt-4o-mini") -> Scripted:
    """A plain answer."""
    return _completion({"content": content}, finish_reason, model)


def tool_call(name: str, arguments: str, *, call_id: str = "call_1", content: str | None = None) -> Scripted:
    """A wish to call a tool; `arguments` is sent as it is, valid JSON or not."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return _completion({"content": content, "tool_calls": [call]}, "tool_calls", "gpt-4o-mini")


def refusal(said: str) -> Scripted:
    """The model declines."""
    return _completion({"content": None, "refusal": said}, "stop", "gpt-4o-mini")


def content_filter() -> Scripted:
    """The provider's filter took the answer away."""
    return _completion({"content": None}, "content_filter", "gpt-4o-mini")


def failure(status: int, message: str, **headers: str) -> Scripted:
    """An error in OpenAI's envelope. Header names are written with underscores: `retry_after="0"`."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Scripted(
        status=status, body=json.dumps(body).encode(), headers={"content-type": "application/json", **named}
    )


def body(content: str, *, content_type: str = "application/json") -> Scripted:
    """Any body at all, with status 200."""
    return Scripted(body=content.encode(), headers={"content-type": content_type})


def hang() -> Scripted:
    """No answer, ever."""
    return Scripted(hangs=True)


def dropped() -> Scripted:
    """The connection is closed instead of an answer."""
    return Scripted(drops=True)


PIECE = 7
"""Characters of one event of a stream."""


def _events(body: bytes) -> list[str]:
    """A completion as the events of a stream, as OpenAI sends them; nothing for a body that is none."""
    try:
        whole = json.loads(body)
        choice = whole["choices"][0]
        message = choice["message"]
    except (ValueError, LookupError, TypeError):
        return []
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _in_pieces(message.get("content") or "")]
    deltas += [{"refusal": piece} for piece in _in_pieces(message.get("refusal") or "")]
    for number, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        head = {"name": function["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": number, "id": call["id"], "type": "function", "function": head}]})
        deltas += [
            {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
            for piece in _in_pieces(function["arguments"])
        ]
    common = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    chunks = [common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(common | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append(common | {"choices": [], "usage": whole["usage"]})
    return [*map(json.dumps, chunks), "[DONE]"]


def _in_pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


class OpenAIServer:
    """Use as a context manager. Answers `script`ed requests in order, any other with a 500 nobody retries."""

    def __init__(self, rule: Callable[[str], Scripted] | None = None) -> None:
        """`rule` answers by the text of the first turn what is not scripted."""
        self._rule = rule
        self.asked: list[Asked] = []
        self.waiting = Event()
        """Set once a request hangs."""
        self._script: deque[Scripted] = deque()
        self.closing = Event()
        self.between: Callable[[], object] | None = None
        """Called in the server's thread after each event of a stream."""
        self._http = ThreadingHTTPServer((HOST, 0), _handler(self))
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self._http.server_address[1]}/v1"

    def script(self, *replies: Scripted) -> None:
        """Append what the next requests get."""
        self._script.extend(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next(self, asked: Asked) -> Scripted:
        """Take the next scripted reply, or what the rule says."""
        if self._script:
            return self._script.popleft()
        if self._rule is None:
            return failure(500, "nothing scripted", x_should_retry="false")
        return self._rule(str(asked.body["messages"][1]["content"]))


def _stream(handler: BaseHTTPRequestHandler, server: OpenAIServer, events: list[str], *, is_cut: bool) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    if is_cut:
        handler.send_header("content-length", "1000000")
    handler.end_headers()
    with suppress(ConnectionError):  # whoever asked may have given up
        for each in events:
            handler.wfile.write(f"data: {each}\n\n".encode())
            handler.wfile.flush()
            if server.between is not None:
                server.between()
    handler.close_connection = True


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            received = json.loads(self.rfile.read(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(path=self.path, headers=headers, body=received)
            server.asked.append(asked)
            self._answer(server.next(asked), is_stream=bool(received.get("stream")))

        def _answer(self, scripted: Scripted, *, is_stream: bool) -> None:
            if scripted.hangs:
                server.waiting.set()
                server.closing.wait()
            if scripted.hangs or scripted.drops:
                self.close_connection = True
                return
            if is_stream and scripted.status == 200 and (events := _events(scripted.body)):
                _stream(self, server, events[: scripted.breaks_after], is_cut=scripted.breaks_after is not None)
                return
            self.send_response(scripted.status)
            for name, value in scripted.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(scripted.body)))
            # One request for each connection: a closed server never leaves a kept-alive one behind.
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(scripted.body)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
