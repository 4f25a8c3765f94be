"""Notices that are sent once, across restarts and processes: decisions, welcomes, digests.

A decision about a lesson is kept for its author as a short memory (`memory.model.ShortMemory`), so that it is forgotten
with them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.model import Episode, Origin
from memory.ports import Transaction
from memory.services.core import Core, put_short_memory

KIND = "goodbot/decided"
_KEPT = timedelta(days=90)
"""How long a decision is kept for an author who has not been told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionNotice:
    """A decision about a person's lesson of which they have not been told."""

    lesson: Episode
    is_approved: bool


@dataclass(frozen=True, slots=True)
class DecisionNotices:
    """Use cases for telling authors what others decided about their lessons."""

    _core: Core

    def waiting(self, workspace: str, person: str) -> list[DecisionNotice]:
        """The decisions of which the person has not been told, oldest first."""
        with self._core.store.read() as tx:
            kept = {each.key: each for each in tx.short.of_person(workspace, person, KIND)}
            lessons = tx.episodes.get_many(workspace, kept) if kept else {}
            in_order = sorted(kept.values(), key=lambda each: (each.created_at, each.key))
            return [
                DecisionNotice(lesson=lessons[each.key], is_approved=bool(each.value.get("approved")))
                for each in in_order
                if each.key in lessons
            ]

    def mark_notified(self, workspace: str, lesson_ids: Collection[str]) -> None:
        """Store that the author has been told about these lessons."""
        with self._core.store.write() as tx:
            for lesson_id in lesson_ids:
                tx.short.delete(workspace, KIND, lesson_id)


def note_decision(tx: Transaction, before: Episode, after: Episode, actor: str, now: datetime) -> None:
    """Store a notice for the author if somebody else approved or rejected a waiting lesson."""
    if before.origin is Origin.RUN or before.author in ("", actor) or _is_shared(before):
        return
    if after.archived_at is None and not _is_shared(after):
        return
    if tx.batches.of_lessons(after.workspace, [after.id]):
        return  # learned from a file: its author does not wait for a decision
    value = {"approved": after.archived_at is None}
    put_short_memory(tx, KIND, after.id, value, of=(after.workspace, after.author), at=now, until=now + _KEPT)


def _is_shared(lesson: Episode) -> bool:
    is_in_use = lesson.archived_at is None and not lesson.quarantine
    return is_in_use and (lesson.verdicts.channel.is_validated or lesson.verdicts.workspace.is_validated)


@dataclass(frozen=True, slots=True)
class Welcomes:
    """Claims of welcomes, made before the welcome is posted. Forgetting or purging a person deletes theirs."""

    _core: Core

    def claim(self, workspace: str, *, channel: str = "", person: str = "") -> bool:
        """Whether to welcome this person, channel or (with neither) workspace now. True only once."""
        with self._core.store.write() as tx:
            return tx.people.welcome(workspace, self._core.clock(), channel=channel, person=person)


@dataclass(frozen=True, slots=True)
class Digests:
    """Claims of digests, made before the digest is sent, so that a crash cannot cause a second one."""

    _core: Core

    def claim(self, workspace: str, reader: str, lesson_ids: Collection[str]) -> list[str]:
        """Claim today's digest for a reader. Returns the lessons new to them; none if they had a digest today."""
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(workspace, f"digest/{reader}/{now:%Y-%m-%d}", now):
                return []
            return [each for each in lesson_ids if tx.log.claim(workspace, _item(reader, each), now)]

    def not_sent(self, workspace: str, reader: str, news: Collection[str]) -> None:
        """Release the claims of these lessons, so that the next day's digest has them."""
        with self._core.store.write() as tx:
            tx.log.give_back(workspace, [_item(reader, each) for each in news])


def _item(reader: str, lesson_id: str) -> str:
    return f"digest/{reader}/{lesson_id}"
