"""How often a workspace's taught answers are confused with each other, by asking for each with its lesson left out."""

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

_ASKED = 400
"""How many lessons are asked for: about a second's work."""
_AT_ONCE, _PAGES = 2_000, 10
"""Among how many that people wrote they are chosen, and how often so many more are looked through at most."""


@dataclass(frozen=True, slots=True)
class ConfusionEstimate:
    """The use case: the threshold of a workspace is counted by it until people have judged enough answers."""

    _core: Core
    _weighing: Weighing

    def update(self, workspace: str) -> float:
        """Estimate it anew, and count the threshold by it; 1 where nothing was taught that something can be told by.

        While lessons wait to be embedded by the embedder in use, it stays what it was.
        """
        with self._core.store.read() as tx:
            found = self._estimated(tx, workspace)
        with self._core.store.write() as tx:
            stored = tx.judgements.threshold(workspace)
            before = stored.confusion if stored else 1.0
            if found is None or found == before:
                return before
            count_threshold(tx, workspace, self._core.policy.error_budget, stored=stored, confusion=found)
        return found

    def is_due(self, workspace: str, since: datetime | None) -> bool:
        """Whether anything happened to a lesson since then: taught, approved, archived."""
        with self._core.store.read() as tx:
            newest = tx.log.newest(workspace, limit=1)
        return bool(newest) and (since is None or newest[0].at >= since)

    def _estimated(self, tx: Transaction, workspace: str) -> float | None:
        sample, is_known = self._sample(tx, workspace)
        vectors = tx.episodes.vectors(workspace, [lesson.id for _, lesson in sample])
        if any(model != self._core.embedder.name for model, _ in vectors.values()):
            return None
        left_out = list[LeftOut]()
        for author, lesson in sample:
            if lesson.id in vectors:
                confidence, is_right = self._without(tx, lesson, vectors[lesson.id][1])
                left_out.append(LeftOut(author, is_known, confidence, is_right=is_right))
        return confusion(left_out)

    def _sample(self, tx: Transaction, workspace: str) -> tuple[list[tuple[str, Episode]], bool]:
        """Of the lessons that count for others the newest, as many of each author as can be, and whether there are any.

        Where there are none it is those that count for their authors. What corrects an answer is left out: people
        correct what is hard, so it would look harder than it is.
        """
        known, unknown, after = dict[str, list[Episode]](), dict[str, list[Episode]](), ""
        for _ in range(_PAGES):
            page = tx.episodes.search(workspace, EpisodeFilter(written_only=True, limit=_AT_ONCE, after=after))
            taught = [lesson for lesson in page if lesson.origin is not Origin.CORRECTION]
            summaries = tx.episodes.weighing_input(workspace, "", [lesson.id for lesson in taught]).lessons
            for lesson in taught:
                behind = self._behind(summaries[lesson.id])
                of_authors = known if behind else unknown
                of_authors.setdefault(behind or lesson.author, []).append(lesson)
            if len(page) < _AT_ONCE or (len(known) > 1 and sum(map(len, known.values())) >= _ASKED):
                break
            after = page[-1].id
        pairs = [[(author, lesson) for lesson in lessons] for author, lessons in (known or unknown).items()]
        in_turn = (each for each in chain.from_iterable(zip_longest(*pairs)) if each is not None)
        return list(islice(in_turn, _ASKED)), bool(known)

    def _behind(self, lesson: LessonSummary) -> str:
        """By whose word the lesson counts for others: its author's before anybody else's; empty if by nobody's."""
        policy = self._core.policy
        people = [
            vote.actor
            for vote in lesson.votes
            if vote.value > 0
            and not vote.is_limited
            and voice_weight(vote.standing, vote.right, vote.wrong, vote.role, policy)
        ]
        return lesson.author if lesson.author in people else min(people, default="")

    def _without(self, tx: Transaction, lesson: Episode, vector: Vector) -> tuple[float, bool]:
        """How sure what would be answered to its author without it is, and if it is right.

        0 if no other lesson says the same, or the lesson does not count.
        """
        near = self._weighing.near(tx, lesson.scope, vector)
        own = next((hit for hit in near.hits if hit.episode_id == lesson.id), None)
        if own is None or own.verdict is not Verdict.SUCCESS:
            return 0.0, False
        evidence, read = self._weighing.weighed(tx, lesson.scope, vector, near, (), run_id=lesson.run_id)
        words = AnswerWords.of(read.lessons[lesson.id].output)
        same = (
            place for place, each in enumerate(evidence.beliefs) if AnswerWords.of(each.text).says_the_same_as(words)
        )
        place = next(same, None)
        if place is None or not any(weight.approves for weight in evidence.beliefs[place].weights):
            return 0.0, False
        return evidence.confidence, place == 0
