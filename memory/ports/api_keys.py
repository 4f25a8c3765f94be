"""API keys in a store."""

from typing import Protocol

from memory.model.api_key import ApiKey


class ApiKeyTable(Protocol):
    """The keys of each workspace, revoked ones too."""

    def add(self, key: ApiKey) -> bool:
        """Keep a new key; False if the workspace has one of that name."""
        ...

    def put(self, key: ApiKey) -> None:
        """Keep it in place of the one of that name."""
        ...

    def find(self, workspace: str, digest: str) -> ApiKey | None:
        """The key with this digest."""
        ...

    def within(self, workspace: str) -> list[ApiKey]:
        """All keys of a workspace by name."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Forget who it was that made or revoked keys."""
        ...
