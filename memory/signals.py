"""Which injected memories an answer used: detect, keep, and look up (seed 002, `RetrievalFeedbackSignal`)."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.episodic import EpisodicMemory
from memory.feedback import Detector, OverlapDetector, Similarity, SimilarityDetector
from memory.model import (
    Audience,
    Episode,
    EventKind,
    Exemplar,
    Retrieval,
    RetrievalItem,
    Signal,
    Verdict,
)
from memory.service.core import event, record

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalFeedback:
    """One finding about one injected episode."""

    episode_id: str
    signal: Signal
    context: str
    at: datetime


class Findings(list[RetrievalFeedback]):
    """The findings of one call, in the order of what was injected."""

    def __init__(self, findings: Sequence[RetrievalFeedback] = (), *, skipped: Sequence[str] = ()) -> None:
        super().__init__(findings)
        self.skipped = tuple(skipped)
        """Ids of injected episodes that the memory does not know."""


class RetrievalFeedbackSignal:
    """Detects what was used, records it once per retrieval and episode, and nudges strength within bounds.

    `similarity` is a second opinion by meaning: what shares no word with a lesson may say the same. The detector is
    the bot's own unless another is given; the seed's is `KeywordDetector`.
    """

    def __init__(
        self, episodic: EpisodicMemory, detector: Detector | None = None, *, similarity: Similarity | None = None
    ) -> None:
        self._memory = episodic.memory
        self._scope = episodic.scope
        inner = detector or OverlapDetector()
        self._detector = inner if similarity is None else SimilarityDetector(detector=inner, similarity=similarity)

    def detect(
        self, injected: Sequence[Episode], response: str, context: str = "", *, retrieval_id: str = ""
    ) -> Findings:
        """One finding per injected episode that exists, each once, in order.

        A `retrieval_id` makes the call safe to repeat: a second one with the same id records nothing new. Episodes
        that are unknown (forgotten meanwhile) are skipped and reported, and never cost the others their findings.
        `context` is the question that was answered: its own words are no evidence of use.
        """
        workspace, now = self._scope.workspace, self._memory.clock()
        retrieval = retrieval_id or self._memory.new_id()
        found: list[RetrievalFeedback] = []
        items: list[RetrievalItem] = []
        skipped: list[str] = []
        with self._memory.store.write() as tx:
            for rank, memory in enumerate({each.id: each for each in injected}.values(), start=1):
                episode = tx.episodes.get(workspace, memory.id)
                if episode is None:
                    skipped.append(memory.id)
                    continue
                exemplar = _exemplar(memory)
                evidence = self._detector.detect(exemplar, context, response)
                kind = EventKind(evidence.signal.value)
                detail = {"ratio": round(evidence.ratio, 4), "context": context}
                source = f"use/{retrieval}/{episode.id}"
                record(tx, episode, event(episode, kind, "detector", now, source=source, detail=detail))
                found.append(RetrievalFeedback(episode_id=episode.id, signal=evidence.signal, context=context, at=now))
                items.append(
                    RetrievalItem(
                        workspace=workspace,
                        retrieval_id=retrieval,
                        rank=rank,
                        episode_id=episode.id,
                        lesson=exemplar.lesson,
                        context_score=0.0,
                        intent_score=0.0,
                        relevance=0.0,
                        signal=evidence.signal,
                        ratio=evidence.ratio,
                    )
                )
            tx.retrievals.put(
                Retrieval(workspace=workspace, id=retrieval, run_id="", node_path="", goal="", at=now), items
            )
        if skipped:
            log.warning("no feedback for episodes that %s does not know: %s", workspace, ", ".join(skipped))
        return Findings(found, skipped=skipped)

    def get_history(self, episode_id: str, limit: int = 100) -> list[RetrievalFeedback]:
        """What was found about an episode, newest first. A negative limit means all of it, as in the seed."""
        with self._memory.store.read() as tx:
            events = tx.log.of_episode(self._scope.workspace, episode_id)
        signals = {signal.value: signal for signal in Signal}
        history = [
            RetrievalFeedback(
                episode_id=episode_id,
                signal=signals[entry.kind.value],
                context=str(entry.detail.get("context", "")),
                at=entry.at,
            )
            for entry in reversed(events)
            if entry.kind.value in signals
        ]
        return history if limit < 0 else history[:limit]

    def get_stats(self, episode_id: str) -> dict[str, int]:
        """How often each signal was found; an unknown episode has none."""
        counts = Counter(finding.signal.value for finding in self.get_history(episode_id, limit=-1))
        return {signal.value: counts[signal.value] for signal in Signal}


def _exemplar(episode: Episode) -> Exemplar:
    verdict = episode.verdict if episode.verdict is Verdict.FAILURE else Verdict.SUCCESS
    return Exemplar(
        episode=episode, verdict=verdict, audience=Audience.PERSONAL, context_score=0.0, intent_score=0.0, relevance=0.0
    )
