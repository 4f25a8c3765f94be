"""From judged lessons to the beliefs in what could be done or said for one goal, and the most influential lessons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from memory.model import Vector
from memory.model.evidence import ActionText, Belief, Evidence, InfluentialLesson, LessonWeight
from memory.ports import ActionFit
from memory.rules.evidence.posterior import (
    EvidenceConfig,
    Observation,
    Posterior,
    Voice,
    description_prior,
    learned_prior,
    posterior,
)
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.retrieval.consensus import ask_for_different_things

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix


ANSWER = "answer"
_NONE = ActionFit(lessons=0.0, cosine=0.0)

SAME_QUESTION = 0.97
"""Cosine from which two goals are one question: of what one person approved for it, the latest counts."""

BELIEFS = 8
"""How many beliefs are handed out, strongest first; behind them those that people spoke against."""
AGAINST = -0.05
"""What the lessons must add to a belief for people to have spoken against it."""
WEIGHTS = 8
"""How many lessons are named for each belief, largest effect first."""

INFLUENTIAL = 0.063
"""The least a lesson must add to a belief, or take from it, to be worth showing: less than each of two members who
refuse the same takes (0.07)."""


class JudgedLesson(NamedTuple):
    """One lesson as the rule looks at it."""

    id: str
    goal: str
    vector: Vector
    """The goal's embedding, of unit length."""
    action: str
    """One of the actions, or `answer`."""
    approves: bool
    decided_at: datetime
    text: str = ""
    """The answer, where that is the action."""
    author: str = ""
    """The only person whose verdict it is, or whoever wrote it."""
    is_own: bool = False
    """Whether it is a lesson of the asker's own scope."""
    is_written: bool = False
    """Whether a person wrote down what is right, and did not only judge it."""
    is_trusted: bool = False
    """Whether a teacher, an administrator, or several people who decided together are behind it."""
    is_tapped: bool = False
    """Whether somebody behind it chose it among several."""
    offered: tuple[tuple[str, str], ...] = ()
    """All that was refused, where it is a question that offered nothing right."""
    voices: tuple[Voice, ...] = ()
    """The members behind it, where they are others than the asker and it is not trusted."""

    @property
    def candidates(self) -> tuple[tuple[str, str], ...]:
        """What was approved or refused: actions, each with the text of an answer."""
        return self.offered or ((self.action, self.text),)


def weigh(
    goal: Vector,
    lessons: Sequence[JudgedLesson],
    actions: Sequence[ActionText],
    descriptions: "Matrix",
    config: EvidenceConfig,
    fits: Mapping[str, ActionFit] = MappingProxyType({}),
) -> Evidence:
    """The beliefs in the actions and in the answers of the lessons.

    `goal` has unit length; `descriptions` has a row of unit length for each action. `fits` tells how like the goal
    those are that actions were approved for, in all lessons in reach.
    """
    import numpy as np  # not for those who only import this module

    goals = rows([goal, *(lesson.vector for lesson in lessons)])
    cosines = goals @ goals.T
    kept = _valid_places(lessons, cosines[1:, 1:])
    if len(kept) < len(lessons):
        lessons, chosen = [lessons[n] for n in kept], [0, *(n + 1 for n in kept)]
        goals, cosines = goals[chosen], cosines[np.ix_(chosen, chosen)]
    candidates, columns = _candidates(lessons, actions)
    prior = np.zeros((len(goals), len(candidates)))
    if actions:
        prior[1:, : len(actions)] = description_prior(goals[1:], descriptions, config)
        known = [fits.get(action.name, _NONE) for action in actions]
        lessons_of, cosines_of = np.array([(each.lessons, each.cosine) for each in known]).T
        prior[0, : len(actions)] = learned_prior(descriptions @ goals[0], lessons_of, cosines_of, config).round(9)
    observations = [
        Observation(judged, lesson.approves, _noise_of(lesson, config), lesson.voices)
        for judged, lesson in zip(columns, lessons, strict=True)
    ]
    found = posterior(cosines[0, 1:], cosines[1:, 1:], observations, prior[0], prior[1:], config)
    # Rounded, so that equal beliefs stay in the order of the candidates.
    ranked = np.argsort(-found.values.round(9), kind="stable").tolist()
    is_against = (found.values - prior[0] <= AGAINST).tolist()
    order = [*ranked[:BELIEFS], *[n for n in ranked[BELIEFS:] if is_against[n]]]
    evidence = Evidence(
        beliefs=_beliefs(order, candidates, lessons, found, prior[0]),
        nearest=float(cosines[0, 1:].max(initial=0.0)),
        lessons=len(lessons),
    )
    influential = [
        InfluentialLesson(
            episode_id=lessons[n].id,
            candidate=columns[n][0],
            action=lessons[n].action,
            approves=lessons[n].approves,
            belief=round(float(found.values[columns[n][0]]), 9),
        )
        for n in influential_places(observations, found, is_sure=evidence.is_sure)
        if not lessons[n].offered  # a question of the bot's own is no lesson
    ]
    return replace(evidence, influential=tuple(influential))


def _noise_of(lesson: JudgedLesson, config: EvidenceConfig) -> float:
    """Variance of a lesson's verdict without the biases of its voices."""
    if lesson.is_trusted:
        noise = config.trusted_noise
    elif lesson.is_own and lesson.is_written:
        noise = config.written_noise
    elif lesson.voices:
        noise = config.member_noise / (sum([voice.weight for voice in lesson.voices]) or 1.0)
    else:
        noise = config.member_noise
    return noise * config.tap_noise if lesson.is_tapped else noise


def rows(vectors: Sequence[Vector]) -> "Matrix":
    """Vectors as the rows of a matrix in double precision."""
    import numpy as np

    return np.array(vectors, np.float64)


def _valid_places(lessons: Sequence[JudgedLesson], cosines: "Matrix") -> list[int]:
    """The places of the lessons that no other one for the same question makes void.

    That is what the asker says of the very same thing, and what the same author approved later instead.
    """
    import numpy as np

    alike = cosines >= SAME_QUESTION
    if np.count_nonzero(alike) <= len(lessons):
        return list(range(len(lessons)))
    pairs = np.argwhere(np.triu(alike, 1)).tolist()
    replaced = {old for i, j in pairs for old, new in ((i, j), (j, i)) if _replaces(lessons[new], lessons[old])}
    return [place for place in range(len(lessons)) if place not in replaced]


def _replaces(new: JudgedLesson, old: JudgedLesson) -> bool:
    """Whether one lesson of a question makes another of the same question void."""
    if new.candidates == old.candidates:
        is_meant = new.is_own and not old.is_own and new.approves != old.approves  # for oneself one decides alone
    else:
        is_one_voice = new.author == old.author or (new.is_own and old.is_own)
        is_later = (new.decided_at, new.id) > (old.decided_at, old.id)
        is_meant = is_one_voice and is_later and new.approves and old.approves
    return is_meant and not ask_for_different_things(new.goal, old.goal)


def _candidates(
    lessons: Sequence[JudgedLesson], actions: Sequence[ActionText]
) -> tuple[list[tuple[str, str]], list[tuple[int, ...]]]:
    """The actions, then the answers that differ; and of each lesson, which of them it speaks about."""
    candidates = [(action.name, "") for action in actions]
    known = {candidate: column for column, candidate in enumerate(candidates)}
    answers: dict[int, list[tuple[AnswerWords, int]]] = {}

    def column_of(judged: tuple[str, str]) -> int:
        column = known.get(judged)
        if column is not None:
            return column
        words = AnswerWords.of(judged[1])
        alike = answers.setdefault(words.exact, [])
        for other, column in alike:
            if words.says_the_same_as(other):
                known[judged] = column
                return column
        known[judged] = column = len(candidates)
        candidates.append(judged)
        alike.append((words, column))
        return column

    places = [
        tuple(dict.fromkeys(map(column_of, lesson.offered)))
        if lesson.offered
        else (column_of((lesson.action, lesson.text)),)
        for lesson in lessons
    ]
    return candidates, places


def _beliefs(
    order: Sequence[int],
    candidates: Sequence[tuple[str, str]],
    lessons: Sequence[JudgedLesson],
    found: Posterior,
    prior: "Matrix",
) -> tuple[Belief, ...]:
    """The beliefs in these candidates, each with the lessons that have the largest effects on it."""
    import numpy as np

    effects = found.effects[:, order]
    largest = np.argsort(-np.abs(effects), axis=0, kind="stable")[:WEIGHTS]
    of_largest = effects[largest, np.arange(len(order))]
    weights = found.weights[largest]
    columns = zip(
        order,
        found.values[order].tolist(),
        prior[order].tolist(),
        zip(largest.T.tolist(), weights.T.tolist(), of_largest.T.tolist(), strict=True),
        strict=True,
    )
    beliefs: list[Belief] = []
    whose = {row: lessons[row] for row in set(largest.ravel().tolist())}
    for column, value, before, named in columns:
        action, text = candidates[column]
        of_lessons = [
            LessonWeight((lesson := whose[row]).id, lesson.goal, lesson.author, lesson.approves, weight, effect)
            for row, weight, effect in zip(*named, strict=True)
            if effect
        ]
        beliefs.append(Belief(action=action, text=text, value=round(value, 9), prior=before, weights=tuple(of_lessons)))
    return tuple(beliefs)


def influential_places(observations: Sequence[Observation], found: Posterior, *, is_sure: bool) -> list[int]:
    """The places of the lessons that may be shown, largest effect first.

    Only if all lessons about its candidate together say what it says: an approval that the others outweigh is not shown
    as right, a refusal that they outweigh not as wrong. Nor is a refusal of the best candidate, if that `is_sure`,
    whatever made it so.
    """
    import numpy as np

    if not observations:
        return []
    columns = np.array([each.candidates[0] for each in observations])
    signs = np.where([each.approves for each in observations], 1, -1)
    own = found.effects[np.arange(len(columns)), columns]
    together = np.bincount(columns, own, minlength=len(found.values))[columns]
    is_true = (signs * own >= INFLUENTIAL) & (signs * together > 0)
    may_be_wrong = np.ones(len(columns), bool) if not is_sure else columns != found.values.argmax()
    is_true &= np.where(signs > 0, found.values[columns] > 0, may_be_wrong)
    return [place for place in np.argsort(-np.abs(own).round(9), kind="stable").tolist() if is_true[place]]


def most_influential(influential: Sequence[InfluentialLesson], most: int) -> list[InfluentialLesson]:
    """At most so many of different candidates, best first: from two on of both signs, where there are both."""
    first: dict[int, InfluentialLesson] = {}
    for lesson in influential:
        first.setdefault(lesson.candidate, lesson)
    chosen = list(first.values())[:most]
    other = next((each for each in first.values() if chosen and each.approves != chosen[0].approves), None)
    if other is not None and most >= 2 and other not in chosen and len({each.approves for each in chosen}) == 1:
        chosen[-1] = other
    return chosen


def may_be_shown(influential: InfluentialLesson, evidence: Evidence, *, is_decided: bool) -> bool:
    """Whether it was decided; or is proposed, and for what the evidence is sure of, which may be followed then."""
    is_best = influential.approves and evidence.is_sure and influential.belief == evidence.beliefs[0].value
    return is_decided or is_best
