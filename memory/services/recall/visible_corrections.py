"""The corrections that a person may see: those approved in the person's partitions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memory.model import Episode, LinkKind, Scope, Verdict, Visibility
from memory.ports import LessonSummary, Transaction
from memory.rules.audience import nearest_entry, partitions_for, visibility_of


def corrections_for(
    tx: Transaction,
    scope: Scope,
    episode_ids: Collection[str],
    known: Mapping[str, Episode] = MappingProxyType({}),
    lessons: Mapping[str, LessonSummary] = MappingProxyType({}),
) -> dict[str, list[Episode]]:
    """The corrections of each of these episodes that are approved in the person's partitions, the newest last.

    `known` are episodes and `lessons` are summaries that this transaction has read already, by id.
    """
    pairs = [(each, mistake) for mistake in episode_ids if mistake in lessons for each in lessons[mistake].corrected_by]
    unread = [each for each in episode_ids if each not in lessons]
    links = tx.episodes.links(scope.workspace, unread, LinkKind.CORRECTS)
    pairs += [(link.from_id, link.to_id) for link in links if link.to_id in episode_ids]
    corrections = {**known, **tx.episodes.get_many(scope.workspace, {each for each, _ in pairs if each not in known})}
    named = partitions_for(scope)
    seen: dict[str, list[Episode]] = {}
    for correction, mistake in sorted(pairs):
        lesson = corrections.get(correction)
        entry = nearest_entry(lesson, named) if lesson is not None else None
        if lesson is not None and entry is not None and entry.verdict is Verdict.SUCCESS:
            seen.setdefault(mistake, []).append(lesson)
    return seen


def as_seen_by(tx: Transaction, scope: Scope, episodes: Sequence[Episode]) -> list[Episode]:
    """The episodes without corrections that are not approved in the partitions of this person.

    All lists, explanations and exports for a person use this.
    """
    seen = corrections_for(tx, scope, [episode.id for episode in episodes if episode.correction])
    texts = {episode_id: lessons[-1].output for episode_id, lessons in seen.items()}
    return [replace(episode, correction=texts.get(episode.id, "")) for episode in episodes]


def as_seen_in_public(tx: Transaction, workspace: str, episodes: Sequence[Episode]) -> list[Episode]:
    """The episodes without corrections that were not written in public, or are in no public channel now."""
    wanted = [episode.id for episode in episodes if episode.correction]
    links = [each for each in tx.episodes.links(workspace, wanted, LinkKind.CORRECTS) if each.to_id in wanted]
    lessons = tx.episodes.get_many(workspace, {link.from_id for link in links})
    texts = dict.fromkeys((link.to_id for link in links), "")
    for link in sorted(links, key=lambda link: link.from_id):
        lesson = lessons.get(link.from_id)
        if lesson is not None and lesson.archived_at is None and visibility_of(lesson) is Visibility.PUBLIC:
            texts[link.to_id] = lesson.output
    return [replace(episode, correction=texts.get(episode.id, episode.correction)) for episode in episodes]
