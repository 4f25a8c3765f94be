"""Resolves lessons that contradict each other: the higher authority wins, else both are shown as disputed.

The number of copies and their similarity do not decide, as poisoning attacks could raise them cheaply.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from memory.model import Audience, Episode, Exemplar, Lesson, Vector, Verdict, Vote
from memory.model.normal_form import comparable
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.retrieval.similarity import unit_cosine
from memory.rules.use_detection.vocabulary import all_languages, stop_words

SAME_QUESTION = 0.9
"""The cosine from which two goals are one question (ACE's bound for merging bullets)."""

SAME_GOAL = 0.95
"""The cosine from which two goals are the same in other words."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """Whose opinion an exemplar is."""

    authority: int
    """3: the asker's personal audience; 2: approved by a teacher or administrator, or promoted; 1: by other people."""
    name: str
    """The person. If one person has two different approved answers, the later one holds."""


def voice_of(exemplar: Exemplar, votes: Sequence[Vote], asker: str) -> Backing:
    """The backing of an exemplar, by the audience it was found through and the votes on it."""
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
    """The exemplars without those that a higher authority, or a later one with the same backing, overrules.

    Contradicting ones of equal authority are returned as `is_disputed`. Order is kept. AVOID lessons contradict
    nothing. `voice` is called only for exemplars that contradict each other.
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
    # Overruled exemplars do not dispute others.
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
    """Whether two goals ask the same: equal words, or equal numbers and a similarity of at least `SAME_QUESTION`."""
    if comparable(first.goal) == comparable(second.goal):
        return True
    if sorted(_NUMBER.findall(first.goal)) != sorted(_NUMBER.findall(second.goal)):
        return False
    return similarity(first, second) >= SAME_QUESTION


def is_same_goal(one: Episode, other: Episode, vectors: Mapping[str, tuple[str, Vector]]) -> bool:
    """Whether two episodes have the same goal: equal words, or a cosine of at least `SAME_GOAL` in one model."""
    if comparable(one.goal) == comparable(other.goal):
        return True
    if one.id not in vectors or other.id not in vectors or vectors[one.id][0] != vectors[other.id][0]:
        return False
    return unit_cosine(vectors[one.id][1], vectors[other.id][1]) >= SAME_GOAL


def is_answered_anew(one: Episode, other: Episode, vectors: Mapping[str, tuple[str, Vector]]) -> bool:
    """Whether two goals are so surely the same that a later answer to one replaces an earlier answer to the other.

    `is_same_goal` holds, and their words do not differ in meaning: embeddings hardly distinguish Monday from Tuesday,
    "who has it" from "where is it", or "may I" from "may I not".
    """
    if comparable(one.goal) == comparable(other.goal):
        return True
    return not ask_for_different_things(one.goal, other.goal) and is_same_goal(one, other, vectors)


def ask_for_different_things(one: str, other: str) -> bool:
    """Whether each has a word that the other lacks, or one has more words than stop words that deny nothing."""
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
