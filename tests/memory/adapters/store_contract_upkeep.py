"""What every store must do with jobs, leases, rules and erased corrections."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory.model import EventKind, Usage, Verdict
from memory.model.upkeep import Erasure, JobProgress, JobRun, Lease, Rule
from memory.ports import ArmCount, SpendingCount, Store
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import NOW, episode, event, retrieval, vote


class UpkeepContract(StoreCase):
    """Jobs, leases, rules and erased corrections."""

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

    def test_leases_are_found_by_how_their_names_begin(self, store: Store) -> None:
        names = ["bot/member/a", "bot/share/1", "bots/share/0", "jobs"]
        with store.write() as tx:
            for name in reversed(names):
                assert tx.upkeep.take_lease(Lease(name=name, owner="p1", until=NOW - timedelta(1)), NOW)
            assert [each.name for each in tx.upkeep.leases("bot/")] == names[:2]
            assert tx.upkeep.leases("b") == [tx.upkeep.lease(name) for name in names[:3]]
            assert tx.upkeep.leases("share") == []

    def test_the_last_run_of_each_job_is_kept(self, store: Store) -> None:
        first = JobRun(name="b", started_at=NOW, finished_at=NOW, summary="1 row")
        again = JobRun(name="b", started_at=NOW + timedelta(1), finished_at=NOW + timedelta(1), error="full disk")
        other = JobRun(name="a", started_at=NOW, finished_at=NOW)
        with store.write() as tx:
            for run in (first, again, other):
                tx.upkeep.put_job_run(run)
        with store.read() as tx:
            assert tx.upkeep.job_runs() == [other, again]

    def test_how_far_a_job_is_in_a_workspace_is_kept(self, store: Store) -> None:
        first = JobProgress(workspace="w", job="b", seq=7, tried_at=NOW)
        again = replace(first, seq=2**40, tried_at=NOW + timedelta(1))
        others = [replace(first, workspace="v"), replace(first, job="a")]
        with store.write() as tx:
            for each in (first, *others, again):
                tx.upkeep.put_progress(each)
            assert tx.upkeep.progress("w", "b") == again
            tx.upkeep.drop_progress("w", "b")
        with store.read() as tx:
            assert [tx.upkeep.progress(*each) for each in (("v", "b"), ("w", "a"))] == others
            assert tx.upkeep.progress("w", "b") is None

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

    def test_what_was_spent_is_counted_by_name_until_its_day_is_over(self, store: Store) -> None:
        day, name = NOW.date(), f"{NOW.date()}/person/ana/usd"
        before = f"{day - timedelta(1)}/person/ana/usd"
        with store.write() as tx:
            tx.totals.add_spent("w", {name: 2, before: 5})
            tx.totals.add_spent("w", {name: 3})
            tx.totals.add_spent("v", {name: 1})
            assert tx.totals.spent("w", [name, before, f"{day}/person/bo/usd"]) == {name: 5, before: 5}
            assert tx.totals.sweep_spent(day) == 1
            assert tx.totals.spent("w", [name, before]) == {name: 5}
            assert tx.totals.spent("v", [name]) == {name: 1}

    def test_what_models_cost_by_day_person_channel_and_model(self, store: Store) -> None:
        used = Usage(prompt_tokens=10, completion_tokens=2, cost_usd=0.5)
        late = NOW + timedelta(days=1)
        made = [
            episode("1", model="m", person="ana", channel="c", usage=used, created_at=NOW),
            episode("2", model="m", person="ana", channel="c", usage=used, created_at=NOW, parent_id="1"),
            episode("3", model="m", person="ana", channel="c", usage=used, created_at=late),
            episode("4", model="n", person="bo", channel="c", usage=replace(used, cost_usd=0.0), created_at=late),
            episode("5", model="people", person="bo", channel="c", created_at=late),
        ]
        with store.write() as tx:
            tx.episodes.add(*made)
            found = sorted(tx.totals.spending("w", NOW), key=lambda each: (each.day, each.person))
            assert tx.totals.spending("w", late + timedelta(days=1)) == []
        common: dict[str, Any] = {"channel": "c", "model": "m", "person": "ana", "unpriced_tokens": 0}
        assert found == [
            SpendingCount(**common, day=NOW.date(), answers=1, tokens=24, cost_usd=1.0),
            SpendingCount(**common, day=late.date(), answers=1, tokens=12, cost_usd=0.5),
            SpendingCount(
                day=late.date(),
                person="bo",
                channel="c",
                model="n",
                answers=1,
                tokens=12,
                unpriced_tokens=12,
                cost_usd=0.0,
            ),
        ]
        assert all(type(each.tokens) is int for each in found)

    def test_the_arms_by_what_people_said_and_what_they_cost(self, store: Store) -> None:
        used = Usage(prompt_tokens=10, cost_usd=0.5)
        with store.write() as tx:
            assert tx.totals.arms("w") == []
            tx.episodes.add(*(episode(run, run_id=run, usage=used) for run in ("r1", "r2", "r3")))
            tx.episodes.add(episode("r1.0", run_id="r1", parent_id="r1", node_path="0.0", usage=used, correction="no"))
            made = [retrieval(f"R{run}", run_id=run, seconds=at) for run, at in (("r1", 2), ("r2", 3), ("r3", 0))]
            tx.retrievals.add([replace(each, node_path="0", is_control=each.id == "Rr1") for each in made], [])
            tx.teaching.put_votes(replace(vote(), run_id="r1", value=-1), replace(vote("bo"), run_id="r2"))
            found = {each.is_control: each for each in tx.totals.arms("w")}
        common: dict[str, Any] = {"answers": 1, "tokens": 10, "cost_usd": 0.5, "cost_squares": 0.25, "corrected": 0}
        assert found[False] == ArmCount(is_control=False, approved=1, rejected=0, **common)
        more = {"corrected": 1, "cost_usd": 1.0, "cost_squares": 1.0, "tokens": 20}
        assert found[True] == ArmCount(is_control=True, approved=0, rejected=1, **(common | more))

    def test_a_correction_is_erased_from_the_log_and_leaves_those_of_other_lessons(self, store: Store) -> None:
        with store.write() as tx:
            for text, lesson in [("one", "l1"), ("one", ""), ("one", "l2"), ("two", "l2"), ("two", "")]:
                tx.log.append(replace(event("e1", EventKind.CORRECTED), detail={"text": text, "lesson": lesson}))
            tx.log.erase_correction("w", "e1", "l1", "one")
            left = [tuple(each.detail.values()) for each in tx.log.of_episode("w", "e1")]
        assert left == [("", "l2"), ("two", "l2"), ("two", "")]
        with store.read() as tx, pytest.raises(RuntimeError, match="cannot write"):
            tx.log.erase_correction("w", "e1", "l2", "two")

    def test_the_reasons_that_a_person_gave_at_a_moment_are_erased_wherever_they_stand(self, store: Store) -> None:
        then, later = NOW, NOW + timedelta(seconds=1)
        given = [("ana", then, "one"), ("ana", later, "one"), ("ana", later, "two"), ("bo", then, "one")]
        with store.write() as tx:
            tx.episodes.add(episode("e1", run_id="r1"))
            for actor, at, reason in given:
                tx.log.append(replace(event("e1", EventKind.GRADED, actor=actor), at=at, detail={"reason": reason}))
            tx.log.erase_reasons("w", "r1", "ana", then)
            assert [each.detail["reason"] for each in tx.log.of_run("w", "r1")] == ["", "", "two", "one"]
        with store.read() as tx, pytest.raises(RuntimeError, match="cannot write"):
            tx.log.erase_reasons("w", "r1", "bo", then)
