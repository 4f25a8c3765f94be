"""The types of pages: routes, roles, and the request to a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bot.adapters.web.health import Check
from bot.adapters.web.pages.access import Account, WebRole
from bot.adapters.web.pages.cookies import LoginCookie, Notice, without_notice
from bot.adapters.web.pages.rendering import templates
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.errors import AccessDenied
from memory.model import Episode, Scope, Visibility
from memory.model.evidence import ActionText
from memory.model.teaching import EmojiMap
from memory.rules.audience import visibility_of
from memory.services import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    """The dependencies of pages."""

    memory: Memory
    emoji: EmojiMap
    checks: tuple[Check, ...] = ()
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The settings in force as texts, by section, without secrets."""
    playground: PlaygroundMessenger | None = None
    """The playground, if there is one."""
    actions: Callable[[Scope], Sequence[ActionText]] = lambda scope: ()
    """The tools that members may use in a place, for which evidence is weighed in chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request to a page of a workspace, by an account that may see it."""

    parts: PageParts
    account: Account
    workspace: str
    role: WebRole
    login: LoginCookie
    page: "AdminPage"
    navigation: tuple["AdminPage", ...]
    """The pages in the navigation, which this account may see."""
    workspaces: list[str]
    path: Mapping[str, str]
    """The path parameters."""
    query: QueryParams
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    chosen: tuple[str, ...] = ()
    """The values of the form's checked boxes named `chosen`."""

    @property
    def memory(self) -> Memory:
        """The memory."""
        return self.parts.memory

    @property
    def actor(self) -> str:
        """The account's name in the event log."""
        return self.account.actor

    @property
    def public_only(self) -> bool:
        """Whether the account sees only public episodes, as all but administrators do."""
        return self.role < WebRole.ADMIN

    def may_see(self, episode: Episode) -> bool:
        """Whether the account may see this episode."""
        return not self.public_only or visibility_of(episode) is Visibility.PUBLIC

    def shown(self, *episodes: Episode) -> list[Episode]:
        """The episodes without corrections that the account may not see."""
        shown = self.memory.recalling.as_seen_in_public
        return shown(self.workspace, episodes) if self.public_only else list(episodes)

    def require(self, role: WebRole) -> None:
        """Raise `AccessDenied` if the account's role is lower than this."""
        if self.role < role:
            raise AccessDenied(f"this needs the role {role.name.lower()}; yours here is {self.role.name.lower()}")

    def url(self, path: str, **query: object) -> str:
        """The address of a path in this workspace; empty query values are left out."""
        values = {name: value for name, value in query.items() if value not in ("", None, False)}
        address = f"/w/{quote(self.workspace, safe='')}/{path}"
        return f"{address}?{urlencode(values)}" if values else address

    def page_url(self, page: "AdminPage") -> str:
        """The address of a page in its own workspace, or in this one."""
        return f"/w/{quote(page.home or self.workspace, safe='')}/{page.name}"

    def render(self, template: str, *, status: int = 200, **values: object) -> Response:
        """Render a template with the page's navigation."""
        known = {"visit": self, "url": self.url, "token": self.login.token, "notice": self.login.notice}
        html = templates().get_template(template).render(**known, **values)
        return HTMLResponse(html, status)

    def back(self, path: str, notice: Notice | None = None, **query: object) -> Response:
        """Redirect to a path of the workspace after a change, with a notice."""
        return Redirect(self.url(path, **query), replace(without_notice(self.login), notice=notice))


class Redirect(RedirectResponse):
    """A redirect that also changes the login cookie."""

    def __init__(self, url: str, login: LoginCookie) -> None:
        super().__init__(url, status_code=303)
        self.login = login


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    """A route below the address of a workspace."""

    path: str
    """In Starlette's syntax, without a leading slash."""
    handler: Callable[[Visit], Response]
    """Runs in a thread; may raise `MemoryFault`, `AccessDenied` and `MessengerError`."""
    method: str = "GET"
    needs: WebRole = WebRole.VIEWER


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPage:
    """A page: one entry of the navigation and its routes."""

    name: str
    """The first part of its path below the workspace."""
    title: str
    routes: tuple[PageRoute, ...]
    needs: WebRole = WebRole.VIEWER
    """The role it needs."""
    is_listed: bool = True
    """Whether it is in the navigation."""
    home: str = ""
    """The only workspace with this page, which all others link to; empty if all have it."""


def moment_of(text: str) -> datetime | None:
    """The start of a form's date in UTC; None if it is no date."""
    try:
        return datetime.fromisoformat(f"{text[:10]}T00:00:00+00:00")
    except ValueError:
        return None
