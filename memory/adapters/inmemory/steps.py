"""Runs taken step by step, their grades, and values that expire, in dictionaries."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import plain, storable
from memory.errors import NotFound
from memory.model import EnvironmentState, SessionRun, ShortMemory, StoredGrade, StoredStep


class Steps:
    """`memory.ports.StepTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put_run(self, run: SessionRun) -> None:
        key = (storable(run).workspace, run.person, run.session_id, run.partition, run.run_id)
        self._access.changing.session_runs[key] = run

    def run(self, workspace: str, person: str, partition: str, session_id: str, run_id: str) -> SessionRun | None:
        return self._access.state.session_runs.get((workspace, person, session_id, partition, run_id))

    def runs(self, workspace: str, person: str, session_id: str) -> list[SessionRun]:
        wanted = (workspace, person, session_id)
        found = [run for key, run in self._access.state.session_runs.items() if key[:3] == wanted]
        return sorted(found, key=lambda run: (run.started_at, run.rep, run.run_id, run.partition))

    def put(self, step: StoredStep) -> None:
        state = self._access.changing
        self._require(storable(step).workspace, step.episode_id)
        state.steps[step.workspace, step.episode_id] = replace(
            step, env_pre=_copied(step.env_pre), env_post=_copied(step.env_post), embedding=tuple(step.embedding)
        )

    def of_session(self, workspace: str, person: str, session_id: str) -> list[StoredStep]:
        return [step for step in self.of_person(workspace, person) if step.session_id == session_id]

    def of_person(self, workspace: str, person: str) -> list[StoredStep]:
        steps = self._access.state.steps.items()
        found = [step for key, step in steps if key[0] == workspace and step.person == person]
        return sorted(found, key=lambda step: (step.session_id, step.number, step.episode_id))

    def add_grade(self, grade: StoredGrade) -> None:
        state = self._access.changing
        self._require(storable(grade).workspace, grade.episode_id)
        seq = self._access.next_number(grade.workspace, "grade")
        state.grades[grade.workspace, seq] = replace(grade, seq=seq)

    def grades(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[StoredGrade]]:
        wanted = set(episode_ids)
        found: dict[str, list[StoredGrade]] = {}
        for key, grade in self._access.state.grades.items():
            if key[0] == workspace and grade.episode_id in wanted:
                found.setdefault(grade.episode_id, []).append(grade)
        return found

    def grades_by(self, workspace: str, actor: str) -> list[StoredGrade]:
        grades = self._access.state.grades.items()
        return [grade for key, grade in grades if key[0] == workspace and grade.actor == actor]

    def erase_grades(self, workspace: str, actor: str) -> int:
        grades = self._access.changing.grades
        gone = self.grades_by(workspace, actor)
        for grade in gone:
            del grades[workspace, grade.seq]
        return len(gone)

    def delete_runs(self, workspace: str, person: str) -> int:
        runs = self._access.changing.session_runs
        gone = [key for key in runs if key[:2] == (workspace, person)]
        for key in gone:
            del runs[key]
        return len(gone)

    def _require(self, workspace: str, episode_id: str) -> None:
        if (workspace, episode_id) not in self._access.state.episodes:
            raise NotFound(f"There is no episode {episode_id} in {workspace}; store it first.")


class ShortMemories:
    """`memory.ports.ShortMemoryTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put(self, entry: ShortMemory) -> None:
        short = self._access.changing.short
        key = (storable(entry).workspace, entry.kind, entry.key)
        known = short.get(key, entry)
        short[key] = replace(entry, value=plain(entry.value), created_at=known.created_at)

    def get(self, workspace: str, kind: str, key: str, now: datetime) -> ShortMemory | None:
        entry = self._access.state.short.get((workspace, kind, key))
        return entry if entry is not None and entry.expires_at > now else None

    def delete(self, workspace: str, kind: str, key: str) -> bool:
        return self._access.changing.short.pop((workspace, kind, key), None) is not None

    def of_person(self, workspace: str, person: str) -> list[ShortMemory]:
        short = self._access.state.short
        return [short[key] for key in sorted(short) if key[0] == workspace and short[key].person == person]

    def delete_by(self, workspace: str, person: str) -> int:
        short = self._access.changing.short
        gone = [key for key, entry in short.items() if key[0] == workspace and entry.person == person]
        for key in gone:
            del short[key]
        return len(gone)

    def sweep(self, now: datetime) -> int:
        short = self._access.changing.short
        expired = [key for key, entry in short.items() if entry.expires_at <= now]
        for key in expired:
            del short[key]
        return len(expired)


def _copied(environment: EnvironmentState) -> EnvironmentState:
    return replace(environment, details=plain(environment.details))
