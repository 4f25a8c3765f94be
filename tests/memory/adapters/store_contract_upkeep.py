"""What every store must do with jobs, leases and rules."""

from dataclasses import replace
from datetime import timedelta

from memory.model import Verdict
from memory.model.upkeep import Erasure, JobRun, Lease, Rule
from memory.ports import Store
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import NOW


class UpkeepContract(StoreCase):
    """Jobs, leases and rules."""

    def test_a_lease_is_one_owners_until_it_runs_out(self, store: Store) -> None:
        mine = Lease(name="jobs", owner="p1", until=NOW + timedelta(minutes=1))
        theirs = Lease(name="jobs", owner="p2", until=NOW + timedelta(minutes=9))
        with store.write() as tx:
            assert tx.upkeep.take_lease(mine, NOW)
            assert not tx.upkeep.take_lease(theirs, NOW)
            assert tx.upkeep.lease("jobs") == mine
            assert tx.upkeep.take_lease(theirs, mine.until)
            tx.upkeep.release_lease("jobs", "p1")
            assert tx.upkeep.lease("jobs") == theirs
            tx.upkeep.release_lease("jobs", "p2")
            assert tx.upkeep.lease("jobs") is None

    def test_the_last_run_of_each_job_is_kept(self, store: Store) -> None:
        first = JobRun(name="b", started_at=NOW, finished_at=NOW, summary="1 row")
        again = JobRun(name="b", started_at=NOW + timedelta(1), finished_at=NOW + timedelta(1), error="full disk")
        other = JobRun(name="a", started_at=NOW, finished_at=NOW)
        with store.write() as tx:
            for run in (first, again, other):
                tx.upkeep.put_job_run(run)
        with store.read() as tx:
            assert tx.upkeep.job_runs() == [other, again]

    def test_rules_are_replaced_as_a_whole_in_one_workspace(self, store: Store) -> None:
        def rule(name: str, workspace: str = "w", partition: str = "p") -> Rule:
            return Rule(
                workspace=workspace, id=name, partition=partition, verdict=Verdict.FAILURE, lesson_ids=("é", "b")
            )

        with store.write() as tx:
            tx.upkeep.set_rules("w", [rule("2"), rule("1"), rule("3", partition="q")])
            tx.upkeep.set_rules("v", [rule("1", "v")])
            assert tx.upkeep.rules("w", ["2", "1", "9"]) == [rule("1"), rule("2")]
            assert tx.upkeep.rules("w") == [rule("1"), rule("2"), rule("3", partition="q")]
            tx.upkeep.set_rules("w", [])
            assert tx.upkeep.rules("w", ["1", "2"]) == []
            assert tx.upkeep.rules("v", ["1"]) == [rule("1", "v")]
            assert tx.upkeep.rules("v", []) == []

    def test_an_erasure_is_under_way_until_it_ends(self, store: Store) -> None:
        asked = Erasure(workspace="w", id="1", person="ana")
        other = Erasure(workspace="v", id="1")
        with store.write() as tx:
            for erasure in (asked, other):
                tx.upkeep.put_erasure(erasure)
            assert tx.upkeep.erasures() == [other, asked]
            tx.upkeep.put_erasure(replace(asked, person=""))
            assert tx.upkeep.erasures() == [other, replace(asked, person="")]
            tx.upkeep.end_erasure(asked)
            tx.upkeep.end_erasure(asked)
            assert tx.upkeep.erasures() == [other]
