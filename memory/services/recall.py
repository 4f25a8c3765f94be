"""Recall: the validated episodes most like a goal, for one person in one place."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import cast

from memory.model import (
    Audience,
    Episode,
    Exemplar,
    Lesson,
    LinkKind,
    Recollection,
    RuleLine,
    Scope,
    StageCounts,
    Vector,
    Verdict,
    Vote,
)
from memory.model.upkeep import UpkeepPolicy
from memory.ports import EpisodeFilter, IndexEntry, Neighbour, Neighbourhood, Transaction
from memory.rules.audience import partitions_for, partitions_of
from memory.rules.retrieval.adapter import DefaultRetriever, RetrievalInput, get_retriever
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.consensus import Voice, settle_disagreements, voice_of
from memory.rules.retrieval.cosine import unit_cosine
from memory.rules.retrieval.lexical import likeness
from memory.rules.retrieval.pipeline import Candidate
from memory.services.core import Core
from memory.services.model_grading import guessed_exemplars
from memory.services.recall_rules import rule_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A recollection with the goal's embedding, which the episode will be stored with."""

    recollection: Recollection
    vector: Vector | None


class IndexSource:
    """Candidates from the store's vector index: only partitions the asker may search, only above the gate."""

    def __init__(self, core: Core, tx: Transaction, candidates: int) -> None:
        self._core = core
        self._tx = tx
        self._candidates = candidates
        self.searched = 0
        self.found: dict[str, Neighbour] = {}
        self.stored: dict[str, Episode] = {}
        """The episodes found, as they are stored."""

    def load(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[Candidate[Episode]]:
        """The nearest validated episodes. The current run has none: it is stored when it is over."""
        scope, vector = situation.scope, situation.current_state_embedding
        if scope is None:
            return []
        if vector is None:
            near = self._by_words(scope, situation.goal, config.min_intent)
        else:
            near = self._tx.episodes.nearest(
                scope.workspace,
                partitions_for(scope),
                self._core.embedder.name,
                cast("Vector", vector),  # the use case below put it there
                k=self._candidates,
                min_cosine=config.min_intent,
            )
        self.searched = near.searched
        self.found = {hit.episode_id: hit for hit in near.hits}
        self.stored = self._tx.episodes.get_many(scope.workspace, self.found)
        return [
            Candidate(
                memory=episode,
                id=episode.id,
                elements=frozenset(episode.context_before),
                intent=self.found[episode.id].cosine,
                verdict=self.found[episode.id].verdict,
                created_at=episode.created_at,
                decided_at=episode.graded_at or episode.created_at,
                signature=episode.signature,
                author=episode.author,
            )
            for episode in self.stored.values()
            if episode.archived_at is None and episode.run_id != current_run_id
        ]

    def _by_words(self, scope: Scope, goal: str, gate: float) -> Neighbourhood:
        """The same search without an embedder: every lesson the asker may find, compared by its words.

        Slow on a large memory, and only for as long as nothing can be embedded.
        """
        order = {name: rank for rank, name in enumerate(partitions_for(scope))}
        everything = self._tx.episodes.search(scope.workspace, EpisodeFilter(limit=None))
        searched = 0
        hits: list[Neighbour] = []
        for episode in everything:
            filed = [entry for entry in partitions_of(episode) if entry.partition in order]
            if not filed:
                continue
            searched += 1
            entry = min(filed, key=lambda each: order[each.partition])
            score = likeness(goal, episode.goal)
            if score >= gate and score > 0:
                hits.append(
                    Neighbour(episode_id=episode.id, cosine=score, audience=entry.audience, verdict=entry.verdict)
                )
        hits.sort(key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
        return Neighbourhood(searched=searched, hits=tuple(hits[: self._candidates]))


class Recalling:
    """The use case of recall."""

    def __init__(
        self,
        core: Core,
        config: RetrievalConfig,
        candidates: int,
        *,
        guesses: bool = False,
        rule_from: int = UpkeepPolicy().rule_from,
    ) -> None:
        self._core = core
        self._candidates = candidates
        self._shows_guesses = guesses
        self._rule_from = rule_from
        self.config = config

    def recall(
        self,
        scope: Scope,
        goal: str,
        *,
        run_id: str = "",
        context: frozenset[str] = frozenset(),
        config: RetrievalConfig | None = None,
    ) -> Recalled:
        """The exemplars for a goal, best first, with the count after every stage.

        Nothing below the similarity gate, nothing pending or disputed, nothing outside the asker's partitions. When
        the embedder fails, goals are compared by their words: a fault must not keep anybody from an answer.
        """
        retrieval_id = self._core.new_id()
        config = config or self.config
        vector = self._core.embedded(goal)
        situation = RetrievalInput(current_env=context, current_state_embedding=vector, goal=goal, scope=scope)
        with self._core.store.read() as tx:
            source = IndexSource(self._core, tx, self._candidates)
            output = get_retriever(DefaultRetriever(source, self.config)).retrieve(
                scope.session_key, run_id, situation, config
            )
            found = tuple(
                Exemplar(
                    episode=scored.memory,
                    verdict=scored.verdict,
                    audience=_audience(source.found.get(scored.memory.id)),
                    context_score=scored.env_score,
                    intent_score=scored.int_score,
                    relevance=scored.score,
                    n_success=scored.n_success,
                    n_failure=scored.n_failure,
                )
                for scored in output.memories
                if scored.verdict.is_validated
            )
            counts = replace(output.debug, total_loaded=source.searched or output.debug.total_loaded)
            found, counts = _expanded(tx, scope, found, counts, config.max_per_author, source.stored)
            exemplars = _settled(tx, scope, found, source.found) if config.consensus else found
            rules = self._rules(tx, scope, found, exemplars, source.stored)
            if self._shows_guesses:
                exemplars += guessed_exemplars(
                    tx,
                    self._core,
                    scope,
                    goal,
                    vector,
                    run_id=run_id,
                    context=context,
                    config=config,
                    taught=exemplars,
                )
        recollection = Recollection(
            retrieval_id=retrieval_id, goal=goal, exemplars=exemplars, counts=counts, rules=rules
        )
        return Recalled(recollection=recollection, vector=vector)

    def _rules(
        self,
        tx: Transaction,
        scope: Scope,
        found: Sequence[Exemplar],
        settled: Sequence[Exemplar],
        stored: Mapping[str, Episode],
    ) -> tuple[RuleLine, ...]:
        """The rules behind the exemplars that stand; what was overruled or is disputed is no part of any."""
        undisputed = {exemplar.episode.id for exemplar in settled if not exemplar.is_disputed}
        unsettled = {exemplar.episode.id for exemplar in found} - undisputed
        return rule_lines(tx, scope, settled, unsettled, self._rule_from, stored) if undisputed else ()

    def corrections_for(self, scope: Scope, episode_ids: Collection[str]) -> dict[str, list[Episode]]:
        """The corrections of each of these episodes that are approved where this person looks, the newest last."""
        with self._core.store.read() as tx:
            return corrections_for(tx, scope, episode_ids)

    def as_seen_by(self, scope: Scope, episodes: Sequence[Episode]) -> list[Episode]:
        """The episodes without the text of corrections that nobody has approved where this person looks."""
        with self._core.store.read() as tx:
            return as_seen_by(tx, scope, episodes)


def _expanded(
    tx: Transaction,
    scope: Scope,
    exemplars: tuple[Exemplar, ...],
    counts: StageCounts,
    per_author: int | None,
    stored: Mapping[str, Episode],
) -> tuple[tuple[Exemplar, ...], StageCounts]:
    """Follow the links of mistakes to their corrections.

    A correction the asker may see, and that was not chosen by itself, joins right behind its mistake, unless its
    author is heard often enough already. One that waits for review stays unseen: its text is taken off the mistake
    as well (design 3.1, rule 7).
    """
    by_author = Counter(e.episode.author for e in exemplars if e.lesson is Lesson.REPEAT)
    mistakes = [e.episode.id for e in exemplars if e.lesson is Lesson.AVOID and e.episode.correction]
    seen = corrections_for(tx, scope, mistakes, stored)
    chosen = {exemplar.episode.id for exemplar in exemplars}
    expanded: list[Exemplar] = []
    for exemplar in exemplars:
        lessons = []
        for lesson in seen.get(exemplar.episode.id, []):
            is_enough = per_author is not None and by_author[lesson.author] >= per_author
            if lesson.id in chosen or lesson.author == scope.person or not is_enough:
                by_author[lesson.author] += lesson.id not in chosen
                lessons.append(lesson)
        if exemplar.lesson is Lesson.AVOID:
            text = lessons[-1].output if lessons else ""
            exemplar = replace(exemplar, episode=replace(exemplar.episode, correction=text))
        expanded.append(exemplar)
        for lesson in lessons:
            if lesson.id not in chosen:
                chosen.add(lesson.id)
                found = _nearest(lesson, partitions_for(scope))
                audience = found.audience if found else exemplar.audience
                expanded.append(replace(exemplar, episode=lesson, verdict=Verdict.SUCCESS, audience=audience))
    return tuple(expanded), replace(counts, linked=len(expanded) - len(exemplars))


def _settled(
    tx: Transaction, scope: Scope, exemplars: tuple[Exemplar, ...], near: Mapping[str, Neighbour]
) -> tuple[Exemplar, ...]:
    """What contradicts each other is settled or marked, and a mistake names no correction that is not settled."""
    approved = [e for e in exemplars if e.lesson is Lesson.REPEAT]
    if len({e.episode.signature for e in approved}) < 2:
        return exemplars
    background = _Background(tx, scope, [e.episode for e in approved], near)
    settled = settle_disagreements(exemplars, background.voice_of, background.similarity)
    confirmed = {e.episode.output for e in settled if e.lesson is Lesson.REPEAT}
    unsettled = {e.episode.output for e in approved} - confirmed
    return tuple(
        replace(e, episode=replace(e.episode, correction=""))
        if e.lesson is Lesson.AVOID and e.episode.correction in unsettled
        else e
        for e in settled
    )


class _Background:
    """What is looked up of lessons where they may disagree, once for all of them: most lessons agree."""

    def __init__(
        self, tx: Transaction, scope: Scope, approved: Sequence[Episode], near: Mapping[str, Neighbour]
    ) -> None:
        self._tx = tx
        self._scope = scope
        self._approved = approved
        self._near = near

    def voice_of(self, exemplar: Exemplar) -> Voice:
        """Whose word it is."""
        return voice_of(exemplar, self._votes.get(exemplar.episode.run_id, ()), self._scope.person)

    def similarity(self, one: Episode, other: Episode) -> float:
        """The cosine of their goals' embeddings; without them, by words."""
        first, second = self._vectors.get(one.id), self._vectors.get(other.id)
        if first is None or second is None or first[0] != second[0]:
            return likeness(one.goal, other.goal)
        return unit_cosine(first[1], second[1])

    @cached_property
    def _votes(self) -> dict[str, list[Vote]]:
        return self._tx.teaching.votes_of_runs(self._scope.workspace, {each.run_id for each in self._approved})

    @cached_property
    def _vectors(self) -> dict[str, tuple[str, Vector]]:
        """(model, vector) of each; what was found by its vector was so by one of the embedder that asked."""
        known = {name: ("", hit.vector) for name, hit in self._near.items() if hit.vector is not None}
        unknown = [each.id for each in self._approved if each.id not in known]
        if not unknown:
            return known
        return self._tx.episodes.vectors(self._scope.workspace, [each.id for each in self._approved])


def corrections_for(
    tx: Transaction, scope: Scope, episode_ids: Collection[str], known: Mapping[str, Episode] = MappingProxyType({})
) -> dict[str, list[Episode]]:
    """The corrections of each of these episodes that are approved where this person looks, the newest last.

    `known` are episodes that this transaction has read already.
    """
    links = tx.episodes.links(scope.workspace, episode_ids, LinkKind.CORRECTS)
    unread = {link.from_id for link in links if link.from_id not in known}
    lessons = {**known, **tx.episodes.get_many(scope.workspace, unread)}
    named = partitions_for(scope)
    seen: dict[str, list[Episode]] = {}
    for link in sorted(links, key=lambda link: link.from_id):
        lesson = lessons.get(link.from_id)
        if link.to_id in episode_ids and lesson is not None and _is_repeat_for(lesson, named):
            seen.setdefault(link.to_id, []).append(lesson)
    return seen


def as_seen_by(tx: Transaction, scope: Scope, episodes: Sequence[Episode]) -> list[Episode]:
    """The episodes without the text of corrections that nobody has approved where this person looks.

    The rule of every list, explanation and copy that a person is given.
    """
    seen = corrections_for(tx, scope, [episode.id for episode in episodes if episode.correction])
    texts = {episode_id: lessons[-1].output for episode_id, lessons in seen.items()}
    return [replace(episode, correction=texts.get(episode.id, "")) for episode in episodes]


def _is_repeat_for(lesson: Episode, partitions: Sequence[str]) -> bool:
    """Whether the lesson is approved in the most specific of these partitions that has it."""
    nearest = _nearest(lesson, partitions)
    return nearest is not None and nearest.verdict is Verdict.SUCCESS


def _nearest(lesson: Episode, partitions: Sequence[str]) -> IndexEntry | None:
    """Where the lesson is filed in the most specific of these partitions that has it."""
    filed = [entry for entry in partitions_of(lesson) if entry.partition in partitions]
    return min(filed, key=lambda entry: partitions.index(entry.partition), default=None)


def _audience(hit: Neighbour | None) -> Audience:
    return hit.audience if hit is not None else Audience.PERSONAL
