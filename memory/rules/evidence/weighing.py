"""From judged lessons to the beliefs in what could be done or said for one goal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from memory.model import Vector
from memory.model.evidence import ActionText, Belief, Evidence, LessonWeight
from memory.rules.evidence.answers import AnswerWords
from memory.rules.evidence.posterior import EvidenceConfig, Observation, Posterior, Voice, description_prior, posterior
from memory.rules.retrieval.consensus import ask_for_different_things

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

ANSWER = "answer"

SAME_QUESTION = 0.97
"""Cosine from which two goals are one question: of what one person approved for it, the latest counts."""

BELIEFS = 8
"""How many beliefs are handed out, strongest first; behind them those that people spoke against."""
AGAINST = -0.05
"""What the lessons must add to a belief for people to have spoken against it."""
WEIGHTS = 8
"""How many lessons are named for each belief, largest effect first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLesson:
    """One lesson as the rule looks at it."""

    id: str
    goal: str
    vector: Vector = field(compare=False, repr=False)
    """The goal's embedding, of unit length."""
    action: str
    """One of the actions, or `answer`."""
    text: str = ""
    """The answer, where that is the action."""
    approves: bool
    author: str = ""
    """The only person whose verdict it is, or whoever wrote it."""
    decided_at: datetime
    is_own: bool = False
    """Whether it is a lesson of the asker's own scope."""
    is_trusted: bool = False
    """Whether a teacher, an administrator, or several people who decided together are behind it."""
    voices: tuple[Voice, ...] = ()
    """The members behind it, where they are others than the asker and it is not trusted."""

    @property
    def candidate(self) -> tuple[str, str]:
        """What was approved or refused."""
        return (self.action, self.text)


def weigh(
    goal: Vector,
    lessons: Sequence[JudgedLesson],
    actions: Sequence[ActionText],
    descriptions: "Matrix",
    config: EvidenceConfig,
) -> Evidence:
    """The beliefs in the actions and in the answers of the lessons.

    `goal` has unit length; `descriptions` has a row of unit length for each action.
    """
    import numpy as np  # not for those who only import this module

    goals = rows([goal, *(lesson.vector for lesson in lessons)])
    cosines = goals @ goals.T
    kept = _valid_places(lessons, cosines[1:, 1:])
    lessons, chosen = [lessons[n] for n in kept], [0, *(n + 1 for n in kept)]
    goals, cosines = goals[chosen], cosines[np.ix_(chosen, chosen)]
    candidates, columns = _candidates(lessons, actions)
    prior = np.zeros((len(goals), len(candidates)))
    if actions:
        prior[:, : len(actions)] = description_prior(goals, descriptions, config)
    observations = [
        Observation(
            candidate=column,
            approves=lesson.approves,
            noise=_noise_of(lesson, config),
            voices=lesson.voices,
        )
        for column, lesson in zip(columns, lessons, strict=True)
    ]
    found = posterior(cosines[0, 1:], cosines[1:, 1:], observations, prior[0], prior[1:], config)
    # Rounded, so that equal beliefs stay in the order of the candidates.
    ranked = np.argsort(-found.values.round(9), kind="stable").tolist()
    order = [*ranked[:BELIEFS], *(n for n in ranked[BELIEFS:] if found.values[n] - prior[0, n] <= AGAINST)]
    return Evidence(
        beliefs=tuple(_belief(candidates[n], lessons, found, n, prior=float(prior[0, n])) for n in order),
        nearest=float(cosines[0, 1:].max(initial=0.0)),
        lessons=len(lessons),
    )


def _noise_of(lesson: JudgedLesson, config: EvidenceConfig) -> float:
    """Variance of a lesson's verdict without the biases of its voices."""
    if lesson.is_trusted:
        return config.trusted_noise
    return config.member_noise / (sum(voice.weight for voice in lesson.voices) or 1.0)


def rows(vectors: Sequence[Vector]) -> "Matrix":
    """Vectors as the rows of a matrix in double precision."""
    import numpy as np

    return np.asarray(np.stack(vectors), np.float64)


def _valid_places(lessons: Sequence[JudgedLesson], cosines: "Matrix") -> list[int]:
    """The places of the lessons that no other one for the same question makes void.

    That is what the asker says of the very same thing, and what the same author approved later instead.
    """
    import numpy as np

    pairs = np.argwhere(np.triu(cosines >= SAME_QUESTION, 1)).tolist()
    replaced = {old for i, j in pairs for old, new in ((i, j), (j, i)) if _replaces(lessons[new], lessons[old])}
    return [place for place in range(len(lessons)) if place not in replaced]


def _replaces(new: JudgedLesson, old: JudgedLesson) -> bool:
    """Whether one lesson of a question makes another of the same question void."""
    if new.candidate == old.candidate:
        is_meant = new.is_own and not old.is_own and new.approves != old.approves  # for oneself one decides alone
    else:
        is_one_voice = new.author == old.author or (new.is_own and old.is_own)
        is_later = (new.decided_at, new.id) > (old.decided_at, old.id)
        is_meant = is_one_voice and is_later and new.approves and old.approves
    return is_meant and not ask_for_different_things(new.goal, old.goal)


def _candidates(
    lessons: Sequence[JudgedLesson], actions: Sequence[ActionText]
) -> tuple[list[tuple[str, str]], list[int]]:
    """The actions, then the answers that differ; and of each lesson, which of them it speaks about."""
    candidates = [(action.name, "") for action in actions]
    known = {candidate: column for column, candidate in enumerate(candidates)}
    answers: list[tuple[AnswerWords, int]] = []
    for lesson in lessons:
        if lesson.candidate in known:
            continue
        words = AnswerWords.of(lesson.text)
        column = next((column for other, column in answers if words.says_the_same_as(other)), len(candidates))
        if column == len(candidates):
            candidates.append(lesson.candidate)
            answers.append((words, column))
        known[lesson.candidate] = column
    return candidates, [known[lesson.candidate] for lesson in lessons]


def _belief(
    candidate: tuple[str, str], lessons: Sequence[JudgedLesson], found: Posterior, column: int, *, prior: float
) -> Belief:
    import numpy as np

    effects = found.effects[:, column]
    largest = np.argsort(-np.abs(effects), kind="stable")[:WEIGHTS].tolist()
    return Belief(
        action=candidate[0],
        text=candidate[1],
        value=round(float(found.values[column]), 9),
        prior=prior,
        weights=tuple(
            LessonWeight(
                episode_id=lessons[row].id,
                goal=lessons[row].goal,
                author=lessons[row].author,
                approves=lessons[row].approves,
                weight=float(found.weights[row]),
                effect=float(effects[row]),
            )
            for row in largest
            if effects[row] != 0
        ),
    )
