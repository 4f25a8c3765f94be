"""API keys in SQL."""

from sqlalchemy import select, update

from memory.adapters.sql.tables.administration import api_keys
from memory.adapters.sql.transaction.session import SqlTable, add_statement, matching, row_of
from memory.model.api_key import ApiKey

_k = api_keys.c
_FIND = select(api_keys).where(matching(api_keys, "digest"))
_WITHIN = select(api_keys).where(matching(api_keys)).order_by(_k.name)


class SqlApiKeyTable(SqlTable):
    """`memory.ports.ApiKeyTable` in SQL."""

    def add(self, key: ApiKey) -> bool:
        return self._session.run(add_statement(api_keys), row_of(api_keys, key)) > 0

    def put(self, key: ApiKey) -> None:
        self._session.put(api_keys, key)

    def find(self, workspace: str, digest: str) -> ApiKey | None:
        return self._session.first(ApiKey, _FIND, workspace=workspace, digest=digest)

    def within(self, workspace: str) -> list[ApiKey]:
        return self._session.all(ApiKey, _WITHIN, workspace=workspace)

    def erase_person(self, workspace: str, person: str) -> None:
        for column in (_k.made_by, _k.revoked_by):
            own = (_k.workspace == workspace, column == person)
            self._session.run(update(api_keys).where(*own).values({column: ""}))
