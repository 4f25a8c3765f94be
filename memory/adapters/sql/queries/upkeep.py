"""Jobs, their progress, leases, rules and erasures in SQL."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, insert, select

from memory.adapters.sql.tables.administration import erasures, job_progress, job_runs, leases, rules
from memory.adapters.sql.transaction.session import SqlTable, among, matching, row_of
from memory.model.upkeep import Erasure, JobProgress, JobRun, Lease, Rule

_l = leases.c
_r = rules.c
_e = erasures.c
_LEASE = select(leases).where(_l.name == bindparam("name"))
_PROGRESS = select(job_progress).where(matching(job_progress, "job"))
_DROP_PROGRESS = delete(job_progress).where(matching(job_progress, "job"))
_LEASES = select(leases).where(_l.name.startswith(bindparam("beginning"))).order_by(_l.name)
_RULES = select(rules).where(among(rules, "id")).order_by(_r.id)
_ALL_RULES = select(rules).where(matching(rules)).order_by(_r.id)
_ERASURES = select(erasures).order_by(_e.workspace, _e.id)


class SqlUpkeepTable(SqlTable):
    """`memory.ports.UpkeepTable` in SQL."""

    def take_lease(self, lease: Lease, now: datetime) -> bool:
        self._session.require_writing()
        known = self.lease(lease.name)
        if known is not None and known.owner != lease.owner and known.until > now:
            return False
        # There is one writer at a time, so no other process has taken it since.
        self._session.put(leases, lease)
        return True

    def release_lease(self, name: str, owner: str) -> None:
        self._session.run(delete(leases).where(and_(_l.name == name, _l.owner == owner)))

    def lease(self, name: str) -> Lease | None:
        return self._session.first(Lease, _LEASE, name=name)

    def leases(self, beginning: str) -> list[Lease]:
        return self._session.all(Lease, _LEASES, beginning=beginning)

    def put_job_run(self, run: JobRun) -> None:
        self._session.put(job_runs, run)

    def job_runs(self) -> list[JobRun]:
        return self._session.all(JobRun, select(job_runs).order_by(job_runs.c.name))

    def put_progress(self, progress: JobProgress) -> None:
        self._session.put(job_progress, progress)

    def progress(self, workspace: str, job: str) -> JobProgress | None:
        return self._session.first(JobProgress, _PROGRESS, workspace=workspace, job=job)

    def drop_progress(self, workspace: str, job: str) -> None:
        self._session.run(_DROP_PROGRESS, {"workspace": workspace, "job": job})

    def set_rules(self, workspace: str, rules_now: Sequence[Rule]) -> None:
        self._session.run(delete(rules).where(_r.workspace == workspace))
        self._session.run(insert(rules), [row_of(rules, rule) for rule in rules_now])

    def rules(self, workspace: str, ids: Collection[str] | None = None) -> list[Rule]:
        if ids is None:
            return self._session.all(Rule, _ALL_RULES, workspace=workspace)
        return [Rule(**row._mapping) for row in self._session.each(_RULES, workspace, ids)]

    def put_erasure(self, erasure: Erasure) -> None:
        self._session.put(erasures, erasure)

    def erasures(self) -> list[Erasure]:
        return self._session.all(Erasure, _ERASURES)

    def end_erasure(self, erasure: Erasure) -> None:
        self._session.run(delete(erasures).where(and_(_e.workspace == erasure.workspace, _e.id == erasure.id)))
