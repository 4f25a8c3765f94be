"""Notices that are given once, whatever restarts and however many processes run: decisions, welcomes, digests.

A decision about a lesson waits for its author as a short memory of theirs (`memory.model.ShortMemory`), so that it is
forgotten with them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.model import Episode, Origin, ShortMemory
from memory.ports import Transaction
from memory.services.core import Core

KIND = "goodbot/decided"
_KEPT = timedelta(days=90)
"""How long an author has to come by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionNotice:
    """A decision about a person's lesson that they were not told of."""

    lesson: Episode
    is_approved: bool


@dataclass(frozen=True, slots=True)
class DecisionNotices:
    """Use cases of authors whose lessons somebody else decided about."""

    _core: Core

    def waiting(self, workspace: str, person: str) -> list[DecisionNotice]:
        """What the person was not told, the oldest first."""
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
        """The author knows about these."""
        with self._core.store.write() as tx:
            for lesson_id in lesson_ids:
                tx.short.delete(workspace, KIND, lesson_id)


def note_decision(tx: Transaction, before: Episode, after: Episode, actor: str, now: datetime) -> None:
    """Keep for its author that somebody else decided whether a lesson that waited counts for others."""
    if before.origin is Origin.RUN or before.author in ("", actor) or _is_shared(before):
        return
    if after.archived_at is None and not _is_shared(after):
        return
    if tx.batches.of_lessons(after.workspace, [after.id]):
        return  # learned from a file: its author taught the bot nothing, and waits for no word of it
    tx.short.put(
        ShortMemory(
            workspace=after.workspace,
            kind=KIND,
            key=after.id,
            value={"approved": after.archived_at is None},
            person=after.author,
            created_at=now,
            expires_at=now + _KEPT,
        )
    )


def _is_shared(lesson: Episode) -> bool:
    is_in_use = lesson.archived_at is None and not lesson.quarantine
    return is_in_use and (lesson.verdicts.channel.is_validated or lesson.verdicts.workspace.is_validated)


@dataclass(frozen=True, slots=True)
class Welcomes:
    """Claims of a welcome, taken before it is said. Forgetting or purging a person takes theirs back."""

    _core: Core

    def claim(self, workspace: str, *, channel: str = "", person: str = "") -> bool:
        """Whether this person, channel or (with neither) workspace is to be welcomed now: true once."""
        with self._core.store.write() as tx:
            return tx.people.welcome(workspace, self._core.clock(), channel=channel, person=person)


@dataclass(frozen=True, slots=True)
class Digests:
    """Claims of a digest, taken before it is sent: after a crash it is lost rather than sent twice."""

    _core: Core

    def claim(self, workspace: str, reader: str, lesson_ids: Collection[str]) -> list[str]:
        """Those of these lessons that are new to this reader; none where they had a digest today."""
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(workspace, f"digest/{reader}/{now:%Y-%m-%d}", now):
                return []
            return [each for each in lesson_ids if tx.log.claim(workspace, _item(reader, each), now)]

    def not_sent(self, workspace: str, reader: str, news: Collection[str]) -> None:
        """Take the claims of these lessons back, so that the digest of another day has them."""
        with self._core.store.write() as tx:
            tx.log.give_back(workspace, [_item(reader, each) for each in news])


def _item(reader: str, lesson_id: str) -> str:
    return f"digest/{reader}/{lesson_id}"
