"""Saved messages."""

from collections.abc import Iterable

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, delete, select

from memory.adapters.sql.columns import READ_AS, metadata, moment, short
from memory.adapters.sql.session import SqlTable, among, matching
from memory.model.saved import SavedMessage

saved_messages = Table(
    "saved_messages",
    metadata,
    *short("workspace", "channel", "message_id", "lesson_id", "link"),
    *moment("saved_at"),
    PrimaryKeyConstraint("workspace", "channel", "message_id"),
    ForeignKeyConstraint(
        ["workspace", "lesson_id"],
        ["episodes.workspace", "episodes.id"],
        name="fk_saved_messages_episodes",
        ondelete="CASCADE",
    ),
    Index(None, "workspace", "lesson_id"),
    sqlite_with_rowid=False,
    info={READ_AS: SavedMessage},
)
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
