"""Quarantine: holds lessons back until a person has reviewed them, and releases them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.model import Episode, Event, EventKind, LinkKind, Role
from memory.ports import Transaction
from memory.rules.fold import apply
from memory.rules.quarantine import Flag, flags as flags_in
from memory.services.core import Core, event, record, record_and_index, update_index
from memory.services.verdicts.archive import why_archived

SYSTEM = "goodbot"
"""The actor of events that no person caused."""

_ABOUT_ITS_QUESTION = {Flag.NEEDS_QUESTION, Flag.RESTATED}
"""Flags that do not question the text of a correction."""


def hold_back(tx: Transaction, episode: Episode, flags: Sequence[Flag], at: datetime) -> Episode:
    """Put an episode in quarantine for these flags; nothing happens without any."""
    for each in quarantine_events(episode, flags, at):
        episode = record(tx, episode, each)
        update_index(tx, episode)
    return episode


def quarantine_events(episode: Episode, flags: Sequence[Flag], at: datetime) -> list[Event]:
    """The event that puts an episode in quarantine; none without flags."""
    detail = {"flags": [flag.value for flag in flags]}
    return [event(episode, EventKind.QUARANTINED, SYSTEM, at, detail=detail)] if flags else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A person's reason for a judgement, as far as a model may see it."""

    text: str
    withheld: tuple[Flag, ...] = ()


def usable_reason(core: Core, reason: str) -> Reason:
    """A reason without secrets. Empty if it is flagged, because reasons enter prompts without review."""
    kept = core.redactor.text(reason.strip())
    flagged = flags_in(kept)
    return Reason(text="" if flagged else kept, withheld=flagged)


def release_undone(tx: Transaction, episode: Episode, actor: str, role: Role, now: datetime) -> Episode:
    """Hold an episode back as before its last release. Returns it unchanged if it was never released."""
    log = tx.log.of_episode(episode.workspace, episode.id)
    last = max((place for place, each in enumerate(log) if each.kind is EventKind.RELEASED), default=0)
    before = replace(episode, quarantine=())
    for each in log[:last]:
        before = replace(before, quarantine=apply(before, each).quarantine)
    if not before.quarantine:
        return episode
    held_back = record_and_index(
        tx, episode, EventKind.QUARANTINED, actor, now, {"role": role.value, "flags": list(before.quarantine)}
    )
    restore_texts(tx, held_back, actor, now)
    return held_back


def restore_text(tx: Transaction, failed: Episode, actor: str, now: datetime) -> None:
    """Set the failed episode's correction to the newest valid one, in its author's name.

    Corrections that upkeep archived are valid. Without any, the correction that the episode was imported with is
    restored, else it has none.
    """
    links = tx.episodes.links(failed.workspace, [failed.id], LinkKind.CORRECTS)
    ids = [link.from_id for link in links if link.to_id == failed.id]
    valid = [
        each
        for each in tx.episodes.get_many(failed.workspace, ids).values()
        if (each.archived_at is None or why_archived(tx, each)) and set(each.quarantine) <= _ABOUT_ITS_QUESTION
    ]
    newest = max(valid, key=lambda each: (each.created_at, each.id), default=None)
    text, author = (newest.output, newest.author) if newest else _imported(tx, failed, actor)
    if text != failed.correction:
        record(tx, failed, event(failed, EventKind.CORRECTED, author, now, detail={"text": text}))


def restore_texts(tx: Transaction, lesson: Episode, actor: str, now: datetime) -> None:
    """`restore_text` for each answer that this lesson corrects."""
    for failed in corrected_by(tx, lesson):
        restore_text(tx, failed, actor, now)


def corrected_by(tx: Transaction, lesson: Episode) -> list[Episode]:
    """The answers that a lesson corrects."""
    links = tx.episodes.links(lesson.workspace, [lesson.id], LinkKind.CORRECTS)
    ids = [link.to_id for link in links if link.from_id == lesson.id]
    return list(tx.episodes.get_many(lesson.workspace, ids).values())


def _imported(tx: Transaction, failed: Episode, actor: str) -> tuple[str, str]:
    """The correction that the episode came with, and its author; an empty text if its first one is from a lesson."""
    log = tx.log.of_episode(failed.workspace, failed.id)
    first = next((each for each in log if each.kind is EventKind.CORRECTED), None)
    if first is None or "lesson" in first.detail:
        return "", actor
    return str(first.detail.get("text", "")), first.actor
