"""Detects which injected memories an answer used, and stores the findings."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from memory.library.episodic import EpisodicMemory, keep_for_a_while
from memory.library.visibility import may_be_shown, place_json
from memory.model import Audience, Episode, Event, EventKind, Exemplar, Retrieval, RetrievalItem, Signal, Verdict
from memory.model.validation import require_instance, require_instances, require_integer, require_text
from memory.ports import Transaction
from memory.rules.audience import may_read, may_see, partition_of
from memory.rules.use_detection import Detector, OverlapDetector, Similarity, SimilarityDetector
from memory.services.core import event, record

log = logging.getLogger(__name__)

RETRIEVALS = "feedback_retrieval"
"""Kind of the short memories that map a caller's retrieval id to the stored one."""

QUESTIONS = "feedback_question"
"""Kind of the short memories with the question and place of a retrieval."""

QUESTION_LIFE = timedelta(days=365)
"""How long a finding's retrieval, with its person and question, is stored. The finding itself stays."""

_SIGNALS = {signal.value: signal for signal in Signal}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalFeedback:
    """One finding about one injected episode."""

    episode_id: str
    signal: Signal
    context: str
    at: datetime


class Findings(list[RetrievalFeedback]):
    """The findings of one call, in the order of the injected episodes."""

    def __init__(self, findings: Sequence[RetrievalFeedback] = (), *, skipped: Sequence[str] = ()) -> None:
        super().__init__(findings)
        self.skipped = tuple(skipped)
        """Ids of injected episodes that are unknown, or that the person may not see."""


class RetrievalFeedbackSignal:
    """Detects used lessons, records each finding once per retrieval and episode, and nudges strength within bounds.

    `similarity` also compares meanings, for answers that share no word with a lesson. The default detector is the
    bot's own; the seed's is `KeywordDetector`.

    Findings belong to a person: they cover only lessons that the person may see, questions are shown only to the person
    who asked, and are erased with their data.
    """

    def __init__(
        self, episodic: EpisodicMemory, detector: Detector | None = None, *, similarity: Similarity | None = None
    ) -> None:
        self._episodic = require_instance(EpisodicMemory, episodic, "the memory of the findings")
        self._memory = episodic.memory
        self._scope = episodic.scope
        inner = detector or OverlapDetector()
        self._detector = inner if similarity is None else SimilarityDetector(detector=inner, similarity=similarity)

    def detect(
        self, injected: Sequence[Episode], response: str, context: str = "", *, retrieval_id: str = ""
    ) -> Findings:
        """One finding per known injected episode, in order.

        `retrieval_id` makes the call idempotent: the first finding of a retrieval on an episode is kept, even if a
        second call has another answer. Episodes that are unknown (forgotten meanwhile), or that this person may not
        see, are skipped and listed in `Findings.skipped`. `context` is the question that was answered, whose own words
        are no evidence of use. A lesson of another person is judged as stored, and changed only if the retrieval showed
        it and was recorded with an answer to this person. Raises `InvalidInput` for other types.
        """
        require_instances(Episode, injected, "injected")
        for name, value in (("response", response), ("context", context), ("retrieval_id", retrieval_id)):
            require_text(value, name)
        workspace = self._scope.workspace
        skipped: list[str] = []
        found: list[RetrievalFeedback] = []
        with self._memory.store.write() as tx:
            retrieval, items, asked = self._retrieval_of(tx, retrieval_id, context)
            by_lesson = {item.episode_id: item for item in items}
            for memory in {each.id: each for each in injected}.values():
                episode = tx.episodes.get(workspace, memory.id)
                if episode is None or not may_see(self._scope, episode):
                    skipped.append(memory.id)
                    continue
                item = by_lesson.get(episode.id)
                if item is None or item.signal is None:
                    is_own = self._is_mine(episode)
                    judged = memory if is_own else episode
                    was_shown = item is not None
                    rank = item.rank if item else 1 + max((each.rank for each in by_lesson.values()), default=0)
                    item = self._judge(retrieval, rank, judged, context, response)
                    if is_own or was_shown:
                        by_lesson[episode.id] = item
                        self._log_finding(tx, episode, item)
                signal = item.signal or Signal.UNKNOWN
                found.append(RetrievalFeedback(episode_id=episode.id, signal=signal, context=asked, at=retrieval.at))
            tx.retrievals.put(retrieval, list(by_lesson.values()))
        if skipped:
            log.warning("no feedback for episodes that %s does not know: %s", workspace, ", ".join(skipped))
        return Findings(found, skipped=skipped)

    def _retrieval_of(self, tx: Transaction, given: str, context: str) -> tuple[Retrieval, list[RetrievalItem], str]:
        """The retrieval with its items so far and its question, which is stored for the person if it is new."""
        workspace, now = self._scope.workspace, self._memory.clock()
        own_key = f"{partition_of(self._scope, Audience.PERSONAL)}/{quote(given, safe='')}"
        known = tx.short.get(workspace, RETRIEVALS, own_key, now) if given else None
        is_recorded = given != "" and known is None and self._is_own(tx, tx.retrievals.get(workspace, given))
        retrieval_id = str(known.value["retrieval"]) if known else given if is_recorded else self._memory.new_id()
        asked = self._question_of(tx, retrieval_id)
        if asked is None:
            asked = self._memory.core.redactor.text(context)
            question = {"context": asked, **place_json(self._scope)}
            keep_for_a_while(tx, self._episodic, QUESTIONS, retrieval_id, question, QUESTION_LIFE)
            if given:
                keep_for_a_while(tx, self._episodic, RETRIEVALS, own_key, {"retrieval": retrieval_id}, QUESTION_LIFE)
        fresh = Retrieval(workspace=workspace, id=retrieval_id, run_id="", node_path="", goal="", at=now)
        retrieval, items = tx.retrievals.get(workspace, retrieval_id) or (fresh, [])
        return retrieval, items, asked

    def _judge(self, retrieval: Retrieval, rank: int, memory: Episode, context: str, response: str) -> RetrievalItem:
        exemplar = _exemplar(memory)
        evidence = self._detector.detect(exemplar, context, response)
        return RetrievalItem(
            workspace=retrieval.workspace,
            retrieval_id=retrieval.id,
            rank=rank,
            episode_id=memory.id,
            lesson=exemplar.lesson,
            context_score=0.0,
            intent_score=0.0,
            relevance=0.0,
            signal=evidence.signal,
            ratio=evidence.ratio,
        )

    def _log_finding(self, tx: Transaction, episode: Episode, item: RetrievalItem) -> None:
        """Log the finding in the lesson's history, without person and question."""
        kind = EventKind((item.signal or Signal.UNKNOWN).value)
        detail = {"ratio": round(item.ratio, 4), "retrieval": item.retrieval_id}
        source = f"use/{item.retrieval_id}/{episode.id}"
        record(tx, episode, event(episode, kind, "detector", self._memory.clock(), source=source, detail=detail))

    def get_history(self, episode_id: str, limit: int = 100) -> list[RetrievalFeedback]:
        """The findings on an episode, newest first. A negative limit means all, as in the seed.

        For one's own episodes all findings, for others' those of one's own retrievals. `context` is empty unless this
        person asked the question, and may see it here. Empty for an episode that this person may not see.
        """
        require_text(episode_id, "episode_id")
        require_integer(limit, "limit")
        with self._memory.store.read() as tx:
            episode = tx.episodes.get(self._scope.workspace, episode_id)
            if episode is None or not may_see(self._scope, episode):
                return []
            is_own = self._is_mine(episode)
            history: list[RetrievalFeedback] = []
            for entry in reversed(tx.log.of_episode(self._scope.workspace, episode_id)):
                if len(history) == limit:
                    break
                signal = _SIGNALS.get(entry.kind.value)
                asked = self._question(tx, entry) if signal else None
                if signal and (is_own or asked is not None):
                    history.append(
                        RetrievalFeedback(episode_id=episode_id, signal=signal, context=asked or "", at=entry.at)
                    )
        return history

    def get_stats(self, episode_id: str) -> dict[str, int]:
        """The number of findings in `get_history` by signal; all 0 for an unknown episode."""
        counts = Counter(finding.signal.value for finding in self.get_history(episode_id, limit=-1))
        return {signal.value: counts[signal.value] for signal in Signal}

    def _is_mine(self, episode: Episode) -> bool:
        return self._scope.person in (episode.person, episode.author)

    def _question(self, tx: Transaction, entry: Event) -> str | None:
        """The question of a finding's retrieval, empty if it is not stored or not shown here; None if another's."""
        asked = self._question_of(tx, str(entry.detail.get("retrieval", "")))
        if asked is None and self._is_own_run(tx, str(entry.detail.get("run", ""))):
            return ""
        return asked

    def _question_of(self, tx: Transaction, retrieval_id: str) -> str | None:
        """The question this person asked in a retrieval, empty if not shown here; None if there is none."""
        note = tx.short.get(self._scope.workspace, QUESTIONS, retrieval_id, self._memory.clock())
        if note is None or note.person != self._scope.person:
            return None
        return str(note.value["context"]) if may_be_shown(tx, self._scope, note.value) else ""

    def _is_own(self, tx: Transaction, recorded: tuple[Retrieval, list[RetrievalItem]] | None) -> bool:
        """Whether a retrieval was recorded with an answer to this person."""
        return recorded is not None and self._is_own_run(tx, recorded[0].run_id)

    def _is_own_run(self, tx: Transaction, run_id: str) -> bool:
        nodes = tx.episodes.of_run(self._scope.workspace, run_id) if run_id else []
        return bool(nodes) and nodes[0].person == self._scope.person and may_read(self._scope, nodes[0])


def _exemplar(episode: Episode) -> Exemplar:
    verdict = episode.verdict if episode.verdict is Verdict.FAILURE else Verdict.SUCCESS
    return Exemplar(
        episode=episode, verdict=verdict, audience=Audience.PERSONAL, context_score=0.0, intent_score=0.0, relevance=0.0
    )
