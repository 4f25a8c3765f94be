"""One vote on its way in: write the register, log it, and let votes, verdicts and the index follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.model import Episode, EventKind, Reaction, Verdicts, Vote
from memory.ports import Transaction
from memory.rules.audience import has_narrowed
from memory.rules.fold import reaction_detail
from memory.services.archive import bring_back
from memory.services.core import Core, event, settle


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResult:
    """What a teaching act did to an answer."""

    is_known: bool
    """Whether the message belongs to an answer at all."""
    changed: bool = False
    """Whether anything was stored: False for repeats, late deliveries and emoji without effect."""
    is_new_opinion: bool = False
    """Whether the person's standing vote is another one than before."""
    root: Episode | None = None
    """The answer's first node as it is now."""
    is_limited: bool = False
    """Whether the vote is beyond what its voter may say in the window: it counts for their own scope alone."""
    was: Verdicts = field(default_factory=Verdicts)
    """Its verdicts before."""
    elsewhere: Sequence[tuple[Verdicts, Episode]] = ()
    """(verdicts before, episode after) of every node of other answers that moved with it: by trust, or by limits."""

    @property
    def is_lesson(self) -> bool:
        """Whether the answer is a lesson now, in any audience."""
        return self.root is not None and self.root.is_lesson

    @property
    def was_lesson(self) -> bool:
        """Whether it was one before."""
        return self.was.overall.is_validated


def write_vote(
    core: Core,
    tx: Transaction,
    reaction: Reaction,
    now: datetime,
    reason: str = "",
    detail: Mapping[str, object] | None = None,
) -> VoteResult:
    """Write one register of a known run, log it (with more `detail`), and let the verdicts follow."""
    nodes = tx.episodes.of_run(reaction.workspace, reaction.run_id)
    if not nodes:
        return VoteResult(is_known=False)
    if not is_news(tx, reaction):
        return VoteResult(is_known=True, root=nodes[0], was=nodes[0].verdicts)
    if has_narrowed(nodes[0]):
        reason = ""  # It would be read by more once its channel is as open as it was.
    tx.teaching.put_reaction(reaction)
    kind = EventKind.VOTED if reaction.is_active else EventKind.UNVOTED
    tx.log.append(event(nodes[0], kind, reaction.actor, now, detail=reaction_detail(reaction) | dict(detail or {})))
    if reaction.is_active and bring_back(tx, nodes, reaction.actor, now):
        nodes = tx.episodes.of_run(reaction.workspace, reaction.run_id)
    settled = settle(tx, reaction.workspace, reaction.run_id, reaction.actor, now, core.policy, reason, nodes=nodes)
    was, root = settled.nodes[0]
    before, standing = _standing(settled.before, reaction), _standing(settled.votes, reaction)
    return VoteResult(
        is_known=True,
        changed=True,
        is_new_opinion=_value(standing) != _value(before),
        is_limited=standing is not None and standing.is_limited,
        root=root,
        was=was,
        elsewhere=settled.elsewhere,
    )


def _standing(votes: Sequence[Vote], reaction: Reaction) -> Vote | None:
    """The person's vote on what the reaction is about."""
    mine = (vote for vote in votes if (vote.actor, vote.node_id) == (reaction.actor, reaction.node_id))
    return next(mine, None)


def _value(vote: Vote | None) -> int:
    return vote.value if vote else 0


def is_news(tx: Transaction, reaction: Reaction) -> bool:
    """Whether a signal says more than its register: later, or at the same moment something else.

    The register is last-writer-wins by the platform's time, so the order of delivery cannot matter.
    """
    known = tx.teaching.reaction(reaction.key)
    if known is None or reaction.at != known.at:
        return known is None or reaction.at > known.at
    return (reaction.is_active, reaction.value, reaction.role) != (known.is_active, known.value, known.role)
