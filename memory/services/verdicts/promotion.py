"""Promotion: sets the audience of a lesson, within a limit for each person, and undoes that."""

from datetime import datetime

from memory.model import Audience, Episode, Event, EventKind, Role
from memory.ports import Transaction
from memory.rules.fold import UNDO, effective_events
from memory.services.core import ALL, Core, event, record, require_episode
from memory.services.verdicts.verdicts import settle


def set_audience(
    core: Core, tx: Transaction, episode: Episode, audience: Audience, actor: str, role: Role, now: datetime
) -> Episode:
    """The episode with its new audience; unchanged beyond the limit, which hinders poisoning by many promotions."""
    wanted = "" if audience is Audience.PERSONAL else audience.value
    detail: dict[str, object] = {"audience": wanted, "role": role.value}
    if wanted and role is not Role.ADMIN and _is_limited(core, tx, episode.workspace, actor, now):
        tx.log.append(event(episode, EventKind.LIMITED, actor, now, detail={"what": "promoted", **detail}))
        return episode
    return record(tx, episode, event(episode, EventKind.PROMOTED, actor, now, detail=detail))


def _is_limited(core: Core, tx: Transaction, workspace: str, actor: str, now: datetime) -> bool:
    """Whether somebody reached the limit of promotions, without those of a whole batch and without undoing any."""
    limit = core.policy.promotions_per_window
    latest = tx.log.by_actor(workspace, actor, [EventKind.PROMOTED], limit=limit)
    if not all(map(_is_counted, latest)):
        every = tx.log.by_actor(workspace, actor, [EventKind.PROMOTED], limit=ALL)
        latest = [each for each in every if _is_counted(each)][:limit]
    return len(latest) >= limit and latest[-1].at > now - core.policy.window


def _is_counted(promotion: Event) -> bool:
    """Whether a promotion counts towards its person's limit."""
    return "batch" not in promotion.detail and not promotion.detail.get(UNDO)


def undo_promotion(core: Core, tx: Transaction, lesson: Episode, actor: str, role: Role, now: datetime) -> Episode:
    """The lesson with the audience that others gave it last; unchanged if this person has not promoted it."""
    log = effective_events(tx.log.of_episode(lesson.workspace, lesson.id))
    promotions = [each for each in log if each.kind is EventKind.PROMOTED]
    others = [each for each in promotions if each.actor != actor]
    if others == promotions:
        return lesson
    audience = others[-1].detail.get("audience", "") if others else ""
    detail = {"audience": audience, "role": role.value, UNDO: True}
    record(tx, lesson, event(lesson, EventKind.PROMOTED, actor, now, detail=detail))
    settle(tx, lesson.workspace, lesson.run_id, actor, now, core.policy)
    return require_episode(tx, lesson.workspace, lesson.id)
