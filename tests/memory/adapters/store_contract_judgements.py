"""What every store must do with judgements and thresholds."""

from dataclasses import replace

import pytest

from memory.model.evidence import JudgementCount, Threshold
from memory.ports import Store
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import at, judgement, retrieval, weighed


class JudgementsContract(StoreCase):
    """Judgements by run and voter, their counts, and the thresholds."""

    def test_a_runs_judgements_are_replaced_as_a_whole(self, store: Store) -> None:
        ana, bo = judgement(actor="ana"), judgement(actor="bo")
        with store.write() as tx:
            assert tx.judgements.set("w", {"r1": [bo, ana]})
            assert not tx.judgements.set("w", {"r1": [ana, bo]})
            tx.judgements.set("w", {"r2": [judgement("r2")]})
        with store.read() as tx:
            assert tx.judgements.of_run("w", "r1") == [ana, bo]
        with store.write() as tx:
            assert tx.judgements.set("w", {"r1": [replace(bo, is_right=False)]})
        with store.read() as tx:
            assert tx.judgements.of_run("w", "r1") == [replace(bo, is_right=False)]
            assert tx.judgements.of_run("w", "r2") == [judgement("r2")]
            assert tx.judgements.of_run("v", "r1") == []

    def test_a_judgement_of_another_run_is_not_taken(self, store: Store) -> None:
        with store.write() as tx, pytest.raises(ValueError, match="another run"):
            tx.judgements.set("w", {"r1": [judgement("r2")]})
        with store.write() as tx, pytest.raises(ValueError, match="another run"):
            tx.judgements.set("w", {"r1": [judgement(workspace="v")]})

    def test_the_newest_are_counted_by_what_they_have_in_common(self, store: Store) -> None:
        with store.write() as tx:
            for number, is_right in enumerate((False, True, True, True)):
                run_id = f"r{number}"
                voters = [judgement(run_id, at=at(number), is_right=is_right)]
                voters += (
                    [judgement(run_id, actor="ana", at=at(number), confidence=7, is_checked=True)]
                    if number == 3
                    else []
                )
                tx.judgements.set("w", {run_id: voters})
            tx.judgements.set("v", {"r9": [judgement("r9", "v", at=at(99))]})
        ana = JudgementCount(actor="ana", confidence=7, is_right=True, is_known=False, is_checked=True)
        bo = JudgementCount(actor="bo", confidence=31, is_right=True, is_known=False, is_checked=False)
        with store.read() as tx:
            assert sorted(tx.judgements.counts("w", 9)) == [ana, bo._replace(is_right=False), bo._replace(number=3)]
            assert sorted(tx.judgements.counts("w", 4)) == [ana, bo._replace(number=3)]
            assert tx.judgements.counts("w", 1) == [bo]
            assert tx.judgements.counts("u", 9) == []

    def test_judgements_go_with_their_run(self, store: Store) -> None:
        with store.write() as tx:
            for run_id in ("r1", "r2"):
                tx.judgements.set("w", {run_id: [judgement(run_id), judgement(run_id, actor="cy")]})
            assert tx.judgements.delete_runs("w", ["r1", "r3"]) == 2
            assert tx.judgements.delete_runs("w", ["r1"]) == 0
        with store.read() as tx:
            assert [each.run_id for each in (*tx.judgements.of_run("w", "r1"), *tx.judgements.of_run("w", "r2"))] == [
                "r2",
                "r2",
            ]

    def test_the_last_threshold_of_a_workspace_is_kept(self, store: Store) -> None:
        first = Threshold(workspace="w", budget=0.05, value=0.16)
        with store.write() as tx:
            for each in (first, replace(first, workspace="v"), replace(first, budget=0.1, value=0.06)):
                tx.judgements.put_threshold(each)
        with store.read() as tx:
            assert tx.judgements.threshold("w") == replace(first, budget=0.1, value=0.06)
            assert tx.judgements.threshold("v") == replace(first, workspace="v")
            assert tx.judgements.threshold("u") is None

    def test_it_is_read_with_lessons_and_with_answers_too(self, store: Store) -> None:
        kept = Threshold(workspace="w", budget=0.05, value=0.16, confusion=1.7, reliability={"ana": 0.62, 'bo\n"': 0.4})
        with store.write() as tx:
            tx.judgements.put_threshold(kept)
        with store.read() as tx:
            assert tx.judgements.threshold("w") == kept
            assert tx.episodes.weighing_input("w", "c1", []).threshold == kept
            assert tx.teaching.polls("w", ["r1"])["r1"].threshold == kept
            assert tx.episodes.weighing_input("v", "c1", []).threshold is None
        with store.write() as tx:
            tx.judgements.put_threshold(replace(kept, reliability={"ana": 0.6}))
        with store.read() as tx:
            assert tx.episodes.weighing_input("w", "c1", []).threshold == replace(kept, reliability={"ana": 0.6})

    def test_the_evidence_of_runs_is_that_of_their_first_nodes(self, store: Store) -> None:
        later = replace(weighed(), lessons=3)
        with store.write() as tx:
            tx.retrievals.put(replace(retrieval("q2", seconds=5), evidence=later), [])
            tx.retrievals.put(retrieval("q1", seconds=1), [])
            tx.retrievals.put(replace(retrieval("q3", run_id="r2"), node_path="0.1"), [])
            tx.retrievals.put(replace(retrieval("q4", run_id="r3"), evidence=None), [])
        with store.read() as tx:
            assert tx.retrievals.evidence_of_runs("w", ["r1", "r2", "r3", "r4"]) == {"r1": weighed()}
            assert tx.retrievals.evidence_of_runs("v", ["r1"]) == {}
