"""The evidence for one goal: what all lessons in reach say together about what could be done or said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from memory.model import Audience, Origin, Scope, Vector, Verdict, Vote
from memory.model.evidence import ActionText, Belief, Evidence, LessonWeight
from memory.ports import Embedder, LessonSummary, Neighbour, Transaction
from memory.rules.answers import is_same_answer, named_action
from memory.rules.evidence import EvidenceConfig, Observation, Posterior, description_prior, posterior

if TYPE_CHECKING:
    from memory.rules.evidence import Matrix

ANSWER = "answer"
SAME_QUESTION = 0.97
"""Cosine from which two goals are one question: of one author's lessons on it the latest counts."""

BELIEFS = 8
"""How many beliefs are handed out, strongest first."""
WEIGHTS = 8
"""How many lessons are named for each belief, largest effect first."""

_Candidate = tuple[str, str]
"""An action's name, and the text of an answer."""


class Weighing:
    """The use case of evidence. `embedder` compares descriptions of actions with goals."""

    def __init__(self, embedder: Embedder, config: EvidenceConfig | None = None) -> None:
        self.config = config or EvidenceConfig()
        self._described = lru_cache(maxsize=8)(lambda texts: _rows(embedder.embed(texts)))

    def weigh(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        near: Sequence[Neighbour],
        actions: Sequence[ActionText],
        *,
        run_id: str = "",
    ) -> Evidence:
        """The evidence of the nearest lessons (`near`, best first) for a goal. `run_id` is the run that asks.

        Raises `EmbeddingFailed` if the descriptions of the actions cannot be embedded.
        """
        hits = {hit.episode_id: hit for hit in near[: self.config.lessons] if hit.vector is not None}
        stored = tx.episodes.summaries(scope.workspace, hits)
        summaries = [stored[each] for each in hits if each in stored and stored[each].run_id != run_id]
        votes = tx.teaching.votes_of_runs(scope.workspace, {each.run_id for each in summaries})
        judged = _judged(summaries, hits, votes, scope, [action.name for action in actions])
        lessons = _latest_on_each_question(judged)
        return self._evidence(goal, lessons, actions, nearest=near[0].cosine if near else 0.0)

    def _evidence(
        self, goal: Vector, lessons: Sequence["_Lesson"], actions: Sequence[ActionText], nearest: float
    ) -> Evidence:
        import numpy as np  # not for those who only import this module

        config = self.config
        candidates: list[_Candidate] = [(action.name, "") for action in actions]
        columns = [_column(candidates, lesson) for lesson in lessons]
        goals = _rows([goal, *(lesson.vector for lesson in lessons)])
        prior = np.zeros((len(goals), len(candidates)))
        if actions:
            described = self._described(tuple(action.text for action in actions))
            prior[:, : len(actions)] = description_prior(goals, described, config)
        observations = [
            Observation(
                candidate=column,
                approves=lesson.approves,
                noise=config.trusted_noise if lesson.is_trusted else config.member_noise,
                author="" if lesson.is_trusted or lesson.is_own else lesson.author,
            )
            for column, lesson in zip(columns, lessons, strict=True)
        ]
        found = posterior(goals[0], goals[1:], observations, prior[0], prior[1:], config)
        order = np.argsort(-found.values, kind="stable")[:BELIEFS]
        return Evidence(
            beliefs=tuple(_belief(candidates, lessons, found, prior[0], int(column)) for column in order),
            nearest=nearest,
            lessons=len(lessons),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lesson:
    """One lesson as the rule looks at it."""

    id: str
    vector: Vector = field(compare=False)
    action: str
    text: str
    approves: bool
    author: str
    is_own: bool
    """Whether the asker's own verdict is what it rests on."""
    is_trusted: bool
    """Whether a teacher, or several people who agree, stand behind it."""
    summary: LessonSummary = field(compare=False)


def _judged(
    summaries: Sequence[LessonSummary],
    hits: Mapping[str, Neighbour],
    votes: Mapping[str, Sequence[Vote]],
    scope: Scope,
    actions: Sequence[str],
) -> list[_Lesson]:
    """The lessons that speak about something that can be done here: one of the actions, or an answer."""
    lessons: list[_Lesson] = []
    for summary in summaries:
        hit = hits[summary.id]
        action, text = summary.action, ""
        if action == ANSWER:
            is_taught = summary.origin is not Origin.RUN
            action, text = (is_taught and named_action(summary.output, actions)) or ANSWER, summary.output
        if (action != ANSWER and action not in actions) or hit.vector is None:
            continue
        approves = hit.verdict is Verdict.SUCCESS
        behind = [
            vote
            for vote in votes.get(summary.run_id, ())
            if vote.node_id in ("", summary.id)
            and (vote.value > 0) is approves
            and (not vote.is_limited or vote.actor == scope.person)
        ]
        actors = {vote.actor for vote in behind}
        lessons.append(
            _Lesson(
                id=summary.id,
                vector=hit.vector,
                action=action,
                text=text if action == ANSWER else "",
                approves=approves,
                author=min(actors) if len(actors) == 1 else summary.author,
                is_own=hit.audience is Audience.PERSONAL,
                is_trusted=len(actors) > 1
                or hit.audience is Audience.WORKSPACE
                or any(vote.role.may_promote for vote in behind),
                summary=summary,
            )
        )
    return lessons


def _latest_on_each_question(lessons: Sequence[_Lesson]) -> list[_Lesson]:
    """Without what its own author approved otherwise later, for the same question."""
    import numpy as np

    if len(lessons) < 2:
        return list(lessons)
    goals = _rows([lesson.vector for lesson in lessons])
    is_same_question = goals @ goals.T >= SAME_QUESTION

    def is_replaced(old: int, new: int) -> bool:
        one, other = lessons[old], lessons[new]
        return (
            one.approves
            and other.approves
            and (one.action, one.text) != (other.action, other.text)
            and (one.author == other.author or (one.is_own and other.is_own))
            and (one.summary.decided_at, one.id) < (other.summary.decided_at, other.id)
        )

    pairs = np.argwhere(np.triu(is_same_question, 1))
    replaced = {old for i, j in pairs.tolist() for old, new in ((i, j), (j, i)) if is_replaced(old, new)}
    return [lesson for n, lesson in enumerate(lessons) if n not in replaced]


def _column(candidates: list[_Candidate], lesson: _Lesson) -> int:
    """The candidate a lesson speaks about; a new answer becomes one."""
    for column, (action, text) in enumerate(candidates):
        if action == lesson.action and (action != ANSWER or is_same_answer(text, lesson.text)):
            return column
    candidates.append((lesson.action, lesson.text))
    return len(candidates) - 1


def _belief(
    candidates: Sequence[_Candidate], lessons: Sequence[_Lesson], found: Posterior, prior: "Matrix", column: int
) -> Belief:
    import numpy as np

    effects = found.effects[:, column]
    largest = np.argsort(-np.abs(effects), kind="stable")[:WEIGHTS]
    action, text = candidates[column]
    return Belief(
        action=action,
        text=text,
        value=float(found.values[column]),
        prior=float(prior[column]),
        weights=tuple(
            LessonWeight(
                episode_id=lessons[row].id,
                author=lessons[row].author,
                approves=lessons[row].approves,
                weight=float(found.weights[row]),
                effect=float(effects[row]),
            )
            for row in largest.tolist()
            if effects[row] != 0
        ),
    )


def _rows(vectors: Sequence[Vector]) -> "Matrix":
    import numpy as np

    return np.asarray(np.stack(vectors), np.float64)
