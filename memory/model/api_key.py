"""API keys of programs that use memory over HTTP."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Right(StrEnum):
    """What a key allows; each right includes those before it."""

    QUERY = "query"
    """Read what is known in its scope."""
    TEACH = "teach"
    """Also write topics, answers and reactions."""
    ADMIN = "admin"
    """Also see, undo and erase everything in its workspace."""

    def includes(self, other: "Right") -> bool:
        """Whether this right includes the other one."""
        order = list(Right)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key of one workspace. The secret is never stored, only its digest."""

    workspace: str
    name: str
    """Unique in the workspace, also among revoked keys."""
    digest: str
    """SHA-256 of the secret, as hexadecimal digits."""
    right: Right
    channel: str = ""
    """The only channel it may name; empty for every channel of the workspace."""
    made_by: str
    made_at: datetime
    revoked_by: str = ""
    revoked_at: datetime | None = None
