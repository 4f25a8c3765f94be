"""Jobs, leases and rules in a store."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from memory.model.upkeep import Erasure, JobRun, Lease, Rule


class UpkeepTable(Protocol):
    """Jobs and leases belong to the whole database; rules and erasures to a workspace."""

    def take_lease(self, lease: Lease, now: datetime) -> bool:
        """Take or renew it. False while another owner's has not run out."""
        ...

    def release_lease(self, name: str, owner: str) -> None:
        """Give it back, if it is this owner's."""
        ...

    def lease(self, name: str) -> Lease | None:
        """The lease as it was last taken, run out or not."""
        ...

    def leases(self, beginning: str) -> list[Lease]:
        """Those whose names begin so, run out or not, by name."""
        ...

    def put_job_run(self, run: JobRun) -> None:
        """Keep a job's last run; it replaces the one before."""
        ...

    def job_runs(self) -> list[JobRun]:
        """The last run of every job that ever ran, by name."""
        ...

    def set_rules(self, workspace: str, rules: Sequence[Rule]) -> None:
        """Replace the workspace's rules."""
        ...

    def rules(self, workspace: str, ids: Collection[str] | None = None) -> list[Rule]:
        """Those of these rules that there are, or all, by id."""
        ...

    def put_erasure(self, erasure: Erasure) -> None:
        """Note that an erasure is under way, or how far it is."""
        ...

    def erasures(self) -> list[Erasure]:
        """Those under way in every workspace, by workspace and id."""
        ...

    def end_erasure(self, erasure: Erasure) -> None:
        """Nothing of it is left to do."""
        ...
