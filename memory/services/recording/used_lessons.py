"""The lessons that a run was shown, and those that its answer used."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.errors import NotFound
from memory.model import (
    Episode,
    Event,
    EventKind,
    Exemplar,
    LinkKind,
    Origin,
    Recollection,
    Retrieval,
    RetrievalItem,
    Signal,
)
from memory.ports import LessonUse, Transaction
from memory.rules.audience import is_only_proposed
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.use_detection import DetectedSignal, OverlapDetector
from memory.services.core import event
from memory.services.recording.finished_run import FinishedRun, note_lessons_in
from memory.services.verdicts.model_grading import guess_of
from memory.services.verdicts.quarantine import SYSTEM

_MOST_FOLLOWED = 3
"""The most lessons that an answer names as sources without having been shown them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonInPrompt:
    """A lesson in a node's prompt, and whether the node's answer used it."""

    retrieval_id: str
    rank: int
    """From 1, best first."""
    exemplar: Exemplar
    detected: DetectedSignal

    @property
    def source(self) -> str:
        """The common part of its events' source ids, by which repeated events are ignored."""
        return f"{self.retrieval_id}/{self.exemplar.episode.id}"

    def events(self, run_id: str, now: datetime) -> list[Event]:
        """The events that it was shown, and whether it was used."""
        lesson, found = self.exemplar.episode, self.detected
        shown_detail = {"audience": self.exemplar.audience.value}
        use_detail = {"ratio": round(found.ratio, 4), "run": run_id}
        kind = EventKind(found.signal.value)
        return [
            event(lesson, EventKind.INJECTED, SYSTEM, now, source=f"injected/{self.source}", detail=shown_detail),
            event(lesson, kind, SYSTEM, now, source=f"use/{self.source}", detail=use_detail),
        ]

    def use(self, now: datetime) -> LessonUse:
        """The use to be counted for the lesson."""
        lesson = self.exemplar.episode
        return LessonUse(
            workspace=lesson.workspace,
            episode_id=lesson.id,
            goal=lesson.goal,
            signal=self.detected.signal,
            at=now,
        )

    def item(self) -> RetrievalItem:
        """The lesson's item in the record of the recall."""
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
            signal=self.detected.signal,
            ratio=self.detected.ratio,
        )


def lessons_shown(detector: OverlapDetector, run: FinishedRun) -> list[LessonInPrompt]:
    """The lessons in the prompts of the run's nodes, each with the signal of its use. Pure."""
    nodes = {node.node_path: node for node in run.nodes}
    found: list[LessonInPrompt] = []
    for recall in run.recalls:
        node = nodes.get(recall.node_path)
        if node is None or not recall.shown_ids:
            continue
        ranked = [
            (rank, exemplar)
            for rank, exemplar in enumerate(recall.exemplars, start=1)
            if exemplar.episode.id in recall.shown_ids
        ]
        signals = detector.detect_all([each for _, each in ranked], node.goal, node.output, node.action)
        found += [
            LessonInPrompt(retrieval_id=recall.retrieval_id, rank=rank, exemplar=exemplar, detected=detected)
            for (rank, exemplar), detected in zip(ranked, signals, strict=True)
        ]
    return found


def append_with_uses(
    tx: Transaction, run: FinishedRun, events: Sequence[Event], shown: Sequence[LessonInPrompt], now: datetime
) -> None:
    """Append a run's events and those of its shown lessons and rules, and count how the lessons were used.

    Raises `NotFound` if a lesson that it was shown is erased.
    """
    of_lessons = [event for each in shown for event in each.events(run.run_id, now)]
    sources = {each.source_event_id for each in tx.log.append(*events, *of_lessons, *_rules_shown(run, now))}
    uses = [each.use(now) for each in shown if f"injected/{each.source}" in sources]
    counted = {use.episode_id for use in uses}
    if not tx.retrievals.use(uses) or not _are_there(tx, run.workspace, run.recalls, counted):
        raise NotFound(f"what answer {run.run_id} in {run.workspace} was shown is erased; work it out once more")


def _rules_shown(run: FinishedRun, now: datetime) -> list[Event]:
    """Events for the rules in the nodes' prompts, with the ids of the rules and their lessons."""
    nodes = {node.node_path: node for node in run.nodes}
    return [
        event(
            nodes[recall.node_path],
            EventKind.RULE_SHOWN,
            SYSTEM,
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


def _are_there(tx: Transaction, workspace: str, recalls: Iterable[Recollection], known: Collection[str]) -> bool:
    """Whether all lessons shown to a run, also in rules, exist with the same goals; `known` ones are not checked."""
    shown: dict[str, str] = {}
    for recall in recalls:
        exemplars = (exemplar.episode for exemplar in recall.exemplars)
        shown |= {each.id: each.goal for each in exemplars if each.id in recall.shown_ids}
        for rule in recall.rules:
            shown |= zip(rule.lesson_ids, rule.goals, strict=True)
    others = {each: goal for each, goal in shown.items() if each not in known}
    lessons = tx.episodes.get_many(workspace, others)
    return all(each in lessons and lessons[each].goal == goal for each, goal in others.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLesson:
    """A lesson that an answer rests on."""

    episode: Episode
    relevance: float | None
    """None if it was not shown, and the answer repeats its text because of the evidence."""
    is_guess: bool = False
    """Whether only a model judged it."""
    is_proposed: bool = False
    """Whether people of the channel only proposed it."""


def used_of(run: FinishedRun, shown: Sequence[LessonInPrompt]) -> tuple[UsedLesson, ...]:
    """The lessons that a run used, before it is committed, most relevant first."""
    used = [
        UsedLesson(
            episode=each.exemplar.episode,
            relevance=each.exemplar.relevance,
            is_guess=each.exemplar.is_guess,
            is_proposed=each.exemplar.is_proposed,
        )
        for each in shown
        if each.detected.signal is Signal.USED
    ]
    return _once(used, [pair for recall in run.recalls for pair in recall.corrections])


def used_in(tx: Transaction, workspace: str, run_id: str) -> tuple[UsedLesson, ...]:
    """The lessons that a committed run used, as they are now, most relevant first."""
    recalls = tx.retrievals.of_run(workspace, run_id)
    used = [item for _, items in recalls for item in items if item.signal is Signal.USED]
    if not used:
        return _followed_in(tx, workspace, run_id, [recall for recall, _ in recalls])
    scope = next((node.scope for node in tx.episodes.of_run(workspace, run_id)), None)
    episodes = tx.episodes.get_many(workspace, {item.episode_id for item in used})
    grades = tx.steps.grades(workspace, [each.id for each in episodes.values() if not each.verdict.is_validated])
    lessons = [
        UsedLesson(
            episode=episodes[item.episode_id],
            relevance=item.relevance,
            is_guess=guess_of(grades.get(item.episode_id, ())) is not None,
            is_proposed=is_only_proposed(episodes[item.episode_id], scope),
        )
        for item in used
        if item.episode_id in episodes
    ]
    corrections: list[tuple[str, str]] = []
    if len(episodes) > 1 and any(each.origin is Origin.CORRECTION for each in episodes.values()):
        links = tx.episodes.links(workspace, episodes, LinkKind.CORRECTS)
        corrections = [(link.from_id, link.to_id) for link in links]
    return _once(lessons, corrections)


def note_followed(
    tx: Transaction, run: FinishedRun, nodes: Iterable[Episode], shown: Iterable[LessonInPrompt]
) -> tuple[UsedLesson, ...]:
    """Note whose words are in an answer that repeats a candidate of the evidence without having used its lessons.

    Returns the lessons that it repeats. Raises `NotFound` if a lesson of the candidate is erased.
    """
    followed: list[UsedLesson] = []
    used = {each.exemplar.episode.id for each in shown if each.detected.signal is Signal.USED}
    evidence = {recall.node_path: recall.evidence for recall in run.recalls}
    for node in nodes:
        known = evidence.get(node.node_path)
        for belief in known.beliefs if known is not None and node.action == ANSWER else ():
            if belief.text and belief.text == node.output and not used.intersection(belief.sources):
                known_lessons = note_lessons_in(tx, node, belief.sources)
                speak_for_it = [each.episode_id for each in belief.weights if each.approves and each.effect > 0]
                followed += _followed(node, [known_lessons[each] for each in speak_for_it if each in known_lessons])
    return tuple(followed)


def _followed(node: Episode, lessons: Iterable[Episode]) -> list[UsedLesson]:
    """The lessons with the same text as the node's answer, at most `_MOST_FOLLOWED`."""
    same = [each for each in lessons if each.output == node.output]
    return [
        UsedLesson(episode=each, relevance=None, is_proposed=is_only_proposed(each, node.scope))
        for each in same[:_MOST_FOLLOWED]
    ]


def _followed_in(tx: Transaction, workspace: str, run_id: str, recalls: Iterable[Retrieval]) -> tuple[UsedLesson, ...]:
    """The lessons that `note_followed` found when the run was committed."""
    nodes = {node.node_path: node for node in tx.episodes.of_run(workspace, run_id) if node.action == ANSWER}
    weights = [
        (nodes[recall.node_path], [each.episode_id for each in belief.weights if each.approves and each.effect > 0])
        for recall in recalls
        if recall.evidence is not None and recall.node_path in nodes
        for belief in recall.evidence.beliefs
        if belief.action == ANSWER
    ]
    known = tx.episodes.get_many(workspace, {name for _, names in weights for name in names}) if weights else {}
    return tuple(
        lesson
        for node, names in weights
        for lesson in _followed(node, [known[name] for name in names if name in known])
    )


def _once(used: Sequence[UsedLesson], corrections: Iterable[tuple[str, str]]) -> tuple[UsedLesson, ...]:
    """Each lesson once, most relevant first, without mistakes whose correction was used, too."""
    best: dict[str, UsedLesson] = {}
    for lesson in used:
        known = best.get(lesson.episode.id)
        if known is None or _relevance(lesson) > _relevance(known):
            best[lesson.episode.id] = lesson
    corrected = {mistake for correction, mistake in corrections if correction in best}
    named = (lesson for lesson in best.values() if lesson.episode.id not in corrected)
    return tuple(sorted(named, key=lambda lesson: (-_relevance(lesson), lesson.episode.id)))


def _relevance(lesson: UsedLesson) -> float:
    return lesson.relevance or 0.0
