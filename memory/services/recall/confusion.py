"""Estimates how often a workspace's taught answers are confused with each other, by leave-one-out cross-validation."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, zip_longest

from memory.errors import MemoryFault
from memory.model import Episode, Origin, Vector, Verdict
from memory.model.upkeep import JobProgress
from memory.ports import EpisodeFilter, LessonSummary, Transaction
from memory.rules.evidence.confusion import LeftOut, confusion
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.verdict import voice_weight
from memory.services.core import Core
from memory.services.recall.evidence import Weighing
from memory.services.verdicts.tally import count_threshold

log = logging.getLogger(__name__)

JOB = "confusion"
_AT_MOST_EVERY = timedelta(hours=1)
"""The least time between two estimates of a workspace; each takes a second or more of CPU time."""
_NEVER = datetime.min.replace(tzinfo=UTC)
_ASKED = 400
"""How many lessons are sampled: about a second's work."""
_AT_ONCE, _PAGES = 2_000, 10
"""The size of a page of written lessons from which the sample is taken, and how many pages are read at most."""


@dataclass(frozen=True, slots=True)
class ConfusionEstimate:
    """The use case that estimates a workspace's confusion, from which its first threshold is computed."""

    _core: Core
    _weighing: Weighing

    @classmethod
    def of(cls, core: Core) -> "ConfusionEstimate":
        """The use case with its own `Weighing`."""
        return cls(core, Weighing(core))

    def update(self, workspace: str) -> float:
        """Estimate the confusion, recompute the threshold, and return the confusion; 1 if there is nothing to go by.

        The old value is kept if lessons are not embedded by the current embedder yet, if another estimate started
        meanwhile, or if something was erased or purged meanwhile (`drop`). The estimate uses many short transactions.
        """
        started = self._core.clock()
        with self._core.store.write() as tx:
            before = tx.upkeep.progress(workspace, JOB)
            begun = JobProgress(workspace=workspace, job=JOB, seq=before.seq if before else 0, tried_at=started)
            tx.upkeep.put_progress(begun)
        with self._core.store.read() as tx:
            newest = tx.log.newest(workspace, limit=1)
            sample, is_known = self._sample(tx, workspace)
            vectors = tx.episodes.vectors(workspace, [lesson.id for _, lesson in sample])
        is_embedded = all(model == self._core.embedder.name for model, _ in vectors.values())
        found = confusion(self._left_out(sample, vectors, is_known=is_known)) if is_embedded else None
        with self._core.store.write() as tx:
            stored = tx.judgements.threshold(workspace)
            known = stored.confusion if stored else 1.0
            if found is None or tx.upkeep.progress(workspace, JOB) != begun:
                return known
            tx.upkeep.put_progress(replace(begun, seq=newest[0].seq if newest else 0))
            if found != known:
                count_threshold(tx, workspace, self._core.policy.error_budget, stored=stored, confusion=found)
        return found

    def waits_since(self, workspace: str) -> datetime | None:
        """When the estimate was last tried, if it is due: long enough ago, with new events since. None if not due."""
        with self._core.store.read() as tx:
            newest, last = tx.log.newest(workspace, limit=1), tx.upkeep.progress(workspace, JOB)
        if not newest or last is None:
            return _NEVER if newest else None
        was_just_now = last.tried_at <= self._core.clock() < last.tried_at + _AT_MOST_EVERY
        return last.tried_at if newest[0].seq > last.seq and not was_just_now else None

    def drop(self, tx: Transaction, workspace: str) -> bool:
        """Drop the estimate, as data it rests on is erased or purged in this transaction. False if there was none.

        The result of an estimate that is under way is discarded.
        """
        tx.upkeep.drop_progress(workspace, JOB)
        stored = tx.judgements.threshold(workspace)
        if stored is None or stored.confusion == 1.0:
            return False
        count_threshold(tx, workspace, self._core.policy.error_budget, stored=stored, confusion=1.0)
        return True

    def update_without(self, workspace: str) -> None:
        """`update` after `drop`. An error is only logged, as the job will try again."""
        try:
            self.update(workspace)
        except MemoryFault as error:
            log.error("confusion in %s was not estimated: %s", workspace, error)

    def _left_out(
        self, sample: Sequence[tuple[str, Episode]], vectors: Mapping[str, tuple[str, Vector]], *, is_known: bool
    ) -> Iterator[LeftOut]:
        """The leave-one-out result of each embedded lesson, each in its own transaction so that none is long."""
        for author, lesson in sample:
            if lesson.id in vectors:
                with self._core.store.read() as tx:
                    confidence, is_right = self._answer_without(tx, lesson, vectors[lesson.id][1])
                yield LeftOut(author, is_known, confidence, is_right=is_right)

    def _sample(self, tx: Transaction, workspace: str) -> tuple[list[tuple[str, Episode]], bool]:
        """The newest lessons that count for others, with their authors, taken from all authors in turn.

        Returns them and True; if there are none, the newest lessons that count for nobody else, and False. Corrections
        are left out: people correct hard questions, so they would overstate the confusion.
        """
        known, unknown, after = dict[str, list[Episode]](), dict[str, list[Episode]](), ""
        for _ in range(_PAGES):
            page = tx.episodes.search(workspace, EpisodeFilter(written_only=True, limit=_AT_ONCE, after=after))
            taught = [lesson for lesson in page if lesson.origin is not Origin.CORRECTION]
            summaries = tx.episodes.weighing_input(workspace, "", [lesson.id for lesson in taught]).lessons
            for lesson in taught:
                backer = self._backer(summaries[lesson.id])
                of_authors = known if backer else unknown
                of_authors.setdefault(backer or lesson.author, []).append(lesson)
            if len(page) < _AT_ONCE or (len(known) > 1 and sum(map(len, known.values())) >= _ASKED):
                break
            after = page[-1].id
        pairs = [[(author, lesson) for lesson in lessons] for author, lessons in (known or unknown).items()]
        in_turn = (each for each in chain.from_iterable(zip_longest(*pairs)) if each is not None)
        return list(islice(in_turn, _ASKED)), bool(known)

    def _backer(self, lesson: LessonSummary) -> str:
        """The person whose vote makes the lesson count for others, preferably its author; empty if there is none."""
        policy = self._core.policy
        people = [
            vote.actor
            for vote in lesson.votes
            if vote.value > 0
            and not vote.is_limited
            and voice_weight(vote.standing, vote.right, vote.wrong, vote.role, policy)
        ]
        return lesson.author if lesson.author in people else min(people, default="")

    def _answer_without(self, tx: Transaction, lesson: Episode, vector: Vector) -> tuple[float, bool]:
        """The confidence of the answer its author would get without this lesson, and whether that answer is right.

        (0, False) if no other lesson says the same, or if the lesson is not found as a success.
        """
        nearest = self._weighing.nearest(tx, lesson.scope, vector)
        own = next((hit for hit in nearest.hits if hit.episode_id == lesson.id), None)
        if own is None or own.verdict is not Verdict.SUCCESS:
            return 0.0, False
        evidence, read = self._weighing.weigh_nearest(tx, lesson.scope, vector, nearest, (), run_id=lesson.run_id)
        words = AnswerWords.of(read.lessons[lesson.id].output)
        same = (
            place for place, each in enumerate(evidence.beliefs) if AnswerWords.of(each.text).says_the_same_as(words)
        )
        place = next(same, None)
        if place is None or not any(weight.approves for weight in evidence.beliefs[place].weights):
            return 0.0, False
        return evidence.confidence, place == 0
