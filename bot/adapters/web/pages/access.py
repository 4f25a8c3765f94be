"""Accounts of the pages, with roles in workspaces, and their authentication."""

import secrets
from collections.abc import Iterable, Sequence
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
"""The name of the account with the password from the environment."""
EVERYWHERE = "*"
"""Stands for all workspaces."""
_LOCAL = "local"
"""The name of the account where there are no logins."""
FAILURES_PER_MINUTE = 5
"""Failed logins of one name, or from one address."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class WebRole(IntEnum):
    """A role on the pages of a workspace; each includes the ones before."""

    VIEWER = 1
    """Sees what was written in public."""
    TEACHER = 2
    """Also decides about it."""
    ADMIN = 3
    """Also sees everything else: private episodes, people's data, the audit log, the settings."""

    @property
    def role(self) -> Role:
        """The role in the memory."""
        return {WebRole.ADMIN: Role.ADMIN, WebRole.TEACHER: Role.TEACHER}.get(self, Role.MEMBER)


@dataclass(frozen=True, slots=True)
class Account:
    """An account that can log in."""

    name: str
    roles: tuple[tuple[str, WebRole], ...]
    """Workspaces and the role in each; `*` is all workspaces."""
    digest: str = ""
    """The Argon2 digest of the password; empty for an account without one."""

    @property
    def actor(self) -> str:
        """The account's name in the event log."""
        return f"web:{self.name}"

    def role_in(self, workspace: str) -> WebRole | None:
        """The highest role in a workspace, or None."""
        return max((role for where, role in self.roles if where in (workspace, EVERYWHERE)), default=None)

    def workspaces(self, every: Sequence[str]) -> list[str]:
        """The workspaces, out of `every`, that the account may see."""
        return [each for each in every if self.role_in(each) is not None]


class Accounts:
    """All accounts. Without a password and accounts there are no logins: everybody is an administrator."""

    def __init__(self, password: str, accounts: Iterable[Account] = ()) -> None:
        self._key = secrets.token_bytes(32)
        self._password = self._keyed(password) if password else b""
        self._by_name = {each.name: each for each in accounts}
        self._hasher = PasswordHasher()
        _placeholder_digest()  # made now, so that the time of the first login reveals nothing
        if password:
            self._by_name[ADMINISTRATOR] = Account(ADMINISTRATOR, ((EVERYWHERE, WebRole.ADMIN),))
        self.is_open = not self._by_name
        """Whether there are no logins."""

    @property
    def local(self) -> Account:
        """The account where there are no logins."""
        return Account(_LOCAL, ((EVERYWHERE, WebRole.ADMIN),))

    def named(self, name: str) -> Account | None:
        """The account of this name, or None."""
        return self._by_name.get(name)

    def identified_by_provider(self, name: str) -> Account | None:
        """The account of a person whom an OpenID provider identified; never one with a password."""
        account = self._by_name.get(name)
        return account if account is not None and not account.digest and name != ADMINISTRATOR else None

    def authenticate(self, name: str, password: str) -> Account | None:
        """The account if the password is right, else None. Takes the same time for an unknown name."""
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
    """Parse accounts from the settings: lines `NAME ROLE WORKSPACE [DIGEST]`. Lines of the same name add roles.

    The settings have validated the lines.
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
    return password_digest(secrets.token_hex())


def password_digest(password: str) -> str:
    """The digest of a password for the settings."""
    return PasswordHasher().hash(password)


def require_safe(host: str, accounts: Accounts) -> None:
    """Raise `ConfigError` if others can reach the address and there are no logins."""
    if accounts.is_open and not is_loopback(host):
        raise ConfigError(
            f"the pages would be open to everybody who reaches {host}: set GOODBOT_WEB_PASSWORD, [web] accounts or "
            '[web] pages = "off", or serve at 127.0.0.1'
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host. `host` may have a port."""
    name = host.removeprefix("[").partition("]")[0] if host.startswith("[") else host
    name = name.rpartition(":")[0] if name.count(":") == 1 else name
    if name.lower() in _LOOPBACK:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_from_this_machine(request: Request) -> bool:
    """Whether a request names this machine and was not forwarded: any other name may be made to resolve to it."""
    is_passed_on = any(name in request.headers for name in ("x-forwarded-for", "x-forwarded-host", "forwarded"))
    return is_loopback(request.headers.get("host", "")) and not is_passed_on
