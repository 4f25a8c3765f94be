"""Lessons that disagree on the action: a teacher's word settles it, else both are shown as a disagreement.

Letting the larger or the more similar group win silently is what poisoning needs: as many copies as one likes, for one
price. It is decided by the action, not by counting texts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from memory.model import Audience, Episode, Exemplar, Lesson, Vector, Verdict, Vote
from memory.model.normal_form import comparable
from memory.rules.feedback.vocabulary import all_languages, stop_words
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.retrieval.likeness import unit_cosine

SAME_QUESTION = 0.9
"""Cosine from which two goals count as one question (the bound at which ACE joins its bullets)."""

SAME_GOAL = 0.95
"""Cosine of two goals from which they are one goal in other words."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """Who stands behind an exemplar."""

    authority: int
    """3: the asker's own scope, where they decide alone; 2: a teacher or administrator approved it; 1: people did."""
    name: str
    """Two different approved answers of one voice are a change of mind: the later one holds."""


def voice_of(exemplar: Exemplar, votes: Sequence[Vote], asker: str) -> Backing:
    """Whose word this exemplar is, by the audience it was reached through and the votes on it."""
    if exemplar.audience is Audience.PERSONAL:
        return Backing(authority=3, name=asker)
    author = exemplar.episode.author or exemplar.episode.person
    is_taught = any(vote.value > 0 and vote.role.may_promote and not vote.is_limited for vote in votes)
    is_promoted = exemplar.audience is Audience.WORKSPACE
    return Backing(authority=2 if is_taught or is_promoted else 1, name=author)


def settle_disagreements(
    exemplars: Sequence[Exemplar],
    voice: Callable[[Exemplar], Backing],
    similarity: Callable[[Episode, Episode], float],
) -> tuple[Exemplar, ...]:
    """The exemplars without those that a stronger or a later word of the same voice overrules.

    Those of equal standing that contradict each other come back as `is_disputed`. Order is kept. Mistakes (AVOID) say
    what not to do and contradict nothing. Whose word one is, is asked only of those that contradict each other.
    """
    overruled: set[int] = set()
    disputed: set[int] = set()
    for i, one in enumerate(exemplars):
        for j in range(i + 1, len(exemplars)):
            if not _contradict(one, exemplars[j], similarity):
                continue
            ours, theirs = voice(one), voice(exemplars[j])
            if ours == theirs:
                overruled.add(i if _decided(one) < _decided(exemplars[j]) else j)
            elif ours.authority != theirs.authority:
                overruled.add(i if ours.authority < theirs.authority else j)
            else:
                disputed |= {i, j}
    # Who is overruled anyway is no party to a dispute.
    for i in sorted(disputed):
        rivals = [j for j in disputed - {i} - overruled if _contradict(exemplars[i], exemplars[j], similarity)]
        if not rivals:
            disputed = disputed - {i}
    return tuple(
        replace(exemplar, is_disputed=True) if i in disputed else exemplar
        for i, exemplar in enumerate(exemplars)
        if i not in overruled
    )


def _decided(exemplar: Exemplar) -> tuple[datetime, datetime, str]:
    episode = exemplar.episode
    return (episode.graded_at or episode.created_at, episode.created_at, episode.id)


def _contradict(one: Exemplar, other: Exemplar, similarity: Callable[[Episode, Episode], float]) -> bool:
    if not one.verdict is other.verdict is Verdict.SUCCESS or one.lesson is Lesson.AVOID:
        return False
    first, second = one.episode, other.episode
    if first.signature == second.signature or not is_same_question(first, second, similarity):
        return False
    if first.action == second.action == "answer":
        return not AnswerWords.of(first.output).says_the_same_as(AnswerWords.of(second.output))
    return True


def is_same_question(first: Episode, second: Episode, similarity: Callable[[Episode, Episode], float]) -> bool:
    """Whether two goals ask the same: by their words, else the same numbers and a similarity of `SAME_QUESTION`."""
    if comparable(first.goal) == comparable(second.goal):
        return True
    if sorted(_NUMBER.findall(first.goal)) != sorted(_NUMBER.findall(second.goal)):
        return False
    return similarity(first, second) >= SAME_QUESTION


def is_same_goal(one: Episode, other: Episode, vectors: Mapping[str, tuple[str, Vector]]) -> bool:
    """Whether the goals of two episodes are one: the same words, or near in meaning by embeddings of one model."""
    if comparable(one.goal) == comparable(other.goal):
        return True
    if one.id not in vectors or other.id not in vectors or vectors[one.id][0] != vectors[other.id][0]:
        return False
    return unit_cosine(vectors[one.id][1], vectors[other.id][1]) >= SAME_GOAL


def is_answered_anew(one: Episode, other: Episode, vectors: Mapping[str, tuple[str, Vector]]) -> bool:
    """Whether two goals are one so surely that a later answer to one replaces an earlier answer to the other.

    They are one goal (`is_same_goal`), and their words do not say otherwise: embeddings hardly tell Monday from
    Tuesday, "who has it" from "where is it", or "may I" from "may I not".
    """
    if comparable(one.goal) == comparable(other.goal):
        return True
    return not ask_for_different_things(one.goal, other.goal) and is_same_goal(one, other, vectors)


def ask_for_different_things(one: str, other: str) -> bool:
    """Whether each has a word of its own, or one of them has more than small words that deny nothing beside."""
    first, second = set(_words(one)), set(_words(other))
    if first - second and second - first:
        return True
    more = first ^ second
    return bool(more) and (not more <= stop_words() or not more.isdisjoint(_denying()))


@cache
def _denying() -> frozenset[str]:
    return frozenset(word for language in all_languages() for word in language.denies | language.without)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
