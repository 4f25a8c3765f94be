"""How often a workspace's taught answers are confused with each other, by asking for each with its lesson left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice, zip_longest

from memory.model import Episode, Origin, Vector, Verdict
from memory.ports import EpisodeFilter, LessonSummary, Transaction
from memory.rules.evidence.confusion import LeftOut, confusion
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.verdict import voice_weight
from memory.services.core import Core
from memory.services.recall.evidence import Weighing
from memory.services.verdicts.tally import count_threshold

_NEWEST = 2_000
"""Among how many lessons that people wrote those are chosen ..."""
_ASKED = 400
"""... that are asked for: about a second's work."""


@dataclass(frozen=True, slots=True)
class ConfusionEstimate:
    """The use case: the threshold of a workspace is counted by it until people have judged enough answers."""

    _core: Core
    _weighing: Weighing

    def update(self, workspace: str) -> float:
        """Estimate it anew, and count the threshold by it; 1 where nothing was taught that something can be told by."""
        with self._core.store.read() as tx:
            found = confusion(self._left_out(tx, workspace))
        with self._core.store.write() as tx:
            stored = tx.judgements.threshold(workspace)
            if found != (stored.confusion if stored else 1.0):
                count_threshold(tx, workspace, self._core.policy.error_budget, stored=stored, confusion=found)
        return found

    def is_due(self, workspace: str, since: datetime | None) -> bool:
        """Whether anything happened to a lesson since then: taught, approved, archived."""
        with self._core.store.read() as tx:
            newest = tx.log.newest(workspace, limit=1)
        return bool(newest) and (since is None or newest[0].at >= since)

    def _left_out(self, tx: Transaction, workspace: str) -> Iterator[LeftOut]:
        lessons = _sample(tx.episodes.search(workspace, EpisodeFilter(written_only=True, limit=_NEWEST)))
        vectors = tx.episodes.vectors(workspace, [lesson.id for lesson in lessons])
        for lesson in lessons:
            model, vector = vectors.get(lesson.id, ("", None))
            if vector is not None and model == self._core.embedder.name:
                found = self._without(tx, lesson, vector)
                if found is not None:
                    yield found

    def _without(self, tx: Transaction, lesson: Episode, vector: Vector) -> LeftOut | None:
        """What would be answered to its author without it; None if no other lesson says the same."""
        near = self._weighing.near(tx, lesson.scope, vector)
        own = next((hit for hit in near.hits if hit.episode_id == lesson.id), None)
        if own is None or own.verdict is not Verdict.SUCCESS:
            return None
        evidence, read = self._weighing.weighed(tx, lesson.scope, vector, near, (), run_id=lesson.run_id)
        summary = read.lessons[lesson.id]
        words = AnswerWords.of(summary.output)
        same = (
            place for place, each in enumerate(evidence.beliefs) if AnswerWords.of(each.text).says_the_same_as(words)
        )
        place = next(same, None)
        if place is None or not any(weight.approves for weight in evidence.beliefs[place].weights):
            return None
        return LeftOut(lesson.author, self._is_known(summary), evidence.confidence, is_right=place == 0)

    def _is_known(self, lesson: LessonSummary) -> bool:
        policy = self._core.policy
        return any(
            vote.value > 0
            and not vote.is_limited
            and voice_weight(vote.standing, vote.right, vote.wrong, vote.role, policy)
            for vote in lesson.votes
        )


def _sample(lessons: Iterable[Episode]) -> list[Episode]:
    """Of the lessons taught for themselves the newest, as many of each author as can be.

    What corrects an answer is left out: people correct what is hard, so it would look harder than it is.
    """
    of_authors: dict[str, list[Episode]] = {}
    for lesson in lessons:
        if lesson.origin is not Origin.CORRECTION:
            of_authors.setdefault(lesson.author, []).append(lesson)
    in_turn = chain.from_iterable(zip_longest(*of_authors.values()))
    return list(islice((lesson for lesson in in_turn if lesson is not None), _ASKED))
