"""The tables of runs recorded step by step, of the grades of their steps, and of values that expire."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from memory.model import SessionRun, ShortMemory, StoredGrade, StoredStep


class StepTable(Protocol):
    """Sessions, steps and grades. Every call names the workspace, and the person whose session it is."""

    def put_run(self, run: SessionRun) -> None:
        """Insert, or replace the run with this partition, session and run id."""

    def run(self, workspace: str, person: str, partition: str, session_id: str, run_id: str) -> SessionRun | None:
        """The run that was begun there, or None."""

    def runs(self, workspace: str, person: str, session_id: str) -> list[SessionRun]:
        """The session's runs of every partition, the first one first."""

    def put(self, step: StoredStep) -> None:
        """Insert, or replace what belongs to this episode. Raises `NotFound` without the episode."""

    def of_session(self, workspace: str, person: str, session_id: str) -> list[StoredStep]:
        """The session's steps by number."""

    def of_person(self, workspace: str, person: str) -> list[StoredStep]:
        """Every step of a person by session, then number."""

    def add_grade(self, grade: StoredGrade) -> None:
        """Append a grade. Assigns `seq`. Raises `NotFound` without the episode."""

    def grades(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[StoredGrade]]:
        """The grades of these episodes in order of arrival, for those that have any."""

    def grades_by(self, workspace: str, actor: str) -> list[StoredGrade]:
        """One person's grades in order of arrival."""

    def erase_grades(self, workspace: str, actor: str) -> int:
        """Erase one person's grades. Returns how many."""

    def delete_runs(self, workspace: str, person: str) -> int:
        """Erase the runs of a person's sessions; their steps go with the episodes. Returns how many."""


class ShortMemoryTable(Protocol):
    """Values that expire: for example steps that are not persisted yet."""

    def put(self, entry: ShortMemory) -> None:
        """Insert a value; for a known kind and key, replace value and expiry but keep the time of creation."""

    def get(self, workspace: str, kind: str, key: str, now: datetime) -> ShortMemory | None:
        """The entry, unless there is none or it has expired."""

    def delete(self, workspace: str, kind: str, key: str) -> bool:
        """Remove one entry, expired or not; whether it was there."""

    def of_person(self, workspace: str, person: str, kind: str = "") -> list[ShortMemory]:
        """A person's entries, of one kind or all, expired or not, by kind and key."""

    def up_to(self, workspace: str, kind: str, key: str, limit: int) -> list[ShortMemory]:
        """The first entries of a kind whose keys are not above this one, by key, expired or not."""

    def delete_by(self, workspace: str, person: str) -> int:
        """Erase a person's entries. Returns how many."""

    def sweep(self, now: datetime) -> int:
        """Delete expired entries of every workspace; returns how many."""
