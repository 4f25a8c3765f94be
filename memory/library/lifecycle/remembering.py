"""Retrieves memories of a session's other runs for the present situation."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from memory.library.lifecycle.context import EpisodeContext, Seen, environment_state
from memory.library.lifecycle.entries import entries_of
from memory.library.lifecycle.persisting import embedded_texts
from memory.model import GradeSource, MemoryEntry, Outcome, StageCounts, Vector, Verdict
from memory.model.validation import require_embedding, require_instance, require_text
from memory.rules.retrieval.adapter import (
    DefaultRetriever,
    GivenMemories,
    Remembered,
    RetrievalInput,
    RetrievalOutput,
    action_signature,
    get_retriever,
)
from memory.rules.retrieval.config import RetrievalConfig

_VERDICT = {Outcome.SUCCESS: Verdict.SUCCESS, Outcome.FAILURE: Verdict.FAILURE, Outcome.PENDING: Verdict.PENDING}


def retrieve_memories(
    context: EpisodeContext,
    *,
    env: Seen = None,
    internal_state: str = "",
    internal_state_embedding: Sequence[float] | None = None,
    config: RetrievalConfig | Mapping[str, object] | None = None,
) -> RetrievalOutput[Any]:
    """The graded memories of the session's other runs that match what the agent sees and thinks, best first.

    Uses the retriever that was set, else the default pipeline. In an evaluation, the first repetition gets nothing, as
    the baseline. The default pipeline fills the rest of `final_k` with memories graded by a model (`graded_by`), unless
    a person has graded the same action. Raises `ValueError` for a setting outside its range.
    """
    require_instance(EpisodeContext, context, "the context of a run")
    settings = config if isinstance(config, RetrievalConfig) else RetrievalConfig().merged(config)
    vector = internal_state_embedding
    if vector is not None and len(vector):
        require_embedding(vector, "internal_state_embedding")
    require_text(internal_state, "internal_state")
    present = environment_state(env, "env")
    if context.run.is_evaluation and context.rep <= 1:
        return RetrievalOutput()
    memories = _offered(context)
    people = [each for each in memories if each.memory.graded_by is not GradeSource.MODEL]
    wanted: Sequence[float] | Vector | None = vector
    if wanted is None:
        wanted = embedded_texts(context.episodic, [internal_state]).get(internal_state)
    situation = RetrievalInput(
        current_env=frozenset(present.elements),
        current_state_embedding=wanted,
        goal=internal_state,
        scope=context.scope,
    )
    default = DefaultRetriever(GivenMemories(people))
    retriever = get_retriever(default)
    found = retriever.retrieve(context.session_id, context.run_id, situation, settings)
    graded = {each.signature for each in people if each.verdict.is_validated}
    guesses = [m for m in memories if m.memory.graded_by is GradeSource.MODEL and m.signature not in graded]
    return found if retriever is not default else _filled_up(found, guesses, context, situation, settings)


def _offered(context: EpisodeContext) -> list[Remembered[MemoryEntry]]:
    """The session's memories that may be retrieved: neither archived nor held back."""
    with context.episodic.memory.store.read() as tx:
        entries = entries_of(tx, context.episodic, context.session_id)
    return [
        _remembered(entry.memory)
        for entry in entries
        if entry.episode.archived_at is None and not entry.memory.quarantine
    ]


def _filled_up(
    found: RetrievalOutput[Any],
    guesses: Sequence[Remembered[MemoryEntry]],
    context: EpisodeContext,
    situation: RetrievalInput,
    settings: RetrievalConfig,
) -> RetrievalOutput[Any]:
    """What was found, with the best of these guesses in the places that are left of `final_k`."""
    left = settings.final_k - len(found.memories)
    if left <= 0 or not guesses:
        return found
    more = DefaultRetriever(GivenMemories(guesses)).retrieve(
        context.session_id, context.run_id, situation, replace(settings, final_k=left)
    )
    return RetrievalOutput(memories=(*found.memories, *more.memories), debug=_sum(found.debug, more.debug))


def _remembered(entry: MemoryEntry) -> Remembered[MemoryEntry]:
    call = entry.call
    return Remembered(
        memory=entry,
        id=entry.id,
        session_id=entry.session_id,
        run_id=entry.run_id,
        elements=frozenset(entry.env_pre.elements),
        embedding=entry.internal_state_embedding or None,
        verdict=_VERDICT[entry.outcome],
        created_at=entry.created_at,
        graded_at=entry.graded_at,
        signature=action_signature(
            call.type, element_text=entry.action_element_text, target=call.target, value=call.value
        ),
    )


def _sum(one: StageCounts, other: StageCounts) -> StageCounts:
    others = asdict(other)
    counts: dict[str, Any] = {name: count + others[name] for name, count in asdict(one).items()}
    return StageCounts(**counts | {"env_fallback": one.env_fallback or other.env_fallback})
