"""Which injected memories an answer used: detect, keep, and look up (seed 002, `RetrievalFeedbackSignal`)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.episodic import EpisodicMemory
from memory.feedback import Detector, KeywordDetector
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalFeedback:
    """One finding about one injected episode."""

    episode_id: str
    signal: Signal
    context: str
    at: datetime


class RetrievalFeedbackSignal:
    """Detects what was used, records it once per retrieval and episode, and nudges strength within bounds."""

    def __init__(self, episodic: EpisodicMemory, detector: Detector | None = None) -> None:
        self._memory = episodic.memory
        self._scope = episodic.scope
        self._detector = detector or KeywordDetector()

    def detect(
        self, injected: Sequence[Episode], response: str, context: str = "", *, retrieval_id: str = ""
    ) -> list[RetrievalFeedback]:
        """One finding per injected episode that exists, each once, in order.

        A `retrieval_id` makes the call safe to repeat: a second one with the same id records nothing new. Episodes
        that are unknown (forgotten meanwhile) are skipped and never cost the others their findings.
        """
        workspace, now = self._scope.workspace, self._memory.clock()
        retrieval = retrieval_id or self._memory.new_id()
        found: list[RetrievalFeedback] = []
        items: list[RetrievalItem] = []
        with self._memory.store.write() as tx:
            for rank, memory in enumerate({each.id: each for each in injected}.values(), start=1):
                episode = tx.episodes.get(workspace, memory.id)
                if episode is None:
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
        return found

    def get_history(self, episode_id: str, limit: int = 100) -> list[RetrievalFeedback]:
        """What was found about an episode, newest first."""
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
        return history[: max(0, limit)]

    def get_stats(self, episode_id: str) -> dict[str, int]:
        """How often each signal was found; an unknown episode has none."""
        counts = Counter(finding.signal.value for finding in self.get_history(episode_id, limit=1_000_000))
        return {signal.value: counts[signal.value] for signal in Signal}


def _exemplar(episode: Episode) -> Exemplar:
    verdict = episode.verdict if episode.verdict is Verdict.FAILURE else Verdict.SUCCESS
    return Exemplar(
        episode=episode, verdict=verdict, audience=Audience.PERSONAL, context_score=0.0, intent_score=0.0, relevance=0.0
    )
