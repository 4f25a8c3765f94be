"""Lessons that nobody needs go to the archive, and come back when somebody reacts to them.

So do lessons that another one stands for (`memory.services.upkeep.jobs`): they come back when it stands no more.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.model import Episode, Event, EventKind, LinkKind
from memory.model.upkeep import UpkeepPolicy
from memory.ports import EpisodeFilter, Store, Transaction
from memory.rules.audience import partitions_of
from memory.rules.fold import effective
from memory.rules.strength import is_ready_for_archive
from memory.services.core import act, event

ACTOR = "upkeep"
IDLE = "idle"
MERGED = "merged"
_ARCHIVE_EVENTS = (EventKind.ARCHIVED, EventKind.RESTORED)


def archive_idle(store: Store, workspace: str, now: datetime, policy: UpkeepPolicy) -> int:
    """Archive what is weak, unloved and idle, and was not brought back lately. Returns how many lessons."""
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
            archive_whole(tx, lesson, now, {"reason": IDLE})
    return len(still)


def _last_move(tx: Transaction, lesson: Episode) -> Event | None:
    """The last time somebody or something put the lesson into the archive or took it out, and no purge undid it."""
    return _last_move_in(tx.log.of_episode(lesson.workspace, lesson.id))


def _last_move_in(log: Sequence[Event]) -> Event | None:
    return next((each for each in reversed(effective(log)) if each.kind in _ARCHIVE_EVENTS), None)


def is_restored_by_a_person(tx: Transaction, lesson: Episode) -> bool:
    """Whether somebody asked for the lesson to be back, knowing it: upkeep does not overrule that by joining it."""
    moved = _last_move(tx, lesson)
    return moved is not None and moved.kind is EventKind.RESTORED and "reason" not in moved.detail


def archive_whole(tx: Transaction, lesson: Episode, now: datetime, detail: dict[str, object]) -> None:
    """Put a whole lesson into the archive, saying why."""
    act(tx, lesson, EventKind.ARCHIVED, ACTOR, now, detail)


def restore_whole(tx: Transaction, lesson: Episode, actor: str, now: datetime, reason: str) -> None:
    """Bring a whole lesson back, saying why."""
    act(tx, lesson, EventKind.RESTORED, actor, now, {"reason": reason})


def why_archived(tx: Transaction, episode: Episode) -> dict[str, object]:
    """What upkeep noted when it archived the episode; empty if a person did, or nobody."""
    return why_archived_in(tx.log.of_episode(episode.workspace, episode.id)) if episode.archived_at else {}


def why_archived_in(log: Sequence[Event]) -> dict[str, object]:
    """The same of an archived episode by its events."""
    moved = _last_move_in(log)
    return dict(moved.detail) if moved is not None and moved.actor == ACTOR else {}


def restored_by_reaction(tx: Transaction, episode: Episode, actor: str, now: datetime) -> Event | None:
    """The event that restores an episode archived as idle, now that somebody reacted; None for others."""
    if why_archived(tx, episode).get("reason") != IDLE:
        return None
    return event(episode, EventKind.RESTORED, actor, now, detail={"reason": "reaction"})


def merged_into(tx: Transaction, workspace: str, keeper_ids: Iterable[str]) -> list[str]:
    """The lessons that were ever joined to one of these, by id."""
    wanted = set(keeper_ids)
    links = tx.episodes.links(workspace, wanted)
    return sorted({link.from_id for link in links if link.kind is LinkKind.SAME_GOAL and link.to_id in wanted})


def unmerge(
    tx: Transaction, workspace: str, joined_ids: Iterable[str], now: datetime, *, changed: Collection[str] = ()
) -> int:
    """Bring back those of these lessons that were joined to one that does not stand for them now. Returns how many.

    None of the `changed` stands for any: they have another question than when they were joined.
    """
    parted = 0
    for joined in tx.episodes.get_many(workspace, joined_ids).values():
        why = why_archived(tx, joined)
        if why.get("reason") != MERGED:
            continue
        keeper = tx.episodes.get(workspace, str(why.get("into")))
        if keeper is None or keeper.id in changed or not represents(keeper, joined):
            restore_whole(tx, joined, ACTOR, now, "parted")
            parted += 1
    return parted


def represents(keeper: Episode, joined: Episode) -> bool:
    """Whether the one is found, and says the same, wherever the other would be."""
    return (
        keeper.archived_at is None
        and not keeper.quarantine
        and keeper.verdicts == joined.verdicts
        and keeper.correction == joined.correction
        and partitions_of(keeper) == partitions_of(replace(joined, archived_at=None))
    )
