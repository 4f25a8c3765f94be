"""A model's grades of answers without reactions: which answers to grade, storing grades, recalling the answers.

A grade has the source MODEL and is never a vote: it affects no verdict, strength, rate or mark, and only the asker
recalls the answer. Any person's vote on the answer replaces it, and it counts again if the vote is withdrawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import cast

from memory.model import (
    ASK,
    Audience,
    Episode,
    Exemplar,
    Grade,
    GradeSource,
    Lesson,
    Origin,
    Scope,
    Signal,
    StoredGrade,
    Termination,
    Vector,
    Verdict,
    Verdicts,
)
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import partitions_for, partitions_of, visibility_of
from memory.rules.control_arm import hash_fraction
from memory.rules.quarantine import flags
from memory.rules.retrieval.adapter import RetrievalInput
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.consensus import is_same_question
from memory.rules.retrieval.pipeline import overlap
from memory.rules.retrieval.similarity import unit_cosine, word_similarity
from memory.services.core import Core

LOOKED_AT = 500
"""How many of a workspace's newest undecided answers are searched for ones to grade."""

OWN_LOOKED_AT = 200
"""How many of the asker's newest undecided answers recall searches, exactly."""

CONFIDENCE = 0.5
"""The confidence of a model's "good" or "bad"; "unsure" has 0."""

_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A model's judgement of an answer."""

    is_good: bool | None
    """None if unsure."""
    reason: str = ""
    grader: str = ""
    """The model's name."""


def guess_of(grades: Sequence[StoredGrade]) -> Grade | None:
    """The last grade by a model; None if it is unsure, there is none, or a person graded, too."""
    guesses = [each.grade for each in grades if each.grade.source is GradeSource.MODEL]
    if not guesses or len(guesses) < len(grades) or not guesses[-1].confidence:
        return None
    return guesses[-1]


@dataclass(frozen=True, slots=True)
class ModelGrades:
    """The use cases of grading by a model."""

    _core: Core

    def waiting(self, idle: timedelta, limit: int) -> list[tuple[Episode, ...]]:
        """Answers older than `idle` without votes and grades, up to `limit`: in turn the newest of each workspace.

        Which workspace begins is drawn anew each time, so that none waits for others even if there are more than
        `limit`. Each answer comes with all its nodes, the root first. Failures, archived or quarantined answers,
        answers that are not fully posted, and answers based on another guess are left out.
        """
        now = self._core.clock()
        workspaces = sorted(self._core.store.workspaces(), key=lambda each: hash_fraction(f"{now.isoformat()} {each}"))
        with self._core.store.read() as tx:
            waiting = [_judgeable(tx, each, self._undecided(tx, each, now - idle))[:limit] for each in workspaces]
            in_turn = [root for row in zip_longest(*waiting) for root in row if root is not None][:limit]
            nodes: dict[str, tuple[Episode, ...]] = {}
            for workspace in dict.fromkeys(root.workspace for root in in_turn):
                runs = [root.run_id for root in in_turn if root.workspace == workspace]
                found = tx.episodes.of_runs(workspace, runs)
                nodes |= {found[run_id][0].id: tuple(found[run_id]) for run_id in runs}
        return [nodes[root.id] for root in in_turn]

    def _undecided(self, tx: Transaction, workspace: str, before: datetime) -> list[Episode]:
        wanted = EpisodeFilter(verdict=Verdict.PENDING, roots_only=True, limit=LOOKED_AT)
        roots = [each for each in tx.episodes.search(workspace, wanted) if each.created_at <= before]
        graded = tx.steps.grades(workspace, [root.id for root in roots])
        return [root for root in roots if root.id not in graded]

    def put(self, answer: Episode, guess: Guess) -> bool:
        """Store a model's judgement of an answer. False if it was voted on, graded or erased meanwhile.

        A flagged reason (it may come from a prompt injection) is not kept, and makes the grade unsure.
        """
        reason = self._core.redactor.text(guess.reason)[:_REASON_CHARACTERS]
        is_flagged = bool(flags(reason))
        with self._core.store.write() as tx:
            root = tx.episodes.get(answer.workspace, answer.id)
            is_known = bool(tx.steps.grades(answer.workspace, [answer.id]))
            if root is None or is_known or not _judgeable(tx, root.workspace, [root]):
                return False
            grade = Grade(
                source=GradeSource.MODEL,
                is_correct=guess.is_good is True and not is_flagged,
                explanation="The reason it gave was held back." if is_flagged else reason,
                confidence=0.0 if guess.is_good is None or is_flagged else CONFIDENCE,
                at=self._core.clock(),
                grader=guess.grader,
            )
            tx.steps.add_grade(StoredGrade(workspace=root.workspace, episode_id=root.id, actor="", grade=grade))
        return True


def _judgeable(tx: Transaction, workspace: str, roots: Sequence[Episode]) -> list[Episode]:
    """The answers that a model's grade may count for: without votes, and based only on lessons of people.

    Takes a constant number of statements.
    """
    finished = {root.run_id: root for root in roots if _is_unjudged_answer(root)}
    parts = tx.deliveries.outgoing_of_runs(workspace, finished)
    votes = tx.teaching.votes_of_runs(workspace, finished)
    posted = [
        root
        for run_id, root in finished.items()
        if run_id in parts
        and all(part.sent_at is not None for part in parts[run_id])
        and not any(vote.value for vote in votes.get(run_id, ()))
    ]
    return _resting_on_people(tx, workspace, posted)


def _is_unjudged_answer(root: Episode) -> bool:
    if root.verdict is not Verdict.PENDING or root.origin is not Origin.RUN or root.archived_at or root.quarantine:
        return False
    if root.action == ASK:
        return False
    return root.termination in (Termination.SUCCESS, Termination.EXPAND) and bool(root.output.strip())


def _resting_on_people(tx: Transaction, workspace: str, roots: Sequence[Episode]) -> list[Episode]:
    """The answers whose used lessons are all still approved by people, as a guess must not confirm a guess.

    So an answer learned from a lesson that is later withdrawn or purged is not an exemplar any more.
    """
    used = {
        run_id: {
            item.episode_id
            for _, items in recalls
            for item in items
            if item.signal is Signal.USED and item.lesson is Lesson.REPEAT
        }
        for run_id, recalls in tx.retrievals.of_runs(workspace, [root.run_id for root in roots]).items()
    }
    lessons = tx.episodes.get_many(workspace, {each for ids in used.values() for each in ids})
    approved = {
        each.id
        for each in lessons.values()
        if each.verdict is Verdict.SUCCESS and each.archived_at is None and not each.quarantine
    }
    return [root for root in roots if used.get(root.run_id, set()) <= approved]


def guessed_exemplars(
    tx: Transaction,
    situation: RetrievalInput,
    config: RetrievalConfig,
    *,
    model: str,
    run_id: str,
    taught: Sequence[Exemplar],
) -> tuple[Exemplar, ...]:
    """The asker's own answers that only a model judged, for exemplar places that `taught` lessons left free.

    They come from conversations of the same visibility, where the asker's own lessons would be found, too. A guess is
    left out if a taught lesson is about the same question, or if guesses on it contradict each other. `model` names the
    embedder of the goal.
    """
    places = config.final_k - len(taught)
    if places <= 0 or situation.scope is None:
        return ()
    similar = _similar_guesses(tx, situation.scope, situation, config, model)
    judgeable = {each.id for each in _judgeable(tx, situation.scope.workspace, [each.episode for each in similar])}
    usable = [
        each
        for each in similar
        if each.episode.run_id != run_id
        and each.episode.id in judgeable
        and not any(is_same_question(each.episode, other.episode, _by_words) for other in taught)
    ]
    kept: list[Exemplar] = []
    for each in usable:
        rivals = [other for other in usable if is_same_question(each.episode, other.episode, _by_words)]
        is_known = any(other.episode.signature == each.episode.signature for other in kept)
        if not is_known and len({(other.episode.signature, other.verdict) for other in rivals}) == 1:
            kept.append(each)
    return tuple(kept[:places])


def _similar_guesses(
    tx: Transaction, scope: Scope, situation: RetrievalInput, config: RetrievalConfig, model: str
) -> list[Exemplar]:
    """The asker's answers graded by a model, above the similarity gate, best first."""
    wanted = EpisodeFilter(person=scope.person, verdict=Verdict.PENDING, roots_only=True, limit=OWN_LOOKED_AT)
    ids = [each.id for each in tx.episodes.search(scope.workspace, wanted)]
    guesses = {
        episode_id: guess
        for episode_id, grades in tx.steps.grades(scope.workspace, ids).items()
        if (guess := guess_of(grades)) is not None
    }
    vectors = tx.episodes.vectors(scope.workspace, guesses)
    found: list[Exemplar] = []
    for episode in tx.episodes.get_many(scope.workspace, guesses).values():
        if not _is_own_here(episode, scope):
            continue
        known = vectors.get(episode.id)
        if situation.current_state_embedding is not None and known is not None and known[0] == model:
            intent = unit_cosine(known[1], cast("Vector", situation.current_state_embedding))
        else:
            intent = word_similarity(situation.goal, episode.goal)
        if intent < config.min_intent or intent <= 0:
            continue
        shared = overlap(situation.current_env, frozenset(episode.context_before), weights=config.element_weights)
        verdict = Verdict.SUCCESS if guesses[episode.id].is_correct else Verdict.FAILURE
        found.append(
            Exemplar(
                episode=episode,
                verdict=verdict,
                audience=Audience.PERSONAL,
                context_score=shared,
                intent_score=intent,
                relevance=config.env_weight * shared + config.intent_weight * intent,
                is_guess=True,
            )
        )
    return sorted(found, key=lambda each: (each.relevance, each.episode.id), reverse=True)


def _is_own_here(episode: Episode, scope: Scope) -> bool:
    """Whether the asker would find the episode here if they approved it, and the visibility is the same."""
    if episode.person != scope.person or visibility_of(episode) is not scope.visibility:
        return False
    as_if = replace(episode, verdicts=Verdicts(personal=Verdict.SUCCESS))
    return any(entry.partition in partitions_for(scope) for entry in partitions_of(as_if))


def _by_words(one: Episode, other: Episode) -> float:
    return word_similarity(one.goal, other.goal)
