"""Merging duplicate lessons: of lessons that say the same, one stays, and the others are archived with a link to it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from memory.model import GAVE_UP, Episode, EventKind, Link, LinkKind, Termination
from memory.model.normal_form import comparable
from memory.ports import EpisodeFilter, Store, Transaction
from memory.rules.audience import partitions_of
from memory.rules.consolidation import advice_of
from memory.rules.retrieval.consensus import is_same_goal
from memory.services.core import event, record, record_and_index
from memory.services.verdicts.archive import ACTOR, MERGED, is_restored_by_a_person, unmerge


def merge_duplicates(store: Store, workspace: str, now: datetime) -> tuple[int, int]:
    """Merge duplicate lessons, and separate those that no longer are duplicates. Returns both numbers.

    Of lessons with the same goal and action in the same places, one stays. The others are archived with a link to it,
    and are restored as soon as that one is erased, archived or judged differently.
    """
    with store.write() as tx:
        every = tx.episodes.search(workspace, EpisodeFilter(include_archived=True, limit=None))
        restored = unmerge(tx, workspace, [episode.id for episode in every if episode.archived_at is not None], now)
        joined = 0
        for group in _alike(tx.episodes.search(workspace, EpisodeFilter(limit=None))):
            for same in _same_goals(tx, workspace, group):
                joined += _join_group(tx, same, now)
    return joined, restored


def _alike(lessons: Iterable[Episode]) -> list[list[Episode]]:
    """Lessons with the same action in exactly the same places."""
    groups: dict[object, list[Episode]] = {}
    for lesson in lessons:
        places = tuple((entry.partition, entry.verdict) for entry in partitions_of(lesson))
        if places and not lesson.quarantine and lesson.action not in (GAVE_UP, Termination.EXPAND):
            key = (places, lesson.is_root, advice_of(lesson), comparable(lesson.correction))
            groups.setdefault(key, []).append(lesson)
    return [group for group in groups.values() if len(group) > 1]


def _same_goals(tx: Transaction, workspace: str, group: Sequence[Episode]) -> list[list[Episode]]:
    """The group by goal; each later lesson joins the first group whose first goal is the same or near."""
    vectors = tx.episodes.vectors(workspace, [lesson.id for lesson in group])
    found: list[list[Episode]] = []
    for lesson in sorted(group, key=lambda lesson: (lesson.created_at, lesson.id)):
        for same in found:
            if is_same_goal(same[0], lesson, vectors):
                same.append(lesson)
                break
        else:
            found.append([lesson])
    return [same for same in found if len(same) > 1]


def _join_group(tx: Transaction, same: Sequence[Episode], now: datetime) -> int:
    keeper = max(same, key=lambda lesson: (lesson.strength, lesson.used_count, lesson.created_at, lesson.id))
    # Read in full, because lists leave out the long texts, and an archived episode is stored again.
    others = tx.episodes.get_many(keeper.workspace, [lesson.id for lesson in same if lesson.id != keeper.id])
    joined = [lesson for lesson in others.values() if not is_restored_by_a_person(tx, lesson)]
    for lesson in joined:
        record_and_index(tx, lesson, EventKind.ARCHIVED, ACTOR, now, {"reason": MERGED, "into": keeper.id})
        link = Link(workspace=keeper.workspace, from_id=lesson.id, to_id=keeper.id, kind=LinkKind.SAME_GOAL, at=now)
        tx.episodes.add_link(link)
        record(tx, keeper, event(keeper, EventKind.MERGED, ACTOR, now, detail={"from": lesson.id}))
    return len(joined)
