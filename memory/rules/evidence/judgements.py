"""What the votes on an answer say of the best candidate that its evidence had."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from memory.model import ASK, TAP, Episode, Reaction, Vote
from memory.model.evidence import Evidence, EvidenceRecord
from memory.model.judgement import Judgement
from memory.rules.evidence.weighing import ANSWER
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.trust import CORRECTION
from memory.rules.verdict import ballots, fold_votes


def is_followed(evidence: Evidence, node: Episode) -> bool:
    """Whether a node did or said what the best belief is in."""
    best = next(iter(evidence.beliefs), None)
    if best is None or best.action != node.action:
        return False
    return best.action != ANSWER or AnswerWords.of(best.text).says_the_same_as(AnswerWords.of(node.output))


def without_implied(votes: Iterable[Vote], reactions: Iterable[Reaction]) -> list[Vote]:
    """The votes as they were if nobody had corrected the answer: what a correction implies, nobody was asked for.

    People correct what is wrong and leave what is right, so these would make far more of the answers look wrong than
    are. Whoever also said 👎 has that vote. `reactions` are all there are on the answer.
    """
    every = list(votes)
    if not any(_is_implied(each.source) for each in every):
        return every
    own = fold_votes(each for each in reactions if not _is_implied(each.source))
    own_votes = {(each.node_id, each.actor): each for each in own}
    found: list[Vote] = []
    for vote in every:
        if not _is_implied(vote.source):
            found.append(vote)
        elif own_vote := own_votes.get((vote.node_id, vote.actor)):
            found.append(replace(own_vote, is_limited=vote.is_limited, standing=vote.standing))
    return found


def _is_implied(source: str) -> bool:
    return source.startswith(f"{CORRECTION}:")


def judgements_of(
    root: Episode, evidence: EvidenceRecord, votes: Iterable[Vote], weights: Mapping[str, float]
) -> list[Judgement]:
    """One judgement for each voter who has one, by voter. Pure; the order of the votes does not matter.

    `evidence` is that of the answer's first node `root`, `weights` what each voter weighs for others. A vote on the
    best candidate says whether it was right. Whoever taps on another one says that it was not, and so does "none of
    these", which is a 👎 on the question. Any other vote says nothing of it.
    """
    if not evidence.beliefs:
        return []
    confidence = min(100, max(0, int(evidence.confidence * 100 + 1e-9)))
    return [
        Judgement(
            workspace=root.workspace,
            run_id=root.run_id,
            actor=vote.actor,
            at=root.created_at,
            confidence=confidence,
            is_right=is_right,
            is_known=weights.get(vote.actor, 1.0) > 0 and not vote.is_limited,
            is_asked=root.action == ASK or vote.source == TAP,
        )
        for vote, is_right in _on_the_best(root, evidence, ballots(root, votes))
    ]


def _on_the_best(root: Episode, evidence: EvidenceRecord, votes: Iterable[Vote]) -> Iterator[tuple[Vote, bool]]:
    """The votes that say whether the best candidate was right, by voter."""
    for vote in sorted(votes, key=lambda vote: vote.actor):
        if evidence.is_followed:
            yield vote, vote.value > 0
        elif vote.value < 0 if root.action == ASK else vote.value > 0 and vote.source == TAP:
            yield vote, False
