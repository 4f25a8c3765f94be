"""Coming in by an OpenID provider: who is let in, with which role, and what is not believed."""

from collections.abc import Iterator

import httpx2
import pytest
from joserfc.jwk import RSAKey

from bot.adapters.web.pages.access import Accounts, accounts_of
from bot.adapters.web.pages.cookies import Cookies
from bot.adapters.web.pages.oidc import OpenIdConnect
from bot.adapters.web.pages.site import Site
from bot.app.pages import make_site
from bot.config import Settings
from bot.errors import ConfigError
from memory.model.teaching import EmojiMap
from tests.doubles.browser import served
from tests.doubles.memory_world import World
from tests.doubles.openid import CLIENT, Provider
from tests.doubles.pages import Visitor, site_parts

URL = "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    provider = Provider()
    with served(provider.application) as url:
        provider.url = url
        yield provider


@pytest.fixture
def provider(running: Provider) -> Provider:
    running.claims = {"sub": "u1", "email": "ana@example.org", "email_verified": True}
    running.signs_with = running.key
    return running


@pytest.fixture
def visitor(world: World, provider: Provider) -> Visitor:
    world.ask("where is the key?")
    client = OpenIdConnect(issuer=provider.url, client_id=CLIENT, client_secret="s", url=URL, cookie_secret=b"1" * 32)
    lines = ["ana@example.org teacher terminal:w", "u7 viewer *", "bo@example.org admin * $argon2id$x"]
    site = Site(
        pages=site_parts(world.memory).pages,
        accounts=Accounts("", accounts_of(lines)),
        cookies=Cookies(b"0" * 32, world.memory.clock),
        throttle=site_parts(world.memory).throttle,
        provider=client,
    )
    return Visitor(world.memory, site, base=URL)


def come_in(visitor: Visitor) -> httpx2.Response:
    to_provider = visitor.http.get("/login/oidc")
    assert to_provider.status_code == 302, to_provider.text
    back = httpx2.get(to_provider.headers["location"]).headers["location"]
    return visitor.http.get(back)


def test_who_has_a_role_comes_in(visitor: Visitor) -> None:
    assert "Log in with your organisation" in visitor.http.get("/login").text
    assert come_in(visitor).headers["location"] == "/"
    page = visitor.page("overview")
    assert "ana@example.org" in page
    assert "teacher" in page


def test_the_providers_own_name_is_enough(provider: Provider, visitor: Visitor) -> None:
    provider.claims = {"sub": "u7", "email": "ana@example.org"}
    come_in(visitor)
    assert "viewer" in visitor.page("overview")


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "u1", "email": "ana@example.org"},
        {"sub": "u1", "email": "ana@example.org", "email_verified": False},
        {"sub": "u1", "email": "stranger@example.org", "email_verified": True},
        {"sub": "u1", "email": "bo@example.org", "email_verified": True},
        {"sub": "u7", "aud": "another program"},
        {"sub": "u7", "nonce": "another"},
        {"sub": "u7", "iss": "https://elsewhere.example.org"},
        {"sub": "u7", "exp": 1_700_000_001},
    ],
    ids=["not verified", "refused", "stranger", "has a password", "audience", "nonce", "issuer", "too old"],
)
def test_nobody_else_does(provider: Provider, visitor: Visitor, claims: dict[str, object]) -> None:
    provider.claims = claims
    assert come_in(visitor).status_code == 403
    assert visitor.get("overview").status_code == 303


def test_a_token_signed_by_another_is_not_believed(provider: Provider, visitor: Visitor) -> None:
    provider.signs_with = RSAKey.generate_key(2048, {"kid": "k1"})
    assert come_in(visitor).status_code == 403


def test_nobody_comes_back_who_did_not_go(visitor: Visitor) -> None:
    assert visitor.http.get("/login/oidc/back?code=c1&state=guessed").status_code == 403
    assert visitor.http.get("/login/oidc/back?error=access_denied").status_code == 403


def test_a_part_of_the_settings_is_not_enough(world: World) -> None:
    settings = Settings.model_validate({"web": {"oidc_issuer": "https://id.example.org", "password": "long enough"}})
    with pytest.raises(ConfigError, match="accounts"):
        make_site(settings, world.memory, EmojiMap([], []), ())
