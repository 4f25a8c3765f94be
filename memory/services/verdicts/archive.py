"""Archives lessons that are not used, and restores them when somebody reacts to them.

Lessons merged into another one (`memory.services.upkeep.merge`) are archived, too, and restored when that lesson no
longer represents them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.model import Episode, Event, EventKind, LinkKind
from memory.model.upkeep import UpkeepPolicy
from memory.ports import EpisodeFilter, Store, Transaction
from memory.rules.audience import partitions_of
from memory.rules.fold import effective_events
from memory.rules.strength import is_ready_for_archive
from memory.services.core import event, record_and_index

ACTOR = "upkeep"
IDLE = "idle"
MERGED = "merged"
_ARCHIVE_EVENTS = (EventKind.ARCHIVED, EventKind.RESTORED)


def archive_idle(store: Store, workspace: str, now: datetime, policy: UpkeepPolicy) -> int:
    """Archive lessons ready for it (`is_ready_for_archive`) that were not moved lately. Returns how many."""
    with store.read() as tx:
        lessons = tx.episodes.search(workspace, EpisodeFilter(limit=None))
    ready = [lesson.id for lesson in lessons if is_ready_for_archive(lesson, now, policy)]
    if not ready:
        return 0
    with store.write() as tx:
        # Read again: somebody may have reacted meanwhile.
        still = [
            lesson
            for lesson in tx.episodes.get_many(workspace, ready).values()
            if is_ready_for_archive(lesson, now, policy)
            and ((moved := _last_move(tx, lesson)) is None or now - moved.at > policy.archive_idle)
        ]
        for lesson in still:
            record_and_index(tx, lesson, EventKind.ARCHIVED, ACTOR, now, {"reason": IDLE})
    return len(still)


def _last_move(tx: Transaction, lesson: Episode) -> Event | None:
    """The last event that archived or restored the lesson and was not undone by a purge."""
    return _last_move_in(tx.log.of_episode(lesson.workspace, lesson.id))


def _last_move_in(log: Sequence[Event]) -> Event | None:
    return next((each for each in reversed(effective_events(log)) if each.kind in _ARCHIVE_EVENTS), None)


def is_restored_by_a_person(tx: Transaction, lesson: Episode) -> bool:
    """Whether a person restored the lesson on purpose. Upkeep does not merge such a lesson."""
    moved = _last_move(tx, lesson)
    return moved is not None and moved.kind is EventKind.RESTORED and "reason" not in moved.detail


def why_archived(tx: Transaction, episode: Episode) -> dict[str, object]:
    """The detail of the event by which upkeep archived the episode; empty if it did not."""
    return why_archived_in(tx.log.of_episode(episode.workspace, episode.id)) if episode.archived_at else {}


def why_archived_in(log: Sequence[Event]) -> dict[str, object]:
    """The detail of the event by which upkeep archived an episode, found in its log; empty if it did not."""
    moved = _last_move_in(log)
    return dict(moved.detail) if moved is not None and moved.actor == ACTOR else {}


def restored_by_reaction(tx: Transaction, episode: Episode, actor: str, now: datetime) -> Event | None:
    """The event that restores an idle episode because of a reaction; None if it was not archived as idle."""
    if why_archived(tx, episode).get("reason") != IDLE:
        return None
    return event(episode, EventKind.RESTORED, actor, now, detail={"reason": "reaction"})


def merged_into(tx: Transaction, workspace: str, keeper_ids: Iterable[str]) -> list[str]:
    """The ids of lessons that were ever merged into one of these, sorted."""
    wanted = set(keeper_ids)
    links = tx.episodes.links(workspace, wanted)
    return sorted({link.from_id for link in links if link.kind is LinkKind.SAME_GOAL and link.to_id in wanted})


def unmerge(
    tx: Transaction, workspace: str, joined_ids: Iterable[str], now: datetime, *, changed: Collection[str] = ()
) -> int:
    """Restore merged lessons that their keeper no longer represents. Returns how many.

    Keepers in `changed` represent none, as their question changed after the merge.
    """
    restored = 0
    for joined in tx.episodes.get_many(workspace, joined_ids).values():
        why = why_archived(tx, joined)
        if why.get("reason") != MERGED:
            continue
        keeper = tx.episodes.get(workspace, str(why.get("into")))
        if keeper is None or keeper.id in changed or not represents(keeper, joined):
            record_and_index(tx, joined, EventKind.RESTORED, ACTOR, now, {"reason": "parted"})
            restored += 1
    return restored


def represents(keeper: Episode, joined: Episode) -> bool:
    """Whether the keeper is found wherever the merged lesson would be, with the same verdicts and correction."""
    return (
        keeper.archived_at is None
        and not keeper.quarantine
        and keeper.verdicts == joined.verdicts
        and keeper.correction == joined.correction
        and partitions_of(keeper) == partitions_of(replace(joined, archived_at=None))
    )
