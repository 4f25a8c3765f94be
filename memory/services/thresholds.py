"""The threshold of a workspace: counted from what votes say of the best candidates, in the transaction of the votes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memory.model import Episode, Poll, Reaction, Vote
from memory.model.evidence import EvidenceRecord, Judgement, Threshold
from memory.ports import Transaction
from memory.rules.evidence.threshold import NEWEST, judgements_of, threshold, without_implied


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One answer's first node, with the votes on the answer and what each of the voters weighs for others."""

    root: Episode
    votes: Sequence[Vote]
    weights: Mapping[str, float]
    reactions: Sequence[Reaction]

    def judgements(self, evidence: EvidenceRecord) -> list[Judgement]:
        """What the votes say of the best candidate that this evidence has."""
        return judgements_of(self.root, evidence, without_implied(self.votes, self.reactions), self.weights)


def fold_judgements(tx: Transaction, workspace: str, runs: Sequence[JudgedRun]) -> dict[str, list[Judgement]]:
    """What the votes on these answers say of the best candidates, by run: nothing where there was no evidence."""
    evidence = tx.retrievals.evidence_of_runs(workspace, [each.root.run_id for each in runs])
    nothing = EvidenceRecord()
    return {each.root.run_id: each.judgements(evidence.get(each.root.run_id, nothing)) for each in runs}


def keep_judgements(
    tx: Transaction, workspace: str, runs: Sequence[JudgedRun], polls: Mapping[str, Poll], budget: float
) -> None:
    """Make the stored judgements of these answers what their votes say; if they changed, count the threshold anew.

    `polls` has what is stored about each of them.
    """
    stored = {each.root.run_id: polls[each.root.run_id].judgements for each in runs}
    given = {each.root.run_id: each.judgements(polls[each.root.run_id].evidence) for each in runs}
    if tx.judgements.set(workspace, given, stored=stored):
        counted = next((poll.threshold for poll in polls.values()), None)
        count_threshold(tx, workspace, budget, counted)


def erase_judgements(tx: Transaction, workspace: str, run_ids: Collection[str], budget: float) -> None:
    """Erase the judgements of answers that are erased, and count the threshold without them."""
    if tx.judgements.delete_runs(workspace, run_ids):
        count_threshold(tx, workspace, budget)


def count_threshold(tx: Transaction, workspace: str, budget: float, stored: Threshold | None = None) -> None:
    """Store the workspace's threshold for this budget, unless it is `stored` already."""
    value = threshold(tx.judgements.counts(workspace, NEWEST), budget)
    counted = Threshold(workspace=workspace, budget=budget, value=value)
    if counted != stored:
        tx.judgements.put_threshold(counted)


def threshold_of(tx: Transaction, workspace: str, budget: float) -> float:
    """The workspace's threshold; where it was counted for another budget, what it is for this one."""
    stored = tx.judgements.threshold(workspace)
    if stored is not None and stored.budget == budget:
        return stored.value
    return threshold(tx.judgements.counts(workspace, NEWEST) if stored is not None else (), budget)
