"""A finished run that is to be committed: its nodes as stored, and which shown lessons were used."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce

from memory.errors import NotFound
from memory.model import (
    Allowed,
    Episode,
    Event,
    EventKind,
    Exemplar,
    Link,
    LinkKind,
    Origin,
    Recollection,
    Retrieval,
    RetrievalItem,
    Signal,
    Tap,
    Usage,
)
from memory.model.evidence import EvidenceRecord
from memory.ports import LessonUse, Store, Transaction
from memory.rules.audience import is_only_proposed
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.evidence.threshold import is_followed
from memory.rules.fold import apply, facts
from memory.rules.quarantine import flags_of
from memory.rules.use_detection import DetectedSignal, OverlapDetector
from memory.services.core import event, note_words_of
from memory.services.recording.said_before import SaidBefore, note_people_in
from memory.services.verdicts.model_grading import guess_of
from memory.services.verdicts.quarantine import SYSTEM

_MOST_FOLLOWED = 3
"""The most lessons that an answer names as sources without having been shown them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """An answer with all data of its run, to be committed in one transaction."""

    workspace: str
    run_id: str
    event_id: str
    """The event id of the answered message; empty if there is none, as for a run of a library."""
    question: str = ""
    """The text of the message that was answered. If it is empty, edits of the message are not checked."""
    nodes: Sequence[Episode] = ()
    recalls: Sequence[Recollection] = ()
    parts: Sequence[str]
    """The texts to post, in order."""
    channel: str = ""
    """The channel in which they are posted."""
    thread: str = ""
    embedding_model: str = ""
    asked_by: str = ""
    """The author of the question, if another person asked it again (`Incoming.asked_by`)."""
    tap: Tap | None = None
    """The choice it answers (`Incoming.tap`)."""
    understood: str = ""
    """The message's meaning in its conversation, if that is more than its text."""
    words_of: frozenset[str] = frozenset()
    """Other people whose words are in `understood`."""
    said_before: tuple[SaidBefore, ...] = ()
    """The conversation before, as far as its model read it and it is not the asker's."""
    usage: Usage = field(default_factory=Usage)
    """The usage of its models, for the caps."""
    prompts: str = ""
    """Identifies the version of the prompts."""
    allowed: tuple[Allowed, ...] = ()
    """The tools with effects that ran, with their permissions."""


def as_made(run: FinishedRun) -> tuple[list[Episode], list[Event]]:
    """The nodes as they are stored, those with flagged texts in quarantine, and the events of all nodes."""
    came_by = {name: value for name, value in (("event", run.event_id), ("prompts", run.prompts)) if value}
    nodes: list[Episode] = []
    events: list[Event] = []
    for node in map(facts, run.nodes):
        made = [event(node, EventKind.CREATED, node.author, node.created_at, detail=came_by)]
        if flags := flags_of(node):
            detail = {"flags": [flag.value for flag in flags]}
            made.append(event(node, EventKind.QUARANTINED, SYSTEM, node.created_at, detail=detail))
        made += [_allowed_event(node, each) for each in run.allowed if each.node_id == node.id]
        nodes.append(reduce(apply, made, node))
        events += made
    return nodes, events


def _allowed_event(node: Episode, allowed: Allowed) -> Event:
    permission = allowed.permission
    detail = {"tool": allowed.tool, "grant": permission.grant.value, "basis": permission.basis}
    return event(node, EventKind.ALLOWED, permission.by, node.created_at, detail=detail)


def attach(tx: Transaction, run: FinishedRun, nodes: Sequence[Episode]) -> None:
    """Store the vectors of the nodes' goals, whose words they have, and links. `NotFound` if such words are erased."""
    vectors = {recall.node_path: recall.vector for recall in run.recalls}
    known = {node.id: vector for node in nodes if (vector := vectors.get(node.node_path)) is not None}
    tx.episodes.add_vectors(run.workspace, run.embedding_model, known)
    others = sorted(run.words_of | ({run.asked_by} if run.asked_by else set()))
    tx.episodes.note_words(run.workspace, {node.id: others for node in nodes})
    if run.said_before:
        note_people_in(tx, nodes, run.said_before)
    tx.episodes.add_link(
        *(
            Link(
                workspace=node.workspace,
                from_id=node.id,
                to_id=node.parent_id,
                kind=LinkKind.SUBGOAL_OF,
                at=node.created_at,
            )
            for node in nodes
            if node.parent_id
        )
    )


def note_lessons_in(tx: Transaction, node: Episode, lessons: Collection[str]) -> dict[str, Episode]:
    """Note whose words are in a node that repeats these lessons. Returns the lessons by id.

    Raises `NotFound` if one of them is erased.
    """
    known = tx.episodes.get_many(node.workspace, lessons)
    if len(known) < len(set(lessons)):
        raise NotFound(f"what {node.run_id} in {node.workspace} repeats is erased; work it out once more")
    words = tx.episodes.words_of_others(node.workspace, lessons)
    people = {each.author for each in known.values()} | {name for names in words.values() for name in names}
    note_words_of(tx, node, people)
    return known


def note_followed(
    tx: Transaction, run: FinishedRun, nodes: Iterable[Episode], shown: Iterable["LessonInPrompt"]
) -> tuple["UsedLesson", ...]:
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


def _followed(node: Episode, lessons: Iterable[Episode]) -> list["UsedLesson"]:
    """The lessons with the same text as the node's answer, at most `_MOST_FOLLOWED`."""
    same = [each for each in lessons if each.output == node.output]
    return [
        UsedLesson(episode=each, relevance=None, is_proposed=is_only_proposed(each, node.scope))
        for each in same[:_MOST_FOLLOWED]
    ]


def retrievals_of(store: Store, run: FinishedRun, now: datetime) -> list[Retrieval]:
    """The records of the run's recalls, with those of their evidence, whose beliefs are computed now.

    If the run carries out an option, actions that were not in the evidence of the question are left out, as they were
    not possible then.
    """
    asked: dict[str, EvidenceRecord] = {}
    if run.tap is not None:
        with store.read() as tx:
            before = tx.retrievals.of_run(run.workspace, run.tap.run_id)
        asked = {each.goal: each.evidence for each, _ in before if each.evidence is not None}
    return [
        Retrieval(
            workspace=run.workspace,
            id=recall.retrieval_id,
            run_id=run.run_id,
            node_path=recall.node_path,
            goal=recall.goal,
            at=now,
            counts=recall.counts.as_dict(),
            evidence=_evidence(run, recall, asked.get(recall.goal)),
            is_control=recall.is_control,
        )
        for recall in run.recalls
    ]


def _evidence(run: FinishedRun, recall: Recollection, asked: EvidenceRecord | None) -> EvidenceRecord | None:
    evidence = recall.evidence
    if evidence is None:
        return None
    if asked is not None:
        possible = {ANSWER, *(each.action for each in asked.beliefs)}
        evidence = evidence.without({each.action for each in evidence.beliefs} - possible)
    made_by = (node for node in run.nodes if node.node_path == recall.node_path)
    return replace(evidence.record, is_followed=any(is_followed(evidence, node) for node in made_by))


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
        """Its item in the record of the recall."""
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


def rules_shown(run: FinishedRun, now: datetime) -> list[Event]:
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


def still_there(tx: Transaction, workspace: str, recalls: Iterable[Recollection], known: Collection[str]) -> bool:
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
