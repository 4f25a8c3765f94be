"""Goodbot among the memories that `worker` measures: `python -m bot.app.bench.peers.own NAME FOLDER`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.app.bench.peers.worker import K, Vectors, measure
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.library.episodic import EpisodicMemory, EpisodicMemoryConfig
from memory.model import Episode, EpisodeStatus, Origin, Scope, Vector, Verdict, Verdicts
from memory.rules.audience import index_entries_of, partitions_for
from memory.rules.fold import unjudged, with_verdicts
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import Memory

_AT_ONCE = 1000


class _Lookup:
    """The vectors as an embedder."""

    name = "looked-up"

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.dimension = len(vectors.of("t0"))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The row of each text."""
        return [self._vectors.of(text) for text in texts]


class Search:
    """The store alone: the ten nearest lessons in a person's reach, read in full."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._vectors, self._embedder = vectors, _Lookup(vectors)
        self._memory = Memory(
            SqlStore.open(f"sqlite:///{folder / 'goodbot.db'}"),
            self._embedder,
            clock=utc_now,
            new_id=TimeOrderedIds(),
            retrieval=RetrievalConfig(
                env_threshold=0.0, top_k=None, env_weight=0.0, intent_weight=1.0, min_intent=0.0, final_k=K
            ),
        )

    def load(self, people: Sequence[str]) -> None:
        """Approved lessons, a thousand in one transaction."""
        for start in range(0, len(people), _AT_ONCE):
            named = enumerate(people[start : start + _AT_ONCE], start)
            lessons = [_lesson(self.of(person).scope, f"t{row}") for row, person in named]
            with self._memory.store.write() as tx:
                tx.episodes.put(*lessons)
                vectors = {lesson.id: self._vectors.of(lesson.id) for lesson in lessons}
                tx.episodes.add_vectors(lessons[0].workspace, self._embedder.name, vectors)
                entries = [(lesson.id, entry) for lesson in lessons for entry in index_entries_of(lesson)]
                tx.episodes.change_index(lessons[0].workspace, put=entries, remove=[])

    def search(self, person: str, text: str) -> list[str]:
        """Search the store only."""
        scope = self.of(person).scope
        with self._memory.store.read() as tx:
            nearest = tx.episodes.nearest(
                scope.workspace, partitions_for(scope), self._embedder.name, self._vectors.of(text), K, -1.0
            )
            found = tx.episodes.get_many(scope.workspace, [hit.episode_id for hit in nearest.hits])
        return [found[hit.episode_id].id for hit in nearest.hits]

    def add(self, person: str, text: str) -> None:
        """One lesson with its log, its vote and its verdict."""
        self.of(person).store(Episode(goal=text, output=text, status=EpisodeStatus.SUCCESS))

    def of(self, person: str) -> EpisodicMemory:
        """The memory of one person."""
        return EpisodicMemoryConfig(service=self._memory).with_user_id(person).new_episodic_memory()


class WholeRecall(Search):
    """The whole recall: every stage, as an agent asks for it."""

    def search(self, person: str, text: str) -> list[str]:
        """The lessons for a prompt."""
        return [each.id for each in self.of(person).retrieve(text, K)]


def _lesson(scope: Scope, text: str) -> Episode:
    made = Episode(
        id=text,
        run_id=text,
        workspace=scope.workspace,
        channel=scope.channel,
        person=scope.person,
        author=scope.person,
        visibility=scope.visibility,
        origin=Origin.IMPORT,
        goal=text,
        action="answer",
        action_target=text,
        output=text,
        created_at=utc_now(),
    )
    return with_verdicts(unjudged(made), Verdicts(personal=Verdict.SUCCESS))


def main() -> None:
    """Measure what the command line names."""
    make = {"search": Search, "recall": WholeRecall}[sys.argv[1]]
    print(json.dumps(measure(make, Path(sys.argv[2]))))  # noqa: T201 - it is the result


if __name__ == "__main__":
    main()
