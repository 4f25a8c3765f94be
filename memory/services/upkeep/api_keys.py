"""API keys: creation, authentication and revocation."""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from memory.errors import Conflict, InvalidInput, NotFound
from memory.model.api_key import ApiKey, Right
from memory.services.core import Core

NAME_CHARACTERS = 80
_PREFIX = "gb"


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The use cases of API keys. A key is `gb.WORKSPACE.SECRET`; only a digest of the secret is stored."""

    _core: Core

    def make(
        self,
        workspace: str,
        name: str,
        right: Right,
        *,
        by: str,
        channel: str = "",
        make_secret: Callable[[], str] = secrets.token_urlsafe,
    ) -> tuple[ApiKey, str]:
        """Create a key. Returns it with the text that its program has to send, which cannot be shown again.

        Raises `InvalidInput` for an unusable workspace or name, and `Conflict` if the workspace has a key of that name.
        """
        if not workspace or not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
            raise InvalidInput(f"a key needs a workspace and a printable name of up to {NAME_CHARACTERS} characters")
        secret = make_secret()
        key = ApiKey(
            workspace=workspace,
            name=name.strip(),
            digest=_digest(secret),
            right=right,
            channel=channel,
            made_by=by,
            made_at=self._core.clock(),
        )
        with self._core.store.write() as tx:
            if not tx.api_keys.add(key):
                raise Conflict(f"{workspace} has a key named {key.name!r}; choose another name")
        return key, f"{_PREFIX}.{_encoded(workspace)}.{secret}"

    def authenticate(self, sent: str) -> ApiKey | None:
        """The key that was sent; None if it is unknown or revoked."""
        prefix, _, rest = sent.partition(".")
        encoded, _, secret = rest.partition(".")
        workspace = _decoded(encoded)
        if prefix != _PREFIX or not workspace or not secret:
            return None
        with self._core.store.read() as tx:
            key = tx.api_keys.find(workspace, _digest(secret))
        return key if key is not None and key.revoked_at is None else None

    def within(self, workspace: str) -> list[ApiKey]:
        """The keys of a workspace, revoked ones included, ordered by name."""
        with self._core.store.read() as tx:
            return tx.api_keys.within(workspace)

    def revoke(self, workspace: str, name: str, *, by: str) -> ApiKey:
        """Revoke a key. Raises `NotFound`."""
        with self._core.store.write() as tx:
            known = {each.name: each for each in tx.api_keys.within(workspace)}
            if name not in known:
                raise NotFound(f"{workspace} has no key named {name!r}; `goodbot keys list` shows those there are")
            key = known[name]
            if key.revoked_at is None:
                key = replace(key, revoked_by=by, revoked_at=self._core.clock())
                tx.api_keys.put(key)
        return key


def _digest(secret: str) -> str:
    """The digest of a secret. A slow hash is not needed, because 256 random bits cannot be guessed."""
    return sha256(secret.encode()).hexdigest()


def _encoded(workspace: str) -> str:
    return urlsafe_b64encode(workspace.encode()).decode().rstrip("=")


def _decoded(encoded: str) -> str:
    try:
        return urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError:
        return ""
