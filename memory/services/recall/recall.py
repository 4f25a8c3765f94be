"""Recall: the validated episodes nearest to a goal, for one person in one channel."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import cast

from memory.model import (
    ASK,
    Audience,
    Episode,
    Exemplar,
    Lesson,
    Recollection,
    RuleLine,
    Scope,
    StageCounts,
    Vector,
    Verdict,
    Vote,
)
from memory.model.evidence import ActionText, Evidence, InfluentialLesson
from memory.model.upkeep import UpkeepPolicy
from memory.ports import LessonSummary, Neighbour, Neighbourhood, Transaction, WeighingInput
from memory.rules.audience import as_seen_from, nearest_entry, partitions_for
from memory.rules.chat_settings import KNOWN_ANSWERS, ON
from memory.rules.evidence.weighing import may_be_shown, most_influential
from memory.rules.retrieval.adapter import (
    DefaultRetriever,
    RetrievalInput,
    RetrievalOutput,
    ScoredMemory,
    get_retriever,
)
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.consensus import Backing, settle_disagreements, voice_of
from memory.rules.retrieval.pipeline import MemoryCandidate, overlap
from memory.rules.retrieval.similarity import unit_cosine, word_similarity
from memory.services.core import Core
from memory.services.embedders import merged
from memory.services.recall.by_words import nearest_by_words
from memory.services.recall.evidence import Weighing
from memory.services.recall.rules import rule_lines
from memory.services.recall.visible_corrections import as_seen_by, as_seen_in_public, corrections_for
from memory.services.settings.chat_settings import settable_of
from memory.services.verdicts.model_grading import guessed_exemplars


@dataclass(frozen=True, slots=True)
class Recalling:
    """The use case that recalls lessons for a goal."""

    _core: Core
    config: RetrievalConfig
    candidates: int
    """How many of the nearest episodes enter the pipeline."""
    guesses: bool = False
    """Whether the asker's own answers that only a model judged fill up the exemplars."""
    rule_from: int = UpkeepPolicy().rule_from
    """How many different goals with one lesson make a rule."""
    weighing: Weighing = field(kw_only=True)

    def recall(
        self,
        scope: Scope,
        goal: str,
        *,
        run_id: str = "",
        context: frozenset[str] = frozenset(),
        config: RetrievalConfig | None = None,
        actions: Sequence[ActionText] | None = None,
    ) -> Recollection:
        """The exemplars for a goal, best first, with the count after every stage and the goal's embedding.

        They are validated lessons of the asker's partitions. With `actions` (those the agent may choose) there is
        evidence, and the exemplars are its most influential lessons, including proposed ones it is sure of. Without, or
        with another retriever or a baseline config, the retriever chooses among lessons above the similarity gate. If
        the embedder fails, goals are compared by their words, without evidence.
        """
        recall = self.prepared(scope, goal, run_id=run_id, context=context, config=config, actions=actions)
        with self._core.store.read() as tx:
            return recall(tx)

    def prepared(
        self,
        scope: Scope,
        goal: str,
        *,
        run_id: str = "",
        context: frozenset[str] = frozenset(),
        config: RetrievalConfig | None = None,
        actions: Sequence[ActionText] | None = None,
    ) -> Callable[[Transaction], Recollection]:
        """`recall` as a function of a transaction. The goal is embedded at once, outside of the transaction."""
        vector = self._core.embedded(goal)
        other_vectors = {} if vector is None else self._core.other_embedders.embedded(scope.workspace, goal)
        situation = RetrievalInput(current_env=context, current_state_embedding=vector, goal=goal, scope=scope)
        asked = partial(self._recalled, scope, vector, other_vectors, situation)
        return partial(asked, run_id=run_id, config=config or self.config, actions=actions)

    def _recalled(
        self,
        scope: Scope,
        vector: Vector | None,
        other_vectors: Mapping[str, Vector],
        situation: RetrievalInput,
        tx: Transaction,
        *,
        run_id: str,
        config: RetrievalConfig,
        actions: Sequence[ActionText] | None,
    ) -> Recollection:
        search = _Search(core=self._core, tx=tx, scope=scope, other_vectors=other_vectors, candidates=self.candidates)
        default = DefaultRetriever(search, self.config)
        retriever, evidence, read, output = get_retriever(default), None, None, None
        if actions is not None and vector is not None:
            nearest = self.weighing.nearest(tx, scope, vector, actions, other_vectors)
            evidence, read = self.weighing.weigh_nearest(tx, scope, vector, nearest, actions, run_id=run_id)
            search.lessons = read.lessons
            if retriever is default and not config.is_baseline:
                output = search.most_influential(nearest, evidence, situation.current_env, config)
        if output is None:
            output = retriever.retrieve(scope.session_key, run_id, situation, config)
        found = search.exemplars(output.memories)
        expanded = search.with_corrections(found, config.max_per_author)
        exemplars = search.settled(expanded) if config.consensus else expanded
        has_rules = read is None or read.has_rules
        rules = search.rules(expanded, exemplars, self.rule_from) if has_rules else ()
        if self.guesses:
            exemplars += guessed_exemplars(
                tx, situation, config, model=self._core.embedder.name, run_id=run_id, taught=exemplars
            )
        counts = replace(
            output.debug,
            total_loaded=search.searched or output.debug.total_loaded,
            linked=len(expanded) - len(found),
        )
        return Recollection(
            retrieval_id=self._core.new_id(),
            goal=situation.goal,
            exemplars=exemplars,
            counts=counts,
            rules=rules,
            evidence=evidence,
            corrections=search.corrections,
            known_answers=self._known_answers(evidence, read),
            vector=vector,
        )

    def _known_answers(self, evidence: Evidence | None, read: WeighingInput | None) -> bool | None:
        """The channel's setting `KNOWN_ANSWERS`, if there is a known answer; None if there is none, or no setting."""
        best = evidence.best if evidence is not None and evidence.is_sure else None
        if best is None or read is None or not best.text:
            return None
        switch = settable_of(self._core, read.settings).get(KNOWN_ANSWERS)
        return switch.value == ON if switch else None

    def as_seen_by(self, scope: Scope, episodes: Sequence[Episode]) -> list[Episode]:
        """The episodes without corrections that are not approved in the partitions of this person."""
        with self._core.store.read() as tx:
            return as_seen_by(tx, scope, episodes)

    def as_seen_in_public(self, workspace: str, episodes: Sequence[Episode]) -> list[Episode]:
        """The episodes without corrections that not everybody in the workspace may read."""
        with self._core.store.read() as tx:
            return as_seen_in_public(tx, workspace, episodes)


@dataclass(kw_only=True)
class _Search:
    """One recall within its transaction: loads the candidates, and turns the chosen ones into exemplars.

    Searches only the asker's partitions. Keeps what it reads, so that no later step reads it again.
    """

    core: Core
    tx: Transaction
    scope: Scope
    other_vectors: Mapping[str, Vector]
    """The goal's embeddings by other models, by model name."""
    candidates: int
    searched: int = 0
    found: dict[str, Neighbour] = field(default_factory=dict[str, Neighbour])
    stored: Mapping[str, Episode] = field(default_factory=dict[str, Episode])
    """The found episodes by id, as stored."""
    approved: Sequence[Episode] = ()
    """Approved episodes among the exemplars, which may disagree with each other."""
    lessons: Mapping[str, LessonSummary] = field(default_factory=dict[str, LessonSummary])
    """Summaries of the weighed lessons, by id."""
    corrections: frozenset[tuple[str, str]] = frozenset()
    """Ids of visible corrections and the chosen mistakes that they correct."""
    influential: Mapping[str, InfluentialLesson] | None = None
    """Lessons that the evidence allows to show, by id; None if the evidence did not choose the exemplars."""

    def load(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[MemoryCandidate[Episode]]:
        """The nearest episodes as candidates, without archived ones, questions, and the current run's."""
        vector = situation.current_state_embedding
        if vector is None:
            nearest = nearest_by_words(self.tx, self.scope, situation.goal, config.min_intent, self.candidates)
        else:
            nearest = self._nearest(cast("Vector", vector), config.min_intent)  # set by `prepared`
        self.searched = nearest.searched
        self.found = {hit.episode_id: hit for hit in nearest.hits}
        self.stored = self.tx.episodes.get_many(self.scope.workspace, self.found)
        return [
            MemoryCandidate(
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
            if episode.archived_at is None and episode.run_id != current_run_id and episode.action != ASK
        ]

    def _nearest(self, vector: Vector, least: float) -> Neighbourhood:
        workspace, partitions, embedders = self.scope.workspace, partitions_for(self.scope), self.core.other_embedders
        model = self.core.embedder.name
        nearest = self.tx.episodes.nearest(workspace, partitions, model, vector, k=self.candidates, min_cosine=least)
        if not self.other_vectors:
            return nearest
        more = embedders.nearest(self.tx, workspace, partitions, self.other_vectors, vector, self.candidates, least)
        return merged(nearest, more, self.candidates)

    def exemplars(self, chosen: Sequence[ScoredMemory[Episode]]) -> tuple[Exemplar, ...]:
        """The chosen memories with a validated verdict as exemplars, each with the audience it was found through."""
        entries = {scored.memory.id: self.found.get(scored.memory.id) for scored in chosen}
        return tuple(
            self._weighed(
                Exemplar(
                    episode=as_seen_from(self.scope, scored.memory, scored.verdict),
                    verdict=scored.verdict,
                    audience=entry.audience if (entry := entries[scored.memory.id]) else Audience.PERSONAL,
                    is_proposed=entry is not None and not entry.verdict.is_validated,
                    context_score=scored.env_score,
                    intent_score=scored.int_score,
                    relevance=scored.score,
                    n_success=scored.n_success,
                    n_failure=scored.n_failure,
                )
            )
            for scored in chosen
            if scored.verdict.is_validated
        )

    def _weighed(self, exemplar: Exemplar) -> Exemplar:
        """The exemplar with its candidate's belief, if the evidence chose it."""
        influential = (self.influential or {}).get(exemplar.episode.id)
        if influential is None:
            return exemplar
        named = influential.action if influential.action != exemplar.episode.action else ""
        return replace(exemplar, belief=influential.belief, named_action=named)

    def most_influential(
        self, nearest: Neighbourhood, evidence: Evidence, context: frozenset[str], config: RetrievalConfig
    ) -> RetrievalOutput[Episode]:
        """The most influential lessons of the evidence, and the nearest lesson that split such a goal into parts."""
        named = [each.episode_id for each in evidence.influential] + [evidence.plan] * bool(evidence.plan)
        hits = {each: nearest.hit(nearest.ids.index(each)) for each in named}
        influential = [
            each
            for each in evidence.influential
            if may_be_shown(each, evidence, is_decided=hits[each.episode_id].verdict.is_validated)
        ]
        self.influential = {each.episode_id: each for each in influential}
        plan = hits.get(evidence.plan) if config.final_k else None
        plans = [plan.episode_id] if plan is not None and plan.cosine >= config.min_intent else []
        heaviest = most_influential(influential, config.final_k - len(plans))
        chosen = [*(each.episode_id for each in heaviest), *plans]
        self.found = {each: hits[each] for each in chosen}
        self.stored = self.tx.episodes.get_many(self.scope.workspace, chosen)
        memories = tuple(
            ScoredMemory(
                memory=self.stored[each],
                env_score=overlap(
                    frozenset(self.stored[each].context_before),
                    context,
                    weights=config.element_weights,
                    both_empty=config.empty_env_iou,
                ),
                int_score=hits[each].cosine,
                score=max(0.0, hits[each].cosine),
                verdict=hits[each].verdict if hits[each].verdict.is_validated else Verdict.SUCCESS,
            )
            for each in chosen
        )
        counts = StageCounts(
            total_loaded=nearest.searched,
            state_ranked=len(nearest.ids),
            gated=evidence.lessons,
            above_threshold=len(influential),
            deduped=len({each.candidate for each in influential}),
            selected=len(chosen),
        )
        return RetrievalOutput(memories=memories, debug=counts)

    def with_corrections(self, exemplars: tuple[Exemplar, ...], per_author: int | None) -> tuple[Exemplar, ...]:
        """The exemplars, each mistake followed by its corrections.

        A correction is added if the asker may see it, it is not chosen already, and no chosen lesson has the same
        candidate. If the evidence chose the exemplars, it must also allow the correction; if not, the correction's
        author must be the asker or have fewer than `per_author` lessons. A mistake names the newest of its corrections
        that passed these limits, else none.
        """
        by_author = Counter(e.episode.author for e in exemplars if e.lesson is Lesson.REPEAT)
        if all(exemplar.lesson is not Lesson.AVOID for exemplar in exemplars):
            return exemplars
        mistakes = [e.episode.id for e in exemplars if e.lesson is Lesson.AVOID and e.episode.correction]
        seen = corrections_for(self.tx, self.scope, mistakes, self.stored, self.lessons) if mistakes else {}
        self.corrections = frozenset((lesson.id, mistake) for mistake, by in seen.items() for lesson in by)
        chosen = {exemplar.episode.id for exemplar in exemplars}
        expanded: list[Exemplar] = []
        for exemplar in exemplars:
            lessons = []
            for lesson in seen.get(exemplar.episode.id, []):
                is_enough = per_author is not None and by_author[lesson.author] >= per_author
                is_welcome = lesson.id in chosen or lesson.author == self.scope.person or not is_enough
                if is_welcome if self.influential is None else lesson.id in self.influential:
                    by_author[lesson.author] += lesson.id not in chosen
                    lessons.append(lesson)
            if exemplar.lesson is Lesson.AVOID:
                text = lessons[-1].output if lessons else ""
                exemplar = replace(exemplar, episode=replace(exemplar.episode, correction=text))
            expanded.append(exemplar)
            for lesson in lessons:
                if lesson.id not in chosen and not self._is_covered(lesson.id, chosen):
                    chosen.add(lesson.id)
                    entry = nearest_entry(lesson, partitions_for(self.scope))
                    audience = entry.audience if entry else exemplar.audience
                    joined = replace(exemplar, episode=lesson, verdict=Verdict.SUCCESS, audience=audience)
                    expanded.append(self._weighed(joined))
        return tuple(expanded)

    def _is_covered(self, episode_id: str, chosen: Collection[str]) -> bool:
        """Whether a chosen lesson has the same candidate as this one."""
        influential = self.influential or {}
        candidates = {influential[each].candidate for each in chosen if each in influential}
        return episode_id in influential and influential[episode_id].candidate in candidates

    def settled(self, exemplars: tuple[Exemplar, ...]) -> tuple[Exemplar, ...]:
        """Settle or mark disagreements. Mistakes no longer name overruled or disputed corrections."""
        self.approved = [e.episode for e in exemplars if e.lesson is Lesson.REPEAT]
        if len({episode.signature for episode in self.approved}) < 2:
            return exemplars
        settled = settle_disagreements(exemplars, self._voice_of, self._similarity)
        confirmed = {e.episode.output for e in settled if e.lesson is Lesson.REPEAT}
        unsettled = {episode.output for episode in self.approved} - confirmed
        return tuple(
            replace(e, episode=replace(e.episode, correction=""))
            if e.lesson is Lesson.AVOID and e.episode.correction in unsettled
            else e
            for e in settled
        )

    def _voice_of(self, exemplar: Exemplar) -> Backing:
        return voice_of(exemplar, self._votes.get(exemplar.episode.run_id, ()), self.scope.person)

    def _similarity(self, one: Episode, other: Episode) -> float:
        """The cosine of their goals' embeddings, or their similarity by words without embeddings of one model."""
        first, second = self._vectors.get(one.id), self._vectors.get(other.id)
        if first is None or second is None or first[0] != second[0]:
            return word_similarity(one.goal, other.goal)
        return unit_cosine(first[1], second[1])

    # Read once for all lessons, and only if some disagree.

    @cached_property
    def _votes(self) -> dict[str, list[Vote]]:
        return self.tx.teaching.votes_of_runs(self.scope.workspace, {each.run_id for each in self.approved})

    @cached_property
    def _vectors(self) -> dict[str, tuple[str, Vector]]:
        """(model, vector) by episode id. The model is empty if all vectors come from the search."""
        known = {name: ("", hit.vector) for name, hit in self.found.items() if hit.vector is not None}
        if all(each.id in known for each in self.approved):
            return known
        return self.tx.episodes.vectors(self.scope.workspace, [each.id for each in self.approved])

    def rules(self, found: Sequence[Exemplar], settled: Sequence[Exemplar], at_least: int) -> tuple[RuleLine, ...]:
        """The rules behind the settled exemplars. Overruled and disputed lessons support no rule."""
        undisputed = {exemplar.episode.id for exemplar in settled if not exemplar.is_disputed}
        unsettled = {exemplar.episode.id for exemplar in found} - undisputed
        return rule_lines(self.tx, self.scope, settled, unsettled, at_least, self.stored) if undisputed else ()
