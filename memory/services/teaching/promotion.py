"""Undoing a promotion: the lesson gets back the audience that it had before the person promoted it."""

from collections.abc import Iterable
from datetime import datetime

from memory.model import Episode, Event, EventKind, Role
from memory.ports import Transaction
from memory.rules.fold import effective
from memory.services.core import Core, event, existing, record
from memory.services.verdicts.verdicts import settle

_UNDO = "undo"


def undo_promotion(core: Core, tx: Transaction, lesson: Episode, actor: str, role: Role, now: datetime) -> Episode:
    """The lesson with the audience that others gave it last; unchanged if this person has not promoted it."""
    promotions = _in_effect(effective(tx.log.of_episode(lesson.workspace, lesson.id)))
    others = [each for each in promotions if each.actor != actor]
    if others == promotions:
        return lesson
    audience = others[-1].detail.get("audience", "") if others else ""
    detail = {"audience": audience, "role": role.value, _UNDO: True}
    record(tx, lesson, event(lesson, EventKind.PROMOTED, actor, now, detail=detail))
    settle(tx, lesson.workspace, lesson.run_id, actor, now, core.policy)
    return existing(tx, lesson.workspace, lesson.id)


def _in_effect(log: Iterable[Event]) -> list[Event]:
    """The promotions that were not undone, oldest first."""
    left: list[Event] = []
    for each in log:
        if each.kind is EventKind.PROMOTED and each.detail.get(_UNDO):
            left = [earlier for earlier in left if earlier.actor != each.actor]
        elif each.kind is EventKind.PROMOTED:
            left.append(each)
    return left
