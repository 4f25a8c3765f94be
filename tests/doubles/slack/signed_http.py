"""Events, interactions and commands as signed HTTP requests: the other way Slack reaches an app."""

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import ClientSession

from tests.doubles.slack.state import Json


@dataclass(frozen=True)
class HttpAnswer:
    """What the app answered."""

    status: int
    text: str

    @property
    def body(self) -> Json:
        """The JSON object in it, `{}` when there is none."""
        parsed = json.loads(self.text) if self.text.startswith("{") else {}
        return dict(parsed)


@dataclass(frozen=True, kw_only=True)
class Signer:
    """Signs with the app's secret (version `v0`: HMAC-SHA256 of version, time stamp and body)."""

    secret: str
    clock: Callable[[], float]

    async def post(
        self,
        session: ClientSession,
        url: str,
        payload: Json,
        *,
        kind: str = "events_api",
        age_s: float = 0.0,
        signature: str | None = None,
        retry: tuple[int, str] | None = None,
    ) -> HttpAnswer:
        """Send one payload in the encoding of its kind.

        `age_s` puts the time stamp into the past, `signature` replaces the right one, `retry` is number and reason.
        """
        body = encoded(kind, payload)
        stamp = str(int(self.clock() - age_s))
        headers = {
            "Content-Type": "application/json" if kind == "events_api" else "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": self.sign(stamp, body) if signature is None else signature,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }
        if retry is not None:
            headers |= {"X-Slack-Retry-Num": str(retry[0]), "X-Slack-Retry-Reason": retry[1]}
        async with session.post(url, data=body.encode(), headers=headers) as answer:
            return HttpAnswer(answer.status, await answer.text())

    def sign(self, timestamp: str, body: str) -> str:
        """The value of `X-Slack-Signature`."""
        digest = hmac.new(self.secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256)
        return f"v0={digest.hexdigest()}"


def encoded(kind: str, payload: Json) -> str:
    """Events are JSON, interactions a form with one JSON field, commands a plain form."""
    if kind == "events_api":
        return json.dumps(payload)
    return urlencode(payload if kind == "slash_commands" else {"payload": json.dumps(payload)})
