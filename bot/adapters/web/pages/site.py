"""Serves the pages: checks logins, roles and forms, and sets headers."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.adapters.web.envelope import status_of
from bot.adapters.web.numbers import whole_number
from bot.adapters.web.pages import (
    episode,
    episodes,
    knowledge,
    oidc,
    operations,
    overview,
    people,
    playground,
    review,
    topics,
)
from bot.adapters.web.pages.access import Account, Accounts, WebRole, is_from_this_machine
from bot.adapters.web.pages.cookies import Cookies, LoginCookie, without_notice
from bot.adapters.web.pages.oidc import OpenIdConnect
from bot.adapters.web.pages.page import AdminPage, PageParts, PageRoute, Redirect, Visit
from bot.adapters.web.pages.rendering import FOLDER, templates
from bot.adapters.web.playground.persona import WORKSPACE
from bot.adapters.web.token_buckets import TokenBuckets
from bot.errors import AccessDenied, MessengerError
from memory.errors import MemoryFault

PAGES: tuple[AdminPage, ...] = (
    overview.PAGE,
    episodes.PAGE,
    episode.PAGE,
    knowledge.PAGE,
    topics.PAGE,
    playground.PAGE,
    review.PAGE,
    people.PAGE,
    operations.JOBS,
    operations.LOG,
    operations.SETTINGS,
    operations.HEALTH,
)
"""All pages, in the order of the navigation."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
FORM_BYTES = 2**20
"""The largest accepted form."""
_TOO_OLD = "The form was too old. Go back, load the page again and repeat it."
log = logging.getLogger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The pages with their dependencies. Handles all their routes."""

    pages: PageParts
    accounts: Accounts
    cookies: Cookies
    throttle: TokenBuckets
    """Failed logins, by name and by address."""
    provider: OpenIdConnect | None = None
    """The OpenID provider, if one is configured."""

    def routes(self) -> list[BaseRoute]:
        """All routes. All except login and static files need an account."""
        found: list[BaseRoute] = [
            Route("/", self._guarded(self._home)),
            Route("/login", self._guarded(self._login_form)),
            Route("/login", self._guarded(self._come_in), methods=["POST"]),
            Route("/logout", self._guarded(self._log_out), methods=["POST"]),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ]
        if self.provider is not None:
            middleware = self.provider.middleware
            for path, step in ((oidc.BEGIN, self._to_provider), (oidc.BACK, self._from_provider)):
                found.append(Route(path, self._guarded(partial(step, self.provider)), middleware=middleware))
        for page in PAGES:
            for route in page.routes:
                handler = self._guarded(partial(self._page, page, route))
                found.append(Route(f"/w/{{workspace}}/{route.path}", handler, methods=[route.method]))
        found.append(Route("/w/{address:path}", self._guarded(self._unknown)))
        return found

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with security headers. Without logins it is refused unless the request is from this machine."""

        async def guarded(request: Request) -> Response:
            if self.accounts.is_open and not is_from_this_machine(request):
                response = self._plain(421, "This address is open to this machine alone: set GOODBOT_WEB_PASSWORD.")
            else:
                try:
                    response = await endpoint(request)
                except MemoryFault as error:
                    log.error("request %s failed: %s", request.state.request_id, error)
                    response = self._plain(503, "The memory cannot be used at the moment. Try again later.")
            response.headers.update(HEADERS)
            return response

        return guarded

    async def _home(self, request: Request) -> Response:
        found = self._who(request)
        if found is None:
            return RedirectResponse("/login", 303)
        seen = found[0].workspaces(await self._workspaces())
        if not seen:
            return self._plain(200, "Nothing is remembered yet. Ask the bot something first.")
        first = playground.PAGE if seen[0] == WORKSPACE else PAGES[0]
        return RedirectResponse(f"/w/{seen[0]}/{first.name}", 303)

    async def _workspaces(self) -> list[str]:
        """All workspaces, the playground's last."""
        every = await run_in_threadpool(self.pages.memory.audit.workspaces)
        has_playground = WORKSPACE in every or self.pages.playground is not None
        return [*(each for each in every if each != WORKSPACE), *([WORKSPACE] if has_playground else [])]

    async def _login_form(self, request: Request) -> Response:
        if self.accounts.is_open:
            return RedirectResponse("/", 303)
        return self._login_page(request)

    def _login_page(self, request: Request, fault: str = "", status: int = 200) -> Response:
        login = self.cookies.read(request) or LoginCookie()
        html = (
            templates()
            .get_template("login.html")
            .render(token=login.token, fault=fault, provider=oidc.BEGIN if self.provider else "")
        )
        response = HTMLResponse(html, status)
        self.cookies.write(request, response, login)
        return response

    async def _come_in(self, request: Request) -> Response:
        form = await _form(request)
        login = self.cookies.read(request)
        if login is None or not login.confirms(str(form.get("token", ""))) or not _is_same_site(request):
            return self._login_page(request, "The form was too old. Try again.", 403)
        name, password = str(form.get("name", "")), str(form.get("password", ""))
        keys = (f"name {name}", f"address {request.client.host if request.client else ''}")
        if wait := self.throttle.wait_s(*keys):
            return self._login_page(request, f"Too many tries. Wait {wait + 1:.0f} seconds.", 429)
        account = await run_in_threadpool(self.accounts.authenticate, name, password)
        if account is None:
            self.throttle.take(*keys)
            return self._login_page(request, "The name or the password is wrong.", 403)
        return self._logged_in(request, account)

    async def _to_provider(self, provider: OpenIdConnect, request: Request) -> Response:
        try:
            return await provider.begin(request)
        except AccessDenied as error:
            return self._login_page(request, str(error), 503)

    async def _from_provider(self, provider: OpenIdConnect, request: Request) -> Response:
        try:
            names = await provider.names(request)
        except AccessDenied as error:
            return self._login_page(request, str(error), 403)
        account = next(filter(None, map(self.accounts.identified_by_provider, names)), None)
        if account is None:
            return self._login_page(request, "Nobody has given you a role here: ask an administrator.", 403)
        return self._logged_in(request, account)

    def _logged_in(self, request: Request, account: Account) -> Response:
        response = RedirectResponse("/", 303)
        self.cookies.write(request, response, LoginCookie(account.name))
        return response

    async def _log_out(self, request: Request) -> Response:
        form = await _form(request)
        login = self.cookies.read(request)
        if login is None or not login.confirms(str(form.get("token", ""))):
            return self._plain(403, _TOO_OLD)
        response = RedirectResponse("/login", 303)
        self.cookies.drop(response)
        return response

    def _who(self, request: Request) -> tuple[Account, LoginCookie] | None:
        """The account and login of a request; None if it has to log in."""
        login = self.cookies.read(request)
        if self.accounts.is_open:
            return self.accounts.local, login or LoginCookie()
        account = self.accounts.named(login.account) if login is not None else None
        return None if account is None or login is None else (account, login)

    async def _page(self, page: AdminPage, route: PageRoute, request: Request) -> Response:
        found = self._who(request)
        if found is None:
            return RedirectResponse("/login", 303)
        account, login = found
        every = await self._workspaces()
        workspace = request.path_params["workspace"]
        role = account.role_in(workspace)
        if workspace not in every or role is None:
            return self._plain(404, "There is no such workspace, or it is not yours to see.")
        form = await _form(request) if route.method == "POST" else FormData()
        if route.method == "POST" and not (login.confirms(str(form.get("token", ""))) and _is_same_site(request)):
            return self._plain(403, _TOO_OLD)
        visit = Visit(
            parts=self.pages,
            account=account,
            workspace=workspace,
            role=role,
            login=login,
            page=page,
            navigation=tuple(each for each in PAGES if each.is_listed and self._may_open(account, role, each)),
            workspaces=account.workspaces(every),
            path=request.path_params,
            query=request.query_params,
            form={name: value for name, value in form.items() if isinstance(value, str)},
            chosen=tuple(str(each) for each in form.getlist("chosen")),
        )
        response = await run_in_threadpool(self._answered, page, route, visit)
        self._keep_login(request, response, visit)
        return response

    def _may_open(self, account: Account, role: WebRole, page: AdminPage) -> bool:
        """Whether an account with this role here may open a page, here or in the page's own workspace."""
        if not page.home:
            return role >= page.needs
        return self.pages.playground is not None and (account.role_in(page.home) or 0) >= page.needs

    def _answered(self, page: AdminPage, route: PageRoute, visit: Visit) -> Response:
        """The response of a page, or an error page."""
        try:
            visit.require(max(page.needs, route.needs))
            return route.handler(visit)
        except (MemoryFault, AccessDenied, MessengerError) as error:
            return visit.render("fault.html", status=status_of(error), text=str(error))

    def _keep_login(self, request: Request, response: Response, visit: Visit) -> None:
        if isinstance(response, Redirect):
            self.cookies.write(request, response, response.login)
        elif visit.login.notice is not None or self.cookies.read(request) is None:
            self.cookies.write(request, response, without_notice(visit.login))

    async def _unknown(self, _: Request) -> Response:
        return self._plain(404, "There is no page at this address. Without a path it leads to the overview.")

    def _plain(self, status: int, text: str) -> Response:
        return HTMLResponse(templates().get_template("plain.html").render(text=text), status)


async def _form(request: Request) -> FormData:
    """The fields of a form; empty if it is too large."""
    announced = whole_number(request.headers.get("content-length", ""))
    if announced is None or announced > FORM_BYTES:
        return FormData()
    form = await request.form(max_files=0, max_fields=1000)
    # A form in a charset such as UTF-7 may have half characters, which nothing can store.
    return FormData([(name, str(value).encode(errors="replace").decode()) for name, value in form.multi_items()])


def _is_same_site(request: Request) -> bool:
    """Whether a form was sent from this site, if the browser tells."""
    return request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
