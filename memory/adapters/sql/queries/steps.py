"""Runs that are recorded step by step, their grades, and values that expire, in SQL."""

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.sql.base import Executable

from memory.adapters.row_validation import require_storable
from memory.adapters.sql.tables.columns import READ_AS
from memory.adapters.sql.tables.dialect import insert as upsert
from memory.adapters.sql.tables.steps import session_runs, short_memories, step_grades, steps
from memory.adapters.sql.transaction.session import SqlTable, among, matching, row_of
from memory.model import Grade, SessionRun, ShortMemory, StoredGrade, StoredStep

_r = session_runs.c
_s = steps.c
_g = step_grades.c
_m = short_memories.c
_RUNS = (
    select(session_runs)
    .where(matching(session_runs, "person", "session_id"))
    .order_by(_r.started_at, _r.rep, _r.run_id, _r.partition)
)
_RUN = select(session_runs).where(matching(session_runs, "person", "partition", "session_id", "run_id"))
_OF_PERSON = select(steps).where(matching(steps, "person")).order_by(_s.session_id, _s.number, _s.episode_id)
_OF_SESSION = _OF_PERSON.where(_s.session_id == bindparam("session_id"))
_GRADES = select(step_grades).where(among(step_grades, "episode_id")).order_by(_g.seq)
_SHORT = select(short_memories).where(matching(short_memories, "kind", "key"), _m.expires_at > bindparam("now"))
_GRADE = tuple(field.name for field in fields(Grade))


def _put_short() -> Executable:
    statement = upsert(short_memories)
    renewed = ("person", "expires_at", "value")
    return statement.on_conflict_do_update(
        index_elements=list(short_memories.primary_key), set_={name: statement.excluded[name] for name in renewed}
    )


_PUT_SHORT = _put_short()


class SqlStepTable(SqlTable):
    """`memory.ports.StepTable` in SQL."""

    def put_run(self, run: SessionRun) -> None:
        self._session.put(session_runs, run)

    def run(self, workspace: str, person: str, partition: str, session_id: str, run_id: str) -> SessionRun | None:
        key = {"person": person, "partition": partition, "session_id": session_id, "run_id": run_id}
        return self._session.first(SessionRun, _RUN, workspace=workspace, **key)

    def runs(self, workspace: str, person: str, session_id: str) -> list[SessionRun]:
        return self._session.all(SessionRun, _RUNS, workspace=workspace, person=person, session_id=session_id)

    def put(self, step: StoredStep) -> None:
        with self._session.needing(f"episode {step.episode_id} in {step.workspace}; store it"):
            self._session.put(steps, step)

    def of_session(self, workspace: str, person: str, session_id: str) -> list[StoredStep]:
        return self._session.all(StoredStep, _OF_SESSION, workspace=workspace, person=person, session_id=session_id)

    def of_person(self, workspace: str, person: str) -> list[StoredStep]:
        return self._session.all(StoredStep, _OF_PERSON, workspace=workspace, person=person)

    def add_grade(self, grade: StoredGrade) -> None:
        given = require_storable(grade).grade
        row = {name: getattr(given, name) for name in _GRADE}
        row |= {"workspace": grade.workspace, "episode_id": grade.episode_id, "actor": grade.actor}
        row["seq"] = self._session.advance(grade.workspace, "grade")
        with self._session.needing(f"episode {grade.episode_id} in {grade.workspace}; store it"):
            self._session.run(insert(step_grades), row)

    def grades(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[StoredGrade]]:
        return self._session.grouped("episode_id", grade_of, _GRADES, workspace, episode_ids)

    def grades_by(self, workspace: str, actor: str) -> list[StoredGrade]:
        theirs = select(step_grades).where(_g.workspace == workspace, _g.actor == actor)
        return self._session.all(grade_of, theirs.order_by(_g.seq))

    def erase_grades(self, workspace: str, actor: str) -> int:
        return self._session.run(delete(step_grades).where(_g.workspace == workspace, _g.actor == actor))

    def delete_runs(self, workspace: str, person: str) -> int:
        return self._session.run(delete(session_runs).where(_r.workspace == workspace, _r.person == person))


class SqlShortMemoryTable(SqlTable):
    """`memory.ports.ShortMemoryTable` in SQL."""

    def put(self, entry: ShortMemory) -> None:
        self._session.run(_PUT_SHORT, row_of(short_memories, entry))

    def get(self, workspace: str, kind: str, key: str, now: datetime) -> ShortMemory | None:
        return self._session.first(ShortMemory, _SHORT, workspace=workspace, kind=kind, key=key, now=now)

    def delete(self, workspace: str, kind: str, key: str) -> bool:
        gone = delete(short_memories).where(_m.workspace == workspace, _m.kind == kind, _m.key == key)
        return self._session.run(gone) > 0

    def of_person(self, workspace: str, person: str, kind: str = "") -> list[ShortMemory]:
        mine = select(short_memories).where(_m.workspace == workspace, _m.person == person)
        mine = mine.where(_m.kind == kind) if kind else mine
        return self._session.all(ShortMemory, mine.order_by(_m.kind, _m.key))

    def up_to(self, workspace: str, kind: str, key: str, limit: int) -> list[ShortMemory]:
        first = select(short_memories).where(_m.workspace == workspace, _m.kind == kind, _m.key <= key)
        return self._session.all(ShortMemory, first.order_by(_m.key).limit(limit))

    def delete_by(self, workspace: str, person: str) -> int:
        return self._session.run(delete(short_memories).where(_m.workspace == workspace, _m.person == person))

    def sweep(self, now: datetime) -> int:
        return self._session.run(delete(short_memories).where(_m.expires_at <= now))


def grade_of(workspace: str, episode_id: str, actor: str, seq: int, **grade: Any) -> StoredGrade:  # noqa: ANN401 - columns
    """A grade from a row's columns."""
    return StoredGrade(workspace=workspace, episode_id=episode_id, actor=actor, grade=Grade(**grade), seq=seq)


step_grades.info[READ_AS] = grade_of
