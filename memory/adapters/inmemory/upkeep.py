"""Jobs, leases, rules and erasures in dictionaries."""

from collections.abc import Collection, Sequence
from datetime import datetime

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import storable
from memory.model.upkeep import Erasure, JobRun, Lease, Rule


class Upkeep:
    """`memory.ports.UpkeepTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def take_lease(self, lease: Lease, now: datetime) -> bool:
        leases = self._access.changing.leases
        known = leases.get(lease.name)
        if known is not None and known.owner != lease.owner and known.until > now:
            return False
        leases[lease.name] = storable(lease)
        return True

    def release_lease(self, name: str, owner: str) -> None:
        leases = self._access.changing.leases
        if name in leases and leases[name].owner == owner:
            del leases[name]

    def lease(self, name: str) -> Lease | None:
        return self._access.state.leases.get(name)

    def put_job_run(self, run: JobRun) -> None:
        self._access.changing.job_runs[run.name] = storable(run)

    def job_runs(self) -> list[JobRun]:
        runs = self._access.state.job_runs
        return [runs[name] for name in sorted(runs)]

    def set_rules(self, workspace: str, rules_now: Sequence[Rule]) -> None:
        rules = self._access.changing.rules
        for key in [key for key in rules if key[0] == workspace]:
            del rules[key]
        for rule in rules_now:
            rules[storable(rule).workspace, rule.id] = rule

    def rules(self, workspace: str, ids: Collection[str] | None = None) -> list[Rule]:
        rules = self._access.state.rules
        return [rules[key] for key in sorted(rules) if key[0] == workspace and (ids is None or key[1] in ids)]

    def put_erasure(self, erasure: Erasure) -> None:
        self._access.changing.erasures[storable(erasure).workspace, erasure.id] = erasure

    def erasures(self) -> list[Erasure]:
        under_way = self._access.state.erasures
        return [under_way[key] for key in sorted(under_way)]

    def end_erasure(self, erasure: Erasure) -> None:
        self._access.changing.erasures.pop((erasure.workspace, erasure.id), None)
