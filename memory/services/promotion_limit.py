"""How many lessons one teacher may share in a window of time: poisoning step by step needs many writes."""

from datetime import datetime

from memory.model import Episode, EventKind, Role, TeachingPolicy
from memory.ports import Transaction
from memory.services.core import event


def is_within_limit(
    tx: Transaction, workspace: str, actor: str, role: Role, now: datetime, policy: TeachingPolicy
) -> bool:
    """Whether this person may promote one more lesson now. Administrators always may."""
    if role is Role.ADMIN:
        return True
    limit = policy.promotions_per_window
    latest = tx.log.by_actor(workspace, actor, [EventKind.PROMOTED], limit=limit)
    return len(latest) < limit or latest[-1].at <= now - policy.window


def note_limit(tx: Transaction, episode: Episode, actor: str, detail: dict[str, object], now: datetime) -> Episode:
    """Keep the attempt for the record; the episode stays as it is."""
    tx.log.append(event(episode, EventKind.LIMITED, actor, now, detail={"what": "promoted", **detail}))
    return episode
