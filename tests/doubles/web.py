"""The real web application over a small world, with a client and a key for each right."""

from collections.abc import Callable, Mapping
from typing import Any

import httpx2
from starlette.testclient import TestClient

from bot.adapters.web.application import WebParts, make_application
from bot.adapters.web.authentication import Keys
from bot.adapters.web.health import Check
from bot.adapters.web.metrics import Metrics
from bot.adapters.web.token_buckets import TokenBuckets
from memory.model.api_key import Right
from memory.model.teaching import EmojiMap
from memory.services import Memory

SECRET = "the first key of all"
WORKSPACE = "terminal:w"


class WebClient:
    """Calls the application as a program at this address does. Its own key is the first one, an administrator's."""

    def __init__(
        self,
        memory: Memory,
        *,
        workspace: str = WORKSPACE,
        per_minute: int = 100_000,
        monotonic: Callable[[], float] = lambda: 0.0,
        checks: tuple[Check, ...] = (),
        metrics: Metrics | None = None,
        address: str = "192.0.2.1",
    ) -> None:
        self.memory = memory
        parts = WebParts(
            memory=memory,
            emoji=EmojiMap(["👍"], ["👎"]),
            keys=Keys(memory, workspace, SECRET),
            pace=TokenBuckets(per_minute, monotonic),
            checks=checks,
            metrics=metrics,
        )
        self.http = TestClient(make_application(parts), raise_server_exceptions=False, client=(address, 1))

    def key(self, right: Right, *, name: str = "", workspace: str = WORKSPACE, channel: str = "") -> str:
        """A new key with this right."""
        _, secret = self.memory.api_keys.make(workspace, name or right.value, right, by="ana", channel=channel)
        return secret

    def call(
        self, method: str, path: str, body: object = None, *, key: str = SECRET, **query: str | int | bool
    ) -> httpx2.Response:
        """The response to one request."""
        headers = {"X-API-Key": key} if key else {}
        given: Mapping[str, Any] = {} if body is None else {"json": body}
        return self.http.request(method, path, headers=headers, params=query or None, **given)

    def get(self, path: str, *, key: str = SECRET, **query: str | int | bool) -> Any:
        """The body of a response that must be one."""
        return _body(self.call("GET", path, key=key, **query))

    def post(self, path: str, body: object = None, *, key: str = SECRET, **query: str | int | bool) -> Any:
        """The same of what is sent."""
        return _body(self.call("POST", path, body, key=key, **query))


def _body(response: httpx2.Response) -> Any:
    assert response.is_success, (response.status_code, response.text)
    return response.json() if response.content else None
