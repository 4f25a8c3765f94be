"""Batches of lessons in SQL."""

from collections.abc import Collection, Iterable

from sqlalchemy import delete, select, update

from memory.adapters.sql.tables.administration import batch_lessons, batches
from memory.adapters.sql.transaction.session import SqlTable, among, matching
from memory.model.batch import Batch, BatchLesson

_b, _l = batches.c, batch_lessons.c
_GET = select(batches).where(matching(batches, "id"))
_WITHIN = select(batches).where(matching(batches)).order_by(_b.at.desc(), _b.id.desc())
_LESSONS = select(batch_lessons).where(among(batch_lessons, "batch_id")).order_by(_l.lesson_id)
_OF_LESSONS = select(batch_lessons).where(among(batch_lessons, "lesson_id"))
_KNOWN = select(_l.key).where(among(batch_lessons, "key"))
_DROP = delete(batch_lessons).where(matching(batch_lessons, "key"))


class SqlBatchTable(SqlTable):
    """`memory.ports.BatchTable` in SQL."""

    def put(self, batch: Batch) -> None:
        self._session.put(batches, batch)

    def get(self, workspace: str, batch_id: str) -> Batch | None:
        return self._session.first(Batch, _GET, workspace=workspace, id=batch_id)

    def within(self, workspace: str) -> list[Batch]:
        return self._session.all(Batch, _WITHIN, workspace=workspace)

    def put_lessons(self, *lessons: BatchLesson) -> None:
        with self._session.needing("batch"):
            self._session.put(batch_lessons, *lessons)

    def lessons(self, workspace: str, *batch_ids: str) -> list[BatchLesson]:
        return [BatchLesson(**row._mapping) for row in self._session.each(_LESSONS, workspace, batch_ids)]

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, BatchLesson]:
        rows = self._session.each(_OF_LESSONS, workspace, lesson_ids)
        return {row.lesson_id: BatchLesson(**row._mapping) for row in rows}

    def known(self, workspace: str, keys: Iterable[str]) -> set[str]:
        return {row.key for row in self._session.each(_KNOWN, workspace, keys)}

    def drop(self, workspace: str, keys: Collection[str]) -> None:
        self._session.run(_DROP, [{"workspace": workspace, "key": key} for key in keys])

    def erase_person(self, workspace: str, person: str) -> None:
        own = (_b.workspace == workspace, _b.actor == person)
        self._session.run(update(batches).where(*own).values(actor=""))
