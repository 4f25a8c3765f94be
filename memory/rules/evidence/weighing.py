"""Computes from judged lessons the beliefs in candidates for a goal, and the most influential lessons."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from memory.model import Episode, Vector
from memory.model.evidence import (
    INITIAL_THRESHOLD,
    ActionText,
    Belief,
    Evidence,
    InfluentialLesson,
    LessonWeight,
    UnreadBeliefs,
    best_and_rival,
    is_sure,
)
from memory.ports import ActionFit
from memory.rules.evidence.judged_lesson import ANSWER, Candidate, JudgedLesson, refused_places, replaced_places
from memory.rules.evidence.posterior import EvidenceConfig, Posterior, action_prior, learned_fits, posterior
from memory.rules.evidence.voices import NoisyVerdict

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix


_NONE = ActionFit(lessons=0.0, cosine=0.0)

SAME_QUESTION = 0.97
"""The least cosine at which two goals are the same question, for which a person's latest approval counts."""
SAME_WORDS = 0.999
"""The least cosine at which two goals have the same words, up to the rounding of stored embeddings."""

BELIEFS = 8
"""How many of the strongest beliefs are returned. Further ones follow if they are among as many most suggested ones, or
if lessons speak against them."""
AGAINST = -0.05
"""Lessons speak against a candidate if they change its belief by this or less."""
WEIGHTS = 8
"""How many lessons are listed for each belief, largest effect first."""

INFLUENTIAL = 0.063
"""The least absolute effect on a belief of a lesson that may be shown; each of two members who refuse the same has
0.07."""


def weigh(
    goal: Vector,
    lessons: Sequence[JudgedLesson],
    vectors: "Sequence[Vector] | Matrix",
    actions: Sequence[ActionText],
    descriptions: "Matrix",
    config: EvidenceConfig,
    fits: Mapping[str, ActionFit] = MappingProxyType({}),
    *,
    threshold: float = INITIAL_THRESHOLD,
) -> Evidence:
    """The beliefs in the actions and the lessons' answers, with the most influential lessons.

    `vectors` are the embeddings of the lessons' goals, and `descriptions` has one row for each action; all vectors have
    unit length. `fits` has, by action, the number of approving lessons in reach and their mean cosine with the goal.
    """
    import numpy as np  # slow to import

    goals = np.empty((1 + len(lessons), len(goal)))
    goals[0] = goal
    if lessons:
        goals[1:] = vectors
    cosines = goals @ goals.T
    kept = _valid_places(lessons, cosines)
    if len(kept) < len(lessons):
        lessons, chosen = [lessons[n] for n in kept], [0, *(n + 1 for n in kept)]
        goals, cosines = goals[chosen], cosines[np.ix_(chosen, chosen)]
    candidates, judged = _in_columns([lesson.candidates for lesson in lessons], actions)
    prior = np.zeros((len(goals), len(candidates)))
    if actions:
        described = goals @ descriptions.T
        prior[:, : len(actions)] = _prior(described, actions, lessons, judged, fits, cosines, config)
        prior[0] = prior[0].round(9)
    observations = [lesson.observation for lesson in lessons]
    found = posterior(cosines, observations, judged, prior, config)
    beliefs = UnreadBeliefs(_strongest(candidates, found), partial(_beliefs, candidates, lessons, found))
    nearest = float(cosines[0, 1:].max(initial=0.0))
    columns = [own[0] for own in judged]
    shown = influential_places(
        observations, columns, found, is_sure=is_sure(*best_and_rival(beliefs.strongest, nearest), threshold)
    )
    influential = [
        InfluentialLesson(
            episode_id=lessons[n].id,
            candidate=columns[n],
            action=lessons[n].action,
            approves=lessons[n].approves,
            belief=round(float(found.values[columns[n]]), 9),
        )
        for n in shown
        if not lessons[n].is_question
    ]
    return Evidence(
        beliefs=beliefs,
        nearest=nearest,
        lessons=len(lessons),
        threshold=threshold,
        influential=tuple(influential),
    )


def _prior(
    described: "Matrix",
    actions: Sequence[ActionText],
    lessons: Sequence[JudgedLesson],
    judged: Sequence[Sequence[int]],
    fits: Mapping[str, ActionFit],
    cosines: "Matrix",
    config: EvidenceConfig,
) -> "Matrix":
    """The prior of actions at the asked goal (first row) and the lessons' goals, with the shape of `described`."""
    import numpy as np

    if not fits:
        return action_prior(described, config)
    approves = np.zeros((1 + len(lessons), len(actions)))
    for row, (lesson, about) in enumerate(zip(lessons, judged, strict=True), 1):
        if about[0] < len(actions) and lesson.approves and lesson.is_counted:
            approves[row, about[0]] = 1
    of_actions = chain.from_iterable([fits.get(action.name, _NONE) for action in actions])
    lessons_of, cosines_of = np.array(list(of_actions)).reshape(-1, 2).T
    return action_prior(learned_fits(described, lessons_of, cosines_of, cosines, approves, config), config)


def as_matrix(vectors: Sequence[Vector]) -> "Matrix":
    """A float64 matrix with these vectors as rows."""
    import numpy as np

    return np.array(vectors, np.float64)


def _valid_places(lessons: Sequence[JudgedLesson], cosines: "Matrix") -> Sequence[int]:
    """The places of the lessons that count.

    Left out are those that another one for the same question replaces (`replaced_places`), and approvals of what the
    asker refused for the asked question (`refused_places`).

    `cosines` are those between all goals, the asked goal first.
    """
    import numpy as np

    alike = cosines >= SAME_QUESTION
    if np.count_nonzero(alike) == np.count_nonzero(alike.diagonal()):  # only the diagonal, which is 0 for zero vectors
        return range(len(lessons))
    void = replaced_places(lessons, alike[1:, 1:])
    as_asked = np.flatnonzero(cosines[0, 1:] >= SAME_WORDS).tolist()
    void |= refused_places(lessons, [place for place in as_asked if place not in void])
    return [place for place in range(len(lessons)) if place not in void]


def _in_columns(
    judged: Iterable[Sequence[Candidate]], actions: Sequence[ActionText]
) -> tuple[list[Candidate], list[list[int]]]:
    """(Candidates: all actions, then the distinct answers; for each lesson the columns of what it judges)."""
    known, of_actions = _known_actions(tuple([action.name for action in actions]))
    candidates = list(known)
    first_of: dict[int, int] = {}
    alike_of: dict[int, dict[int, list[int]]] = {}
    columns_of: list[list[int]] = []
    for own in judged:
        columns: list[int] = []
        for candidate in own:
            exact = candidate.exact
            if exact is None:
                column = of_actions[candidate.action]
            elif exact not in first_of:
                column = first_of[exact] = len(candidates)
                candidates.append(candidate)
            elif candidate == candidates[first_of[exact]]:
                column = first_of[exact]
            else:
                column = _column_of(candidate, candidates, first_of[exact], alike_of.setdefault(exact, {}))
            if column not in columns:
                columns.append(column)
        columns_of.append(columns)
    return candidates, columns_of


@lru_cache(maxsize=8)
def _known_actions(names: tuple[str, ...]) -> tuple[tuple[Candidate, ...], Mapping[str, int]]:
    """The actions as candidates, and their columns. Cached, as an agent has the same actions each time."""
    return tuple(map(Candidate, names)), {name: column for column, name in enumerate(names)}


def _column_of(answer: Candidate, candidates: list[Candidate], first: int, by_core: dict[int, list[int]]) -> int:
    """The column of an answer that says the same, or a new column.

    `by_core` has the columns of answers with the same `exact`, by `Candidate.core`, so that not all of them have to be
    compared. The column `first` is added with the first call.
    """
    if not by_core:
        by_core[candidates[first].core] = [first]
    alike = by_core.setdefault(answer.core, [])
    for column in alike:
        if answer.says_the_same_as(candidates[column]):
            return column
    alike.append(len(candidates))
    candidates.append(answer)
    return alike[-1]


def _strongest(candidates: Sequence[Candidate], found: Posterior) -> list[Belief]:
    """The two strongest beliefs, without suggestions and weights. Ties: the first candidate."""
    values = found.values.round(9).tolist()
    best = sorted(range(len(values)), key=values.__getitem__, reverse=True)[:2]
    return [Belief(candidates[n].action, values[n], float(found.at_goal[n]), text=candidates[n].text) for n in best]


def _beliefs(candidates: Sequence[Candidate], lessons: Sequence[JudgedLesson], found: Posterior) -> tuple[Belief, ...]:
    """The beliefs that are returned (`BELIEFS`), each with the lessons of the largest effects."""
    import numpy as np

    # Rounded, so that ties keep the order of the candidates.
    rounded, suggested = found.values.round(9), found.suggested.round(9)
    ranked = np.argsort(-rounded, kind="stable").tolist()
    is_against = (found.values - found.at_goal <= AGAINST).tolist()
    most_suggested = set(np.argsort(-suggested, kind="stable")[:BELIEFS].tolist())
    order = [*ranked[:BELIEFS], *[n for n in ranked[BELIEFS:] if is_against[n] or n in most_suggested]]
    effects = found.effects.T[order]
    largest = np.argsort(-np.abs(effects), axis=1, kind="stable")[:, :WEIGHTS]
    of_largest = effects[np.arange(len(order))[:, None], largest]
    numbers = zip(rounded.tolist(), found.at_goal.tolist(), suggested.tolist(), strict=True)
    of_columns, weights = list(numbers), found.weights.tolist()
    beliefs: list[Belief] = []
    for column, rows_of, effects_of in zip(order, largest.tolist(), of_largest.tolist(), strict=True):
        of_lessons = [
            LessonWeight((lesson := lessons[row]).id, lesson.goal, lesson.author, lesson.approves, weights[row], effect)
            for row, effect in zip(rows_of, effects_of, strict=True)
            if effect
        ]
        action, text, _ = candidates[column]
        value, prior, suggestion = of_columns[column]
        beliefs.append(Belief(action, value, prior, suggestion, text, tuple(of_lessons)))
    return tuple(beliefs)


def influential_places(
    observations: Sequence[NoisyVerdict], columns: Sequence[int], found: Posterior, *, is_sure: bool
) -> list[int]:
    """The places of lessons that may be shown, largest effect first. `columns` has the candidate that each judges.

    A lesson may be shown if all lessons on its candidate together agree with it, so that an outweighed approval is not
    shown as right, nor an outweighed refusal as wrong. An approval also needs a belief above 0, and refusals of the
    best candidate are not shown if that `is_sure`.
    """
    import numpy as np

    about = np.array(columns, np.intp)
    own = found.weights * found.beyond_prior[np.arange(len(about)), about]
    effects: list[float] = own.tolist()
    strong = [place for place, effect in enumerate(effects) if abs(effect) >= INFLUENTIAL]
    if not strong:
        return []
    together = np.bincount(about, own).tolist()
    best = found.values.argmax() if is_sure else None
    shown: list[tuple[float, int]] = []
    for place in strong:
        column, effect, approves = columns[place], effects[place], observations[place].approves
        is_true = (effect > 0 and together[column] > 0) if approves else (effect < 0 and together[column] < 0)
        if is_true and (found.values[column] > 0 if approves else column != best):
            shown.append((-round(abs(effect), 9), place))
    return [place for _, place in sorted(shown)]


def most_influential(influential: Sequence[InfluentialLesson], most: int) -> list[InfluentialLesson]:
    """At most `most` lessons of different candidates, best first; from two on both approvals and refusals, if any."""
    first: dict[int, InfluentialLesson] = {}
    for lesson in influential:
        first.setdefault(lesson.candidate, lesson)
    chosen = list(first.values())[:most]
    other = next((each for each in first.values() if chosen and each.approves != chosen[0].approves), None)
    if other is not None and most >= 2 and other not in chosen and len({each.approves for each in chosen}) == 1:
        chosen[-1] = other
    return chosen


def may_be_shown(influential: InfluentialLesson, evidence: Evidence, *, is_decided: bool) -> bool:
    """Whether a lesson is decided, or proposed and an approval of the best candidate, of which the evidence is sure."""
    if is_decided:
        return True
    best = evidence.best
    return influential.approves and evidence.is_sure and best is not None and influential.belief == best.value


def is_followed(evidence: Evidence, node: Episode) -> bool:
    """Whether a node took the action, or gave the answer, of the best belief."""
    best = evidence.best
    if best is None or best.action != node.action:
        return False
    return best.action != ANSWER or Candidate.of(ANSWER, best.text).says_the_same_as(Candidate.of(ANSWER, node.output))
