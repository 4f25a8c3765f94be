"""Lessons that nobody needs go to the archive, and come back when somebody reacts to them."""

from collections.abc import Sequence
from datetime import datetime

from memory.fading import is_ready_for_archive
from memory.model import Episode, EventKind
from memory.model.upkeep import UpkeepPolicy
from memory.ports import EpisodeFilter, Store, Transaction
from memory.service.core import event, file_in_index, record

ACTOR = "upkeep"
IDLE = "idle"
MERGED = "merged"


def archive_idle(store: Store, workspace: str, now: datetime, policy: UpkeepPolicy) -> int:
    """Archive what is weak, unloved and idle. Returns how many lessons."""
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
        ]
        for lesson in still:
            shelve(tx, lesson, now, {"reason": IDLE})
    return len(still)


def shelve(tx: Transaction, lesson: Episode, now: datetime, detail: dict[str, object]) -> None:
    """Put a lesson into the archive, saying why."""
    file_in_index(tx, record(tx, lesson, event(lesson, EventKind.ARCHIVED, ACTOR, now, detail=detail)))


def unshelve(tx: Transaction, lesson: Episode, actor: str, now: datetime, reason: str) -> None:
    """Bring a lesson back, saying why."""
    back = record(tx, lesson, event(lesson, EventKind.RESTORED, actor, now, detail={"reason": reason}))
    file_in_index(tx, back)


def why_archived(tx: Transaction, episode: Episode) -> dict[str, object]:
    """What upkeep noted when it archived the episode; empty if a person did, or nobody."""
    if episode.archived_at is None:
        return {}
    shelved = [each for each in tx.log.of_episode(episode.workspace, episode.id) if each.kind is EventKind.ARCHIVED]
    return dict(shelved[-1].detail) if shelved and shelved[-1].actor == ACTOR else {}


def bring_back(tx: Transaction, nodes: Sequence[Episode], actor: str, now: datetime) -> int:
    """Somebody reacted to an answer: what upkeep archived of it, unlike what a person archived, lives again."""
    idle = [node for node in nodes if why_archived(tx, node).get("reason") == IDLE]
    for node in idle:
        unshelve(tx, node, actor, now, "reaction")
    return len(idle)
