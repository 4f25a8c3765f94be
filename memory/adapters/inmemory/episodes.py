"""Episodes with their vectors, index entries and links, in dictionaries."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from memory.adapters.inmemory.state import Access
from memory.adapters.partitions import VectorPartition, search
from memory.adapters.row_validation import goal_key, half, plain, storable
from memory.errors import NotFound
from memory.model import Episode, Link, LinkKind, Origin, Signal
from memory.ports import EpisodeFilter, IndexEntry, LessonUse, Neighbourhood
from memory.rules.strength import bumped, nudged, strength

if TYPE_CHECKING:
    from memory.model import Vector


class Episodes:
    """`memory.ports.EpisodeTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put(self, *new: Episode) -> None:
        for episode in new:
            self._put(episode)

    def _put(self, episode: Episode) -> None:
        steps = tuple(replace(step, arguments=plain(step.arguments)) for step in storable(episode).trajectory)
        whole = replace(
            episode,
            trajectory=steps,
            context_before=tuple(episode.context_before),
            context_after=tuple(episode.context_after),
            exemplar_ids=tuple(episode.exemplar_ids),
            quarantine=tuple(episode.quarantine),
            channel_visibility=None,
        )
        if not episode.workspace or not episode.id:
            raise ValueError("an episode is stored under its workspace and id, one of them is empty")
        self._access.changing.episodes[episode.workspace, episode.id] = whole

    def add(self, *nodes: Episode) -> None:
        for node in nodes:
            is_attempt = node.is_root and node.origin is Origin.RUN
            rep = self.attempts(node.workspace, node.person, node.channel, node.goal) + 1 if is_attempt else node.rep
            self._put(replace(node, rep=rep))

    def use(self, uses: Sequence[LessonUse]) -> bool:
        episodes = self._access.changing.episodes
        for each in uses:
            lesson = episodes.get((each.workspace, each.episode_id))
            if lesson is None or lesson.goal != each.goal:
                return False
            nudge = nudged(lesson.nudge, each.signal)
            episodes[each.workspace, each.episode_id] = replace(
                lesson,
                salience=bumped(lesson.salience, lesson.salience_at, each.at),
                salience_at=max(each.at, lesson.salience_at),
                nudge=nudge,
                strength=strength(lesson.verdicts, nudge),
                retrieval_count=lesson.retrieval_count + 1,
                used_count=lesson.used_count + (each.signal is Signal.USED),
                ignored_count=lesson.ignored_count + (each.signal is Signal.IGNORED),
            )
        return True

    def get(self, workspace: str, episode_id: str) -> Episode | None:
        return self.get_many(workspace, [episode_id]).get(episode_id)

    def get_many(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Episode]:
        episodes = self._access.state.episodes
        return {each: self._now(episodes[workspace, each]) for each in episode_ids if (workspace, each) in episodes}

    def find_prefix(self, prefix: str, limit: int = 2) -> list[Episode]:
        found = [
            self._now(episode)
            for key, episode in sorted(self._access.state.episodes.items())
            if key[1].startswith(prefix) or key[1].endswith(prefix)
        ]
        return found[:limit]

    def of_run(self, workspace: str, run_id: str) -> list[Episode]:
        found = self._where(workspace, lambda episode: episode.run_id == run_id)
        return sorted(found, key=lambda episode: (episode.step_number, episode.id))

    def search(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        found = self._where(workspace, lambda episode: _matches(episode, wanted))
        found.sort(key=lambda episode: (episode.created_at, episode.id), reverse=wanted.newest_first)
        return [
            replace(episode, trajectory=(), thoughts="", context_before=(), context_after=())
            for episode in found[: wanted.limit]
        ]

    def count(self, workspace: str, wanted: EpisodeFilter) -> int:
        return len(self._where(workspace, lambda episode: _matches(episode, wanted)))

    def attempts(self, workspace: str, person: str, channel: str, goal: str) -> int:
        def is_attempt(episode: Episode) -> bool:
            is_run = episode.is_root and episode.origin is Origin.RUN
            here = (episode.person, episode.channel) == (person, channel)
            return is_run and here and goal_key(episode.goal) == wanted

        wanted = goal_key(goal)
        return max((episode.rep for episode in self._where(workspace, is_attempt)), default=0)

    def delete(self, workspace: str, episode_ids: Iterable[str]) -> int:
        state = self._access.changing
        gone = {each for each in episode_ids if state.episodes.pop((workspace, each), None) is not None}
        for each in gone:
            state.vectors.pop((workspace, each), None)
            state.words.pop((workspace, each), None)
            state.index.pop((workspace, each), None)
            state.steps.pop((workspace, each), None)
        for link_key in [key for key in state.links if key[0] == workspace and gone.intersection(key[1:3])]:
            del state.links[link_key]
        for event_key in [k for k, event in state.events.items() if k[0] == workspace and event.episode_id in gone]:
            del state.events[event_key]
        for grade_key in [k for k, grade in state.grades.items() if k[0] == workspace and grade.episode_id in gone]:
            del state.grades[grade_key]
        for key, items in state.items.items():
            if key[0] == workspace:
                state.items[key] = tuple(item for item in items if item.episode_id not in gone)
        return len(gone)

    def put_vector(self, workspace: str, episode_id: str, model: str, vector: "Vector") -> None:
        state = self._access.changing
        rounded = half(vector)
        self._require(workspace, episode_id)
        state.vectors[workspace, episode_id] = (storable(model), rounded)

    def add_vectors(self, workspace: str, model: str, vectors: "Mapping[str, Vector]") -> None:
        for episode_id, vector in vectors.items():
            self.put_vector(workspace, episode_id, model, vector)

    def vectors(self, workspace: str, episode_ids: Iterable[str]) -> "dict[str, tuple[str, Vector]]":
        vectors = self._access.state.vectors
        return {each: vectors[workspace, each] for each in episode_ids if (workspace, each) in vectors}

    def delete_vector(self, workspace: str, episode_id: str) -> None:
        self.set_index(workspace, episode_id, ())
        self._access.changing.vectors.pop((workspace, episode_id), None)

    def note_words(self, workspace: str, episode_id: str, person: str) -> None:
        self._require(workspace, episode_id)
        words = self._access.changing.words
        words[workspace, episode_id] = words.get((workspace, episode_id), frozenset()) | {storable(person)}

    def clear_words(self, workspace: str, episode_id: str) -> None:
        self._access.changing.words.pop((workspace, episode_id), None)

    def words_of_others(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[str]]:
        words = self._access.state.words
        return {each: sorted(words[workspace, each]) for each in episode_ids if (workspace, each) in words}

    def with_words_of(self, workspace: str, person: str) -> list[str]:
        words = self._access.state.words
        return sorted(key[1] for key, people in words.items() if key[0] == workspace and person in people)

    def set_index(self, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
        state = self._access.changing
        by_partition = {entry.partition: entry for entry in storable(tuple(entries))}
        if by_partition and (workspace, episode_id) not in state.vectors:
            raise NotFound(f"Episode {episode_id} of {workspace} has no vector, so it cannot be made findable.")
        state.index[workspace, episode_id] = tuple(by_partition[name] for name in sorted(by_partition))

    def nearest(
        self, workspace: str, partitions: Sequence[str], model: str, vector: "Vector", k: int, min_cosine: float
    ) -> Neighbourhood:
        state = self._access.state
        shelves = {name: VectorPartition(len(vector)) for name in partitions}
        for key, entries in state.index.items():
            if key[0] != workspace or not entries:
                continue
            stored_model, stored = state.vectors[key]
            if stored_model != model or len(stored) != len(vector):
                continue
            for entry in entries:
                if entry.partition in shelves:
                    shelves[entry.partition].add([(key[1], entry.audience, entry.verdict)], stored[np.newaxis])
        return search(list(shelves.values()), vector, k, min_cosine)

    def index_of(self, workspace: str, episode_id: str) -> list[IndexEntry]:
        return list(self._access.state.index.get((workspace, episode_id), ()))

    def add_link(self, *new: Link) -> None:
        state = self._access.changing
        for link in new:
            storable(link)
            self._require(link.workspace, link.from_id)
            self._require(link.workspace, link.to_id)
            state.links.setdefault((link.workspace, link.from_id, link.to_id, link.kind), link)

    def remove_link(self, link: Link) -> None:
        self._access.changing.links.pop((link.workspace, link.from_id, link.to_id, link.kind), None)

    def links(self, workspace: str, episode_ids: Iterable[str], kind: LinkKind | None = None) -> list[Link]:
        wanted = set(episode_ids)
        found = [
            link
            for key, link in self._access.state.links.items()
            if key[0] == workspace and (link.from_id in wanted or link.to_id in wanted) and kind in (None, link.kind)
        ]
        return sorted(found, key=lambda link: (link.from_id, link.to_id, link.kind.value))

    def _where(self, workspace: str, holds: Callable[[Episode], bool]) -> list[Episode]:
        return [self._now(e) for key, e in self._access.state.episodes.items() if key[0] == workspace and holds(e)]

    def _now(self, episode: Episode) -> Episode:
        known = self._access.channel_visibility(episode.workspace, episode.channel)
        return replace(episode, channel_visibility=known) if known is not None else episode

    def _require(self, workspace: str, episode_id: str) -> None:
        if (workspace, episode_id) not in self._access.state.episodes:
            raise NotFound(f"There is no episode {episode_id} in {workspace}; store it first.")


def _matches(episode: Episode, wanted: EpisodeFilter) -> bool:
    same = all(
        not value or getattr(episode, name) == value
        for name in ("run_id", "channel", "person", "author", "status", "verdict")
        for value in (getattr(wanted, name),)
    )
    text = wanted.text.lower()
    return (
        same
        and (text in episode.goal.lower() or text in episode.output.lower())
        and (episode.is_root or not wanted.roots_only)
        and (episode.archived_at is None or wanted.include_archived)
        and (bool(episode.quarantine) or not wanted.quarantined_only)
    )
