"""Jobs, leases, rules and erasures."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, insert, select

from memory.adapters.sql.session import Session, put_statement, row_of
from memory.adapters.sql.upkeep_tables import erasures, job_runs, leases, rules
from memory.model.upkeep import Erasure, JobRun, Lease, Rule

_l = leases.c
_r = rules.c
_PUT_JOB = put_statement(job_runs)


_e = erasures.c
_PUT_ERASURE = put_statement(erasures)
_PUT_LEASE = put_statement(leases)
_LEASE = select(leases).where(_l.name == bindparam("name"))
_RULES = (
    select(rules).where(_r.workspace == bindparam("w"), _r.id.in_(bindparam("ids", expanding=True))).order_by(_r.id)
)
_ALL_RULES = select(rules).where(_r.workspace == bindparam("w")).order_by(_r.id)


class SqlUpkeepTable:
    """`memory.ports.UpkeepTable` in SQL."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def take_lease(self, lease: Lease, now: datetime) -> bool:
        self._session.require_writing()
        known = self.lease(lease.name)
        if known is not None and known.owner != lease.owner and known.until > now:
            return False
        # One writer at a time: nobody took it between the question and this statement.
        self._session.run(_PUT_LEASE, row_of(leases, lease))
        return True

    def release_lease(self, name: str, owner: str) -> None:
        self._session.run(delete(leases).where(and_(_l.name == name, _l.owner == owner)))

    def lease(self, name: str) -> Lease | None:
        row = self._session.row(_LEASE, {"name": name})
        return None if row is None else Lease(**row._mapping)

    def put_job_run(self, run: JobRun) -> None:
        self._session.run(_PUT_JOB, row_of(job_runs, run))

    def job_runs(self) -> list[JobRun]:
        return [JobRun(**row._mapping) for row in self._session.rows(select(job_runs).order_by(job_runs.c.name))]

    def set_rules(self, workspace: str, rules_now: Sequence[Rule]) -> None:
        self._session.run(delete(rules).where(_r.workspace == workspace))
        rows = [row_of(rules, rule) for rule in rules_now]
        self._session.run(insert(rules), rows)

    def rules(self, workspace: str, ids: Collection[str] | None = None) -> list[Rule]:
        if ids is None:
            found = self._session.rows(_ALL_RULES, {"w": workspace})
        else:
            found = self._session.rows(_RULES, {"w": workspace, "ids": list(ids)})
        return [Rule(**row._mapping) for row in found]

    def put_erasure(self, erasure: Erasure) -> None:
        self._session.run(_PUT_ERASURE, row_of(erasures, erasure))

    def erasures(self) -> list[Erasure]:
        rows = self._session.rows(select(erasures).order_by(_e.workspace, _e.id))
        return [Erasure(**row._mapping) for row in rows]

    def end_erasure(self, erasure: Erasure) -> None:
        self._session.run(delete(erasures).where(and_(_e.workspace == erasure.workspace, _e.id == erasure.id)))
