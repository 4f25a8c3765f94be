"""How often a workspace's taught answers are confused with each other, by asking for each with its lesson left out."""

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
"""How often a workspace is estimated, as it takes a second or more of the processor."""
_NEVER = datetime.min.replace(tzinfo=UTC)
_ASKED = 400
"""How many lessons are asked for: about a second's work."""
_AT_ONCE, _PAGES = 2_000, 10
"""Among how many that people wrote they are chosen, and how often so many more are looked through at most."""


@dataclass(frozen=True, slots=True)
class ConfusionEstimate:
    """The use case: the threshold of a workspace is counted by it until people have judged enough answers."""

    _core: Core
    _weighing: Weighing

    @classmethod
    def of(cls, core: Core) -> "ConfusionEstimate":
        """With a weighing of its own."""
        return cls(core, Weighing(core))

    def update(self, workspace: str) -> float:
        """Estimate it anew, and count the threshold by it; 1 where nothing was taught that something can be told by.

        It stays what it was while lessons wait to be embedded by the embedder in use, and where somebody else began to
        estimate it meanwhile, or something was erased or purged (`drop`). No transaction lasts as long as the estimate.
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
        is_told = all(model == self._core.embedder.name for model, _ in vectors.values())
        found = confusion(self._left_out(sample, vectors, is_known=is_known)) if is_told else None
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
        """When it was last tried, if that was long enough ago and something happened since; None if it is not due."""
        with self._core.store.read() as tx:
            newest, last = tx.log.newest(workspace, limit=1), tx.upkeep.progress(workspace, JOB)
        if not newest or last is None:
            return _NEVER if newest else None
        was_just_now = last.tried_at <= self._core.clock() < last.tried_at + _AT_MOST_EVERY
        return last.tried_at if newest[0].seq > last.seq and not was_just_now else None

    def drop(self, tx: Transaction, workspace: str) -> bool:
        """Keep no number that what is erased or purged in this transaction has part in; whether there was any.

        An estimate under way comes to nothing.
        """
        tx.upkeep.drop_progress(workspace, JOB)
        stored = tx.judgements.threshold(workspace)
        if stored is None or stored.confusion == 1.0:
            return False
        count_threshold(tx, workspace, self._core.policy.error_budget, stored=stored, confusion=1.0)
        return True

    def update_without(self, workspace: str) -> None:
        """The same as `update`, after `drop`. It may fail here: what is gone stays so, and the job tries it again."""
        try:
            self.update(workspace)
        except MemoryFault as error:
            log.error("confusion in %s was not estimated: %s", workspace, error)

    def _left_out(
        self, sample: Sequence[tuple[str, Episode]], vectors: Mapping[str, tuple[str, Vector]], *, is_known: bool
    ) -> Iterator[LeftOut]:
        """Each in a transaction of its own: where readers take turns, nobody waits for all of them."""
        for author, lesson in sample:
            if lesson.id in vectors:
                with self._core.store.read() as tx:
                    confidence, is_right = self._without(tx, lesson, vectors[lesson.id][1])
                yield LeftOut(author, is_known, confidence, is_right=is_right)

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
