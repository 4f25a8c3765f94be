"""The real pages over a small world, visited as a browser does: with cookies, forms and the tokens in them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import unescape

import httpx2
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from sqlalchemy import event
from starlette.applications import Starlette
from starlette.testclient import TestClient

from bot.adapters.web.application import WebParts, make_application
from bot.adapters.web.authentication import Keys
from bot.adapters.web.health import Check
from bot.adapters.web.pages.access import FAILURES_PER_MINUTE, Accounts, accounts_of
from bot.adapters.web.pages.cookies import Cookies
from bot.adapters.web.pages.page import PageParts
from bot.adapters.web.pages.site import Site
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.adapters.web.token_buckets import TokenBuckets
from memory.adapters.sql import SqlStore
from memory.model.evidence import ActionText
from memory.model.teaching import EmojiMap
from memory.services import Memory
from tests.doubles.web import SECRET

PASSWORD = "correct horse battery staple"
WORKSPACE = "terminal:w"
OTHERS_PASSWORD = "another good password"
ACCOUNTS = ("vera viewer terminal:w", "tom teacher terminal:w", "olga teacher terminal:elsewhere")
_DIGEST = PasswordHasher.from_parameters(CHEAPEST).hash(OTHERS_PASSWORD)


def site_parts(
    memory: Memory,
    *,
    password: str = PASSWORD,
    accounts: Sequence[str] = ACCOUNTS,
    monotonic: Callable[[], float] = lambda: 0.0,
    checks: tuple[Check, ...] = (),
    playground: PlaygroundMessenger | None = None,
    actions: Sequence[ActionText] = (),
) -> Site:
    """What the pages are made of."""
    emoji = EmojiMap(["👍"], ["👎"])
    settings = {"model": {"name": "offline", "openai_api_key": "(set)"}}
    return Site(
        pages=PageParts(
            memory=memory,
            emoji=emoji,
            checks=checks,
            settings=settings,
            playground=playground,
            actions=lambda _: actions,
        ),
        accounts=Accounts(password, accounts_of(f"{each} {_DIGEST}" for each in accounts)),
        cookies=Cookies(b"0" * 32, memory.clock),
        throttle=TokenBuckets(FAILURES_PER_MINUTE, monotonic),
    )


def application_with(memory: Memory, site: Site, *, workspace: str = WORKSPACE) -> Starlette:
    """The whole web application with these pages; its keys are the workspace's."""
    parts = WebParts(
        memory=memory,
        emoji=site.pages.emoji,
        keys=Keys(memory, workspace, SECRET),
        pace=TokenBuckets(1000),
        site=site,
    )
    return make_application(parts)


class Visitor:
    """One browser. `base` names the host that it asks."""

    def __init__(self, memory: Memory, site: Site, *, base: str = "http://127.0.0.1:8080") -> None:
        self.memory = memory
        self.application = application_with(memory, site)
        self.http = TestClient(self.application, base_url=base, follow_redirects=False)

    def log_in(self, name: str = "admin", password: str = "") -> httpx2.Response:
        """Fill in the form."""
        token = token_in(self.http.get("/login").text)
        secret = password or (PASSWORD if name == "admin" else OTHERS_PASSWORD)
        return self.http.post("/login", data={"token": token, "name": name, "password": secret})

    def get(self, path: str, **query: str) -> httpx2.Response:
        """One page of the workspace, as it is answered."""
        return self.http.get(f"/w/{WORKSPACE}/{path}", params=query or None)

    def page(self, path: str, **query: str) -> str:
        """The text of a page that must be one."""
        response = self.get(path, **query)
        assert response.status_code == 200, (response.status_code, response.headers, response.text)
        return response.text

    def send(self, path: str, *, token: str = "", chosen: Sequence[str] = (), **fields: str) -> httpx2.Response:
        """Send a form of the workspace with the token that the pages carry."""
        sent = {"token": token or self.token(), "chosen": list(chosen), **fields}
        return self.http.post(f"/w/{WORKSPACE}/{path}", data=sent)

    def done(self, path: str, *, chosen: Sequence[str] = (), **fields: str) -> str:
        """Send a form that must be taken, and read the page that it leads to."""
        response = self.send(path, chosen=chosen, **fields)
        assert response.status_code == 303, (response.status_code, response.text)
        return self.http.get(response.headers["location"]).text

    def token(self) -> str:
        """The token in the pages of this browser."""
        return token_in(self.http.get(f"/w/{WORKSPACE}/overview").text)


def token_in(html: str) -> str:
    """The token of a page's forms; empty where it has none."""
    found = re.search(r'name="token" value="([^"]*)"', html)
    return unescape(found[1]) if found else ""


@contextmanager
def counted_statements(store: SqlStore) -> Iterator[list[str]]:
    """The statements that run meanwhile."""
    found: list[str] = []

    def note(_: object, __: object, text: str, *___: object) -> None:
        found.append(text)

    event.listen(store._engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(store._engine, "before_cursor_execute", note)
