"""Builds the admin pages: access, the key that signs cookies, and the settings shown."""

import secrets
from collections.abc import Mapping
from functools import partial

from pydantic import SecretStr

from bot.adapters.web.health import Check
from bot.adapters.web.pages.access import FAILURES_PER_MINUTE, Accounts, accounts_of, require_safe
from bot.adapters.web.pages.cookies import Cookies
from bot.adapters.web.pages.oidc import OpenIdConnect
from bot.adapters.web.pages.page import PageParts
from bot.adapters.web.pages.site import Site
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.adapters.web.token_buckets import TokenBuckets
from bot.app.wiring.tools import actions_in_chat
from bot.config import Settings
from bot.config.platform_settings import WebSettings
from bot.errors import ConfigError
from memory.adapters.private_files import make_folder, write_whole
from memory.model.teaching import EmojiMap
from memory.services import Memory

_SECRET_BYTES = 32
_DIGEST = " $argon2"


def make_site(
    settings: Settings,
    memory: Memory,
    emoji: EmojiMap,
    checks: tuple[Check, ...],
    playground: PlaygroundMessenger | None = None,
) -> Site:
    """The pages. Raises `ConfigError` if they were open to anybody."""
    web = settings.web
    accounts = Accounts(web.password.get_secret_value(), accounts_of(web.accounts))
    require_safe(web.host, accounts)
    shown = settings_in_force(settings)
    pages = PageParts(
        memory=memory,
        emoji=emoji,
        checks=checks,
        settings=shown,
        playground=playground,
        actions=partial(actions_in_chat, settings, memory),
    )
    secret = _secret(settings)
    cookies = Cookies(secret, memory.clock)
    throttle = TokenBuckets(FAILURES_PER_MINUTE)
    return Site(pages=pages, accounts=accounts, cookies=cookies, throttle=throttle, provider=_provider(web, secret))


def _provider(web: WebSettings, secret: bytes) -> OpenIdConnect | None:
    """The configured OpenID provider, if any. Raises `ConfigError` if a part of it is missing."""
    if not web.oidc_issuer:
        return None
    if not (web.url and web.oidc_client_id and web.accounts):
        raise ConfigError("[web] oidc_issuer needs url, oidc_client_id and accounts too: without these nobody comes in")
    return OpenIdConnect(
        issuer=web.oidc_issuer,
        client_id=web.oidc_client_id,
        client_secret=web.oidc_client_secret.get_secret_value(),
        url=web.url,
        cookie_secret=secret,
    )


def settings_in_force(settings: Settings) -> Mapping[str, Mapping[str, str]]:
    """All settings by section, as text; of a secret only whether it is set."""
    return {
        section: {name: _shown(getattr(getattr(settings, section), name)) for name in model.model_fields}
        for section, model in Settings.sections().items()
    }


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "(set)" if value.get_secret_value() else ""
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value))
    return str(value).partition(_DIGEST)[0]


def _secret(settings: Settings) -> bytes:
    """The key that signs cookies, stored beside the database so that a restart logs nobody out."""
    if not settings.storage.database_url.get_secret_value():
        return secrets.token_bytes(_SECRET_BYTES)
    path = settings.storage.beside.with_suffix(".web-key")
    try:
        found = path.read_bytes() if path.exists() else b""
        if len(found) != _SECRET_BYTES:
            found = secrets.token_bytes(_SECRET_BYTES)
            make_folder(path.parent)
            write_whole(path, found)
    except OSError as error:
        raise ConfigError(f"what signs the cookies of the pages cannot be kept at {path}: {error.strerror}") from error
    return found
