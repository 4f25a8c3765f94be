"""What a page is made of: its addresses, who may see it, and what a request brings to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bot.adapters.web.health import Check
from bot.adapters.web.pages.access import Account, WebRole
from bot.adapters.web.pages.cookies import LoginCookie, Notice, without_notice
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.errors import AccessDenied
from memory.model import Episode, Visibility
from memory.model.teaching import EmojiMap
from memory.rules.audience import visibility_of
from memory.services import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    """What pages are given beside memory."""

    memory: Memory
    emoji: EmojiMap
    checks: tuple[Check, ...] = ()
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The settings in force by section, each as text, secrets hidden."""
    playground: PlaygroundMessenger | None = None
    """Where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request to a page of a workspace, by somebody who may see it."""

    parts: PageParts
    templates: Environment
    account: Account
    workspace: str
    role: WebRole
    login: LoginCookie
    navigation: tuple[Any, ...]
    """The pages that this account may see."""
    workspaces: list[str]
    path: Mapping[str, str]
    """What stands in the place of names in the address."""
    query: QueryParams
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    chosen: tuple[str, ...] = ()
    """Values of the form's boxes named `chosen`."""
    here: str = ""
    """The address, with its query."""

    @property
    def memory(self) -> Memory:
        """Its use cases are all that a page calls."""
        return self.parts.memory

    @property
    def actor(self) -> str:
        """How the log names who did it."""
        return self.account.actor

    @property
    def public_only(self) -> bool:
        """Whether they see only what was said in public: all but administrators."""
        return self.role < WebRole.ADMIN

    def may_see(self, episode: Episode) -> bool:
        """Whether this episode's texts may be shown to them."""
        return not self.public_only or visibility_of(episode) is Visibility.PUBLIC

    def require(self, role: WebRole) -> None:
        """Raises `AccessDenied` with less than this role."""
        if self.role < role:
            raise AccessDenied(f"this needs the role {role.name.lower()}; yours here is {self.role.name.lower()}")

    def url(self, path: str, **query: object) -> str:
        """An address in this workspace, with what is given of the query."""
        given = {name: value for name, value in query.items() if value not in ("", None, False)}
        address = f"/w/{quote(self.workspace, safe='')}/{path}"
        return f"{address}?{urlencode(given)}" if given else address

    def page_url(self, page: "AdminPage") -> str:
        """The address of a page, from wherever this is."""
        return f"/w/{quote(page.home or self.workspace, safe='')}/{page.name}"

    def render(self, template: str, *, status: int = 200, **values: object) -> Response:
        """A page with its navigation."""
        known = {"visit": self, "url": self.url, "token": self.login.token, "notice": self.login.notice}
        html = self.templates.get_template(template).render(**known, **values)
        return HTMLResponse(html, status)

    def back(self, path: str, notice: Notice | None = None, **query: object) -> Response:
        """Go to an address of the workspace after a change, which the page there confirms."""
        return Redirect(self.url(path, **query), replace(without_notice(self.login), notice=notice))


class Redirect(RedirectResponse):
    """To another page, with the login as it is from there on."""

    def __init__(self, url: str, login: LoginCookie) -> None:
        super().__init__(url, status_code=303)
        self.login = login


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    """One address below the workspace's."""

    path: str
    """As Starlette writes it, without a slash before it."""
    handler: Callable[[Visit], Response]
    """Runs in a thread of its own; may raise `MemoryFault` and `AccessDenied`."""
    method: str = "GET"
    needs: WebRole = WebRole.VIEWER


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPage:
    """One page."""

    name: str
    """The first part of its address below the workspace's."""
    title: str
    routes: tuple[PageRoute, ...]
    needs: WebRole = WebRole.VIEWER
    """Who sees it in the navigation."""
    is_listed: bool = True
    """Whether it is in the navigation."""
    home: str = ""
    """The only workspace it is in, reached from every other; empty for a page of all."""


def moment_of(text: str) -> datetime | None:
    """The start of a day, UTC, from a form's date; None where it is none."""
    try:
        return datetime.fromisoformat(f"{text[:10]}T00:00:00+00:00")
    except ValueError:
        return None
