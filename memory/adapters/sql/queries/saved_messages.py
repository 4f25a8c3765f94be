"""The table of saved messages in SQL."""

from collections.abc import Iterable

from sqlalchemy import delete, select

from memory.adapters.sql.tables.teaching import saved_messages
from memory.adapters.sql.transaction.session import SqlTable, among, matching
from memory.model.saved_messages import SavedMessage

_KEY = ("channel", "message_id")
_GET = select(saved_messages).where(matching(saved_messages, *_KEY))
_OF_LESSONS = select(saved_messages).where(among(saved_messages, "lesson_id"))
_DELETE = delete(saved_messages).where(matching(saved_messages, *_KEY))


class SqlSavedMessageTable(SqlTable):
    """`memory.ports.SavedMessageTable` in SQL."""

    def put(self, saved: SavedMessage) -> None:
        with self._session.needing("lesson"):
            self._session.put(saved_messages, saved)

    def get(self, workspace: str, channel: str, message_id: str) -> SavedMessage | None:
        return self._session.first(SavedMessage, _GET, workspace=workspace, channel=channel, message_id=message_id)

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, SavedMessage]:
        rows = self._session.each(_OF_LESSONS, workspace, lesson_ids)
        return {row.lesson_id: SavedMessage(**row._mapping) for row in rows}

    def delete(self, saved: SavedMessage) -> None:
        row = {"workspace": saved.workspace, "channel": saved.channel, "message_id": saved.message_id}
        self._session.run(_DELETE, row)
