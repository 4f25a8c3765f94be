"""Runs taken step by step, their grades, and values that expire."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.sql.base import Executable

from memory.adapters.row_validation import chunks, plain, storable
from memory.adapters.sql.session import ID_LIMIT, Session, put_statement, row_of
from memory.adapters.sql.step_tables import session_runs, short_memories, step_grades, steps
from memory.errors import Conflict, NotFound
from memory.model import EnvironmentState, Grade, SessionRun, ShortMemory, StoredGrade, StoredStep

_r = session_runs.c
_s = steps.c
_g = step_grades.c
_m = short_memories.c
_PUT_RUN = put_statement(session_runs)
_RUNS = select(session_runs).where(
    _r.workspace == bindparam("w"), _r.person == bindparam("person"), _r.session_id == bindparam("session")
)
_RUN = _RUNS.where(_r.partition == bindparam("partition"), _r.run_id == bindparam("run"))
_PUT_STEP = put_statement(steps)
_OF_PERSON = select(steps).where(_s.workspace == bindparam("w"), _s.person == bindparam("person"))
_BY_NUMBER = (_s.session_id, _s.number, _s.episode_id)
_OF_SESSION = _OF_PERSON.where(_s.session_id == bindparam("session"))
_GRADES = (
    select(step_grades)
    .where(_g.workspace == bindparam("w"), _g.episode_id.in_(bindparam("ids", expanding=True)))
    .order_by(_g.seq)
)
_SHORT = select(short_memories).where(
    _m.workspace == bindparam("w"), _m.kind == bindparam("kind"), _m.key == bindparam("key")
)
_GRADE = tuple(field.name for field in fields(Grade))


def _put_short() -> Executable:
    statement = upsert(short_memories)
    renewed = ("person", "expires_at", "value")
    return statement.on_conflict_do_update(
        index_elements=list(short_memories.primary_key), set_={name: statement.excluded[name] for name in renewed}
    )


_PUT_SHORT = _put_short()


class SqlStepTable:
    """`memory.ports.StepTable` in SQL."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put_run(self, run: SessionRun) -> None:
        self._session.run(_PUT_RUN, row_of(session_runs, run))

    def run(self, workspace: str, person: str, partition: str, session_id: str, run_id: str) -> SessionRun | None:
        key = {"w": workspace, "person": person, "partition": partition, "session": session_id, "run": run_id}
        row = self._session.row(_RUN, key)
        return None if row is None else SessionRun(**row._mapping)

    def runs(self, workspace: str, person: str, session_id: str) -> list[SessionRun]:
        ordered = _RUNS.order_by(_r.started_at, _r.rep, _r.run_id, _r.partition)
        rows = self._session.rows(ordered, {"w": workspace, "person": person, "session": session_id})
        return [SessionRun(**row._mapping) for row in rows]

    def put(self, step: StoredStep) -> None:
        row = row_of(steps, step)
        row |= {"env_pre": _to_json(step.env_pre), "env_post": _to_json(step.env_post)}
        self._run_for(step.episode_id, _PUT_STEP, row)

    def of_session(self, workspace: str, person: str, session_id: str) -> list[StoredStep]:
        where = {"w": workspace, "person": person, "session": session_id}
        return _steps(self._session.rows(_OF_SESSION.order_by(*_BY_NUMBER), where))

    def of_person(self, workspace: str, person: str) -> list[StoredStep]:
        return _steps(self._session.rows(_OF_PERSON.order_by(*_BY_NUMBER), {"w": workspace, "person": person}))

    def add_grade(self, grade: StoredGrade) -> None:
        given = storable(grade).grade
        row = {name: getattr(given, name) for name in _GRADE}
        row |= {"workspace": grade.workspace, "episode_id": grade.episode_id, "actor": grade.actor}
        row["seq"] = self._session.advance(grade.workspace, "grade")
        self._run_for(grade.episode_id, insert(step_grades), row)

    def grades(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[StoredGrade]]:
        found: dict[str, list[StoredGrade]] = {}
        for ids in chunks(dict.fromkeys(episode_ids), ID_LIMIT):
            for row in self._session.rows(_GRADES, {"w": workspace, "ids": ids}):
                found.setdefault(row.episode_id, []).append(_grade(row))
        return found

    def grades_by(self, workspace: str, actor: str) -> list[StoredGrade]:
        theirs = select(step_grades).where(_g.workspace == workspace, _g.actor == actor)
        return [_grade(row) for row in self._session.rows(theirs.order_by(_g.seq))]

    def erase_grades(self, workspace: str, actor: str) -> int:
        return self._session.run(delete(step_grades).where(_g.workspace == workspace, _g.actor == actor))

    def delete_runs(self, workspace: str, person: str) -> int:
        return self._session.run(delete(session_runs).where(_r.workspace == workspace, _r.person == person))

    def _run_for(self, episode_id: str, statement: Executable, row: Mapping[str, object]) -> None:
        try:
            self._session.run(statement, row)
        except Conflict as exc:
            raise NotFound(f"There is no episode {episode_id} in {row['workspace']}; store it first.") from exc


class SqlShortMemoryTable:
    """`memory.ports.ShortMemoryTable` in SQL."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, entry: ShortMemory) -> None:
        self._session.run(_PUT_SHORT, row_of(short_memories, entry))

    def get(self, workspace: str, kind: str, key: str, now: datetime) -> ShortMemory | None:
        alive = _SHORT.where(_m.expires_at > bindparam("now"))
        row = self._session.row(alive, {"w": workspace, "kind": kind, "key": key, "now": now})
        return None if row is None else ShortMemory(**row._mapping)

    def delete(self, workspace: str, kind: str, key: str) -> bool:
        gone = delete(short_memories).where(_m.workspace == workspace, _m.kind == kind, _m.key == key)
        return self._session.run(gone) > 0

    def of_person(self, workspace: str, person: str) -> list[ShortMemory]:
        mine = select(short_memories).where(_m.workspace == workspace, _m.person == person)
        return [ShortMemory(**row._mapping) for row in self._session.rows(mine.order_by(_m.kind, _m.key))]

    def delete_by(self, workspace: str, person: str) -> int:
        return self._session.run(delete(short_memories).where(_m.workspace == workspace, _m.person == person))

    def sweep(self, now: datetime) -> int:
        return self._session.run(delete(short_memories).where(_m.expires_at <= now))


def _to_json(environment: EnvironmentState) -> Mapping[str, object]:
    return {
        "elements": list(environment.elements),
        "url": environment.url,
        "details": plain(environment.details),
    }


def _from_json(stored: Mapping[str, Any]) -> EnvironmentState:
    return EnvironmentState(
        elements=tuple(stored.get("elements", ())), url=stored.get("url", ""), details=stored.get("details", {})
    )


def _steps(rows: Sequence[Row[Any]]) -> list[StoredStep]:
    return [step_of(row._asdict()) for row in rows]


def step_of(stored: Mapping[str, Any]) -> StoredStep:
    """The step of a row."""
    environments = {name: _from_json(stored[name]) for name in ("env_pre", "env_post")}
    return StoredStep(**{**stored, **environments})


def _grade(row: Row[Any]) -> StoredGrade:
    return grade_of(row._asdict())


def grade_of(given: Mapping[str, Any]) -> StoredGrade:
    """The grade of a row."""
    return StoredGrade(
        workspace=given["workspace"],
        episode_id=given["episode_id"],
        actor=given["actor"],
        grade=Grade(**{name: given[name] for name in _GRADE}),
        seq=given["seq"],
    )
