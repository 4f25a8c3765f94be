"""Withdrawing the reason that came with a judgement, which is shown with the lesson."""

from datetime import datetime

from memory.model import Episode, EventKind
from memory.ports import Transaction
from memory.rules.fold import GRADINGS
from memory.services.core import event, record


def withdraw_reason(tx: Transaction, episode: Episode, actor: str, now: datetime) -> Episode:
    """The episode with the reason that somebody else gave last, if the one it has is this person's."""
    log = tx.log.of_episode(episode.workspace, episode.id)
    reasons = [each for each in log if each.kind in GRADINGS and "reason" in each.detail]
    if not episode.outcome_reason or not reasons or reasons[-1].actor != actor:
        return episode
    before = next((str(each.detail["reason"]) for each in reversed(reasons) if each.actor != actor), "")
    return record(tx, episode, event(episode, EventKind.UNGRADED, actor, now, detail={"reason": before}))
