"""Who may see the pages: accounts with a role in one workspace or in all, and what is asked of them."""

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from hashlib import blake2b
from hmac import compare_digest
from ipaddress import ip_address

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.requests import Request

from bot.errors import ConfigError
from memory.model import Role

ADMINISTRATOR = "admin"
"""The name that goes with the password from the environment."""
EVERYWHERE = "*"
"""In place of a workspace: all of them."""
_LOCAL = "local"
"""Who acts where nobody is asked for a password."""
_PER_MINUTE = 5
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class WebRole(IntEnum):
    """What somebody may do on the pages of a workspace; each includes the ones before."""

    VIEWER = 1
    """See what was said in public."""
    TEACHER = 2
    """And decide about it."""
    ADMIN = 3
    """And see everything, people's data, the log and the settings."""

    @property
    def role(self) -> Role:
        """How memory weighs what they decide."""
        return {WebRole.ADMIN: Role.ADMIN, WebRole.TEACHER: Role.TEACHER}.get(self, Role.MEMBER)


@dataclass(frozen=True, slots=True)
class Account:
    """An account that may log in."""

    name: str
    roles: tuple[tuple[str, WebRole], ...]
    """Workspaces with the role there; `*` is all."""
    digest: str = ""
    """Argon2 of the password; empty for who cannot come in by one."""

    @property
    def actor(self) -> str:
        """How the log names them."""
        return f"web:{self.name}"

    def role_in(self, workspace: str) -> WebRole | None:
        """The highest role there, or None."""
        return max((role for where, role in self.roles if where in (workspace, EVERYWHERE)), default=None)

    def workspaces(self, every: Sequence[str]) -> list[str]:
        """Those of all the workspaces that they may see."""
        return [each for each in every if self.role_in(each) is not None]


class Accounts:
    """All accounts. Without a password and without accounts, whoever reaches the pages is an administrator."""

    def __init__(self, password: str, accounts: Iterable[Account] = ()) -> None:
        self._key = secrets.token_bytes(32)
        self._password = self._keyed(password) if password else b""
        self._by_name = {each.name: each for each in accounts}
        self._hasher = PasswordHasher()
        _placeholder_digest()  # made before anybody can tell by the time it takes
        if password:
            self._by_name[ADMINISTRATOR] = Account(ADMINISTRATOR, ((EVERYWHERE, WebRole.ADMIN),))
        self.is_open = not self._by_name
        """Whether nobody is asked who they are."""

    @property
    def local(self) -> Account:
        """Who acts where nobody is asked."""
        return Account(_LOCAL, ((EVERYWHERE, WebRole.ADMIN),))

    def named(self, name: str) -> Account | None:
        """The account, or None if it is none any more."""
        return self._by_name.get(name)

    def vouched_for(self, name: str) -> Account | None:
        """The account of somebody whom a provider vouches for; none that comes in by a password."""
        account = self._by_name.get(name)
        return account if account is not None and not account.digest and name != ADMINISTRATOR else None

    def authenticate(self, name: str, password: str) -> Account | None:
        """The account if this is its password. Takes as long for a name that is none."""
        account = self._by_name.get(name)
        if name == ADMINISTRATOR and self._password:
            return account if compare_digest(self._keyed(password), self._password) else None
        digest = account.digest if account is not None and account.digest else _placeholder_digest()
        try:
            self._hasher.verify(digest, password)
        except (VerificationError, InvalidHashError):
            return None
        return account

    def _keyed(self, password: str) -> bytes:
        return blake2b(password.encode(), key=self._key).digest()


def accounts_of(lines: Iterable[str]) -> list[Account]:
    """Accounts from the settings, each line `NAME ROLE WORKSPACE [DIGEST]`; a name of two lines has the roles of both.

    The settings have checked the form of each line.
    """
    found: dict[str, Account] = {}
    for line in lines:
        name, role, workspace, *digest = line.split()
        known = found.get(name, Account(name, ()))
        roles = (*known.roles, (workspace, WebRole[role.upper()]))
        found[name] = Account(name, roles, digest[0] if digest else known.digest)
    return list(found.values())


@cache
def _placeholder_digest() -> str:
    return hashed(secrets.token_hex())


def hashed(password: str) -> str:
    """What the settings keep of a password."""
    return PasswordHasher().hash(password)


def require_safe(host: str, accounts: Accounts) -> None:
    """Raise `ConfigError` for an address that others reach if nobody is asked who they are."""
    if accounts.is_open and not is_loopback(host):
        raise ConfigError(
            f"the pages would be open to everybody who reaches {host}: set GOODBOT_WEB_PASSWORD, [web] accounts or "
            '[web] pages = "off", or serve at 127.0.0.1'
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address. `host` may have a port."""
    name = host.removeprefix("[").partition("]")[0] if host.startswith("[") else host
    name = name.rpartition(":")[0] if name.count(":") == 1 else name
    if name.lower() in _LOOPBACK:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_from_here(request: Request) -> bool:
    """Whether a request names this machine, and nobody passed it on: elsewhere a name may be made to lead here."""
    is_passed_on = any(name in request.headers for name in ("x-forwarded-for", "x-forwarded-host", "forwarded"))
    return is_loopback(request.headers.get("host", "")) and not is_passed_on


class LoginThrottle:
    """A token bucket for each name and each address: five failures at once, then one more every twelve seconds."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._left: dict[str, tuple[float, float]] = {}

    def wait_s(self, *keys: str) -> float:
        """0, or for how many seconds none of these may try."""
        return max(0.0, *((1 - self._now(key)) * 60 / _PER_MINUTE for key in keys))

    def failed(self, *keys: str) -> None:
        """Count a failure. What is full again is forgotten, so that the count never grows without end."""
        now = self._monotonic()
        for key in keys:
            self._left[key] = (self._now(key) - 1, now)
        if len(self._left) > 1000:
            self._left = {key: kept for key, kept in self._left.items() if self._now(key) < _PER_MINUTE}

    def _now(self, key: str) -> float:
        now = self._monotonic()
        left, since = self._left.get(key, (float(_PER_MINUTE), now))
        return min(_PER_MINUTE, left + (now - since) * _PER_MINUTE / 60)
