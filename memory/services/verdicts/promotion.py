"""Undoing a promotion: the lesson gets back the audience that it had before the person promoted it."""

from datetime import datetime

from memory.model import Episode, EventKind, Role
from memory.ports import Transaction
from memory.rules.fold import UNDO, effective
from memory.services.core import Core, event, existing, record
from memory.services.verdicts.verdicts import settle


def undo_promotion(core: Core, tx: Transaction, lesson: Episode, actor: str, role: Role, now: datetime) -> Episode:
    """The lesson with the audience that others gave it last; unchanged if this person has not promoted it."""
    log = effective(tx.log.of_episode(lesson.workspace, lesson.id))
    promotions = [each for each in log if each.kind is EventKind.PROMOTED]
    others = [each for each in promotions if each.actor != actor]
    if others == promotions:
        return lesson
    audience = others[-1].detail.get("audience", "") if others else ""
    detail = {"audience": audience, "role": role.value, UNDO: True}
    record(tx, lesson, event(lesson, EventKind.PROMOTED, actor, now, detail=detail))
    settle(tx, lesson.workspace, lesson.run_id, actor, now, core.policy)
    return existing(tx, lesson.workspace, lesson.id)
