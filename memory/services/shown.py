"""What the nodes of a run were shown: how each lesson fared in the answer, and whether all of it still stands."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from memory.model import Event, EventKind, Exemplar, Recollection, RetrievalItem
from memory.ports import LessonUse, Transaction
from memory.rules.feedback import Evidence, OverlapDetector
from memory.services.core import event
from memory.services.finished_run import FinishedRun

ACTOR = "goodbot"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLesson:
    """A lesson in a node's prompt, and how it fared in what the node answered."""

    retrieval_id: str
    rank: int
    """From 1, best first."""
    exemplar: Exemplar
    evidence: Evidence

    @property
    def source(self) -> str:
        """What the events about it have in common: a repeated one changes nothing."""
        return f"{self.retrieval_id}/{self.exemplar.episode.id}"

    def events(self, run_id: str, now: datetime) -> list[Event]:
        """That it was shown, and how it fared."""
        lesson, found = self.exemplar.episode, self.evidence
        reached = {"audience": self.exemplar.audience.value}
        fared = {"ratio": round(found.ratio, 4), "run": run_id}
        kind = EventKind(found.signal.value)
        return [
            event(lesson, EventKind.INJECTED, ACTOR, now, source=f"injected/{self.source}", detail=reached),
            event(lesson, kind, ACTOR, now, source=f"use/{self.source}", detail=fared),
        ]

    def use(self, now: datetime) -> LessonUse:
        """What that does to the lesson."""
        lesson = self.exemplar.episode
        return LessonUse(
            workspace=lesson.workspace,
            episode_id=lesson.id,
            goal=lesson.goal,
            signal=self.evidence.signal,
            at=now,
        )

    def item(self) -> RetrievalItem:
        """Its place in the record of the recall."""
        exemplar = self.exemplar
        return RetrievalItem(
            workspace=exemplar.episode.workspace,
            retrieval_id=self.retrieval_id,
            rank=self.rank,
            episode_id=exemplar.episode.id,
            lesson=exemplar.lesson,
            context_score=exemplar.context_score,
            intent_score=exemplar.intent_score,
            relevance=exemplar.relevance,
            signal=self.evidence.signal,
            ratio=self.evidence.ratio,
        )


def lessons_shown(detector: OverlapDetector, run: FinishedRun) -> list[ShownLesson]:
    """The lessons that the run's nodes were shown, each judged by what its node answered. Pure."""
    nodes = {node.node_path: node for node in run.nodes}
    found: list[ShownLesson] = []
    for recall in run.recalls:
        node = nodes.get(recall.node_path)
        if node is None:
            continue
        ranked = [
            (rank, exemplar)
            for rank, exemplar in enumerate(recall.exemplars, start=1)
            if exemplar.episode.id in recall.shown_ids
        ]
        evidence = detector.detect_all([each for _, each in ranked], node.goal, node.output, node.action)
        found += [
            ShownLesson(retrieval_id=recall.retrieval_id, rank=rank, exemplar=exemplar, evidence=fared)
            for (rank, exemplar), fared in zip(ranked, evidence, strict=True)
        ]
    return found


def rules_shown(run: FinishedRun, now: datetime) -> list[Event]:
    """Which rules were in the nodes' prompts: their ids and those of the lessons each was made of."""
    nodes = {node.node_path: node for node in run.nodes}
    return [
        event(
            nodes[recall.node_path],
            EventKind.RULE_SHOWN,
            ACTOR,
            now,
            source=f"rule/{recall.retrieval_id}/{rule.rule_id}",
            detail={
                "retrieval": recall.retrieval_id,
                "rule": rule.rule_id,
                "lessons": list(rule.lesson_ids),
            },
        )
        for recall in run.recalls
        if recall.node_path in nodes
        for rule in recall.rules
    ]


def still_there(tx: Transaction, workspace: str, recalls: Iterable[Recollection], known: Collection[str]) -> bool:
    """Whether the lessons a run was shown, also as part of a rule, have their questions still. Not of those `known`."""
    shown: dict[str, str] = {}
    for recall in recalls:
        exemplars = (exemplar.episode for exemplar in recall.exemplars)
        shown |= {each.id: each.goal for each in exemplars if each.id in recall.shown_ids}
        for rule in recall.rules:
            shown |= zip(rule.lesson_ids, rule.goals, strict=True)
    others = {each: goal for each, goal in shown.items() if each not in known}
    lessons = tx.episodes.get_many(workspace, others)
    return all(each in lessons and lessons[each].goal == goal for each, goal in others.items())
