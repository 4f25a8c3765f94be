"""Makes episodes of noted steps, under a root episode of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory.errors import EmbeddingFailed
from memory.library.episodic import EpisodicMemory, keep_new
from memory.library.lifecycle.context import (
    EpisodeContext,
    PendingStep,
    Seen,
    environment_state,
    known_run,
    pending_steps,
    put_pending,
)
from memory.library.lifecycle.entries import entries_of
from memory.library.lifecycle.redacting import clean_environment
from memory.model import (
    ActionCall,
    EnvironmentState,
    Episode,
    Link,
    LinkKind,
    MemoryEntry,
    SessionRun,
    Step,
    StepKind,
    StoredStep,
    Termination,
    Vector,
)
from memory.model.validation import require_instance
from memory.ports import Transaction
from memory.rules.fold import unjudged
from memory.services.verdicts.verdicts import settle_joined


def persist_memories(context: EpisodeContext, *, env_post: Seen = None) -> list[MemoryEntry]:
    """Store the noted steps as pending memories, and return these. A second call does nothing.

    The environment after a step is the one given for it, else the next step's `env_pre`, or `env_post` for the last
    step. One transaction: after a crash, either all steps are stored or all are still noted.
    """
    episodic = require_instance(EpisodeContext, context, "the context of a run").episodic
    store = episodic.memory.store
    last = clean_environment(episodic.memory.core.redactor, environment_state(env_post, "env_post"))
    with store.read() as tx:
        noted = pending_steps(tx, context)
    vectors = embedded_texts(episodic, [context.run.task, *(step.internal_state for step in noted)]) if noted else {}
    with store.write() as tx:
        pending = pending_steps(tx, context)
        if not pending:
            return []
        known = tx.steps.of_session(context.run.workspace, context.run.person, context.run.session_id)
        first = 1 + max((step.number for step in known), default=0)
        run = known_run(tx, context.scope, context.session_id, context.run_id) or context.run
        afters = [*(step.env_pre for step in pending[1:]), last]
        steps = {
            number: replace(step, env_post=step.env_post or after)
            for number, (step, after) in enumerate(zip(pending, afters, strict=True), start=first)
        }
        store_steps(tx, episodic, run, steps, vectors, rep=run.rep)
        put_pending(tx, context, [])
        return [e.memory for e in entries_of(tx, episodic, context.session_id) if e.memory.id in steps]


def embedded_texts(episodic: EpisodicMemory, texts: Sequence[str]) -> dict[str, Vector]:
    """The vectors of texts that are not blank; empty if the embedder fails."""
    wanted = list(dict.fromkeys(text for text in texts if text.strip()))
    if not wanted:
        return {}
    try:
        return dict(zip(wanted, episodic.memory.embedder.embed(wanted), strict=True))
    except EmbeddingFailed:
        return {}


def store_steps(
    tx: Transaction,
    episodic: EpisodicMemory,
    run: SessionRun,
    steps: Mapping[int, PendingStep],
    vectors: Mapping[str, Vector],
    *,
    rep: int,
) -> dict[int, Episode]:
    """Store steps, given by number, as pending episodes under the run's root; returns the episodes by number."""
    root = _root(tx, episodic, run, list(steps.values()), vectors)
    stored: dict[int, Episode] = {}
    for number, step in steps.items():
        episode = _episode(episodic, run, root, step, rep)
        tx.episodes.put(episode)
        keep_new(tx, episodic.memory, episode, vectors.get(step.internal_state))
        link = Link(
            workspace=run.workspace, from_id=episode.id, to_id=root.id, kind=LinkKind.SUBGOAL_OF, at=step.created_at
        )
        tx.episodes.add_link(link)
        tx.steps.put(
            StoredStep(
                workspace=run.workspace,
                episode_id=episode.id,
                person=run.person,
                session_id=run.session_id,
                run_id=run.run_id,
                number=number,
                step_id=step.step_id,
                action=step.action,
                element_text=step.action_element_text,
                internal_state=step.internal_state,
                env_pre=step.env_pre,
                env_post=step.env_post or EnvironmentState(),
                embedding=step.embedding,
            )
        )
        stored[number] = episode
    settle_joined(episodic.memory.core, tx, run.workspace, run.node_run, run.person)
    return stored


def _root(
    tx: Transaction,
    episodic: EpisodicMemory,
    run: SessionRun,
    steps: Sequence[PendingStep],
    vectors: Mapping[str, Vector],
) -> Episode:
    """The run's root episode, stored with these steps added to its subgoals."""
    calls = [(ActionCall.parse(step.action), step.action_element_text) for step in steps]
    done = tuple(f"{call.type}: {element or call.target}" for call, element in calls)
    after = _elements(steps[-1].env_post)
    known = tx.episodes.get(run.workspace, run.root_id) if run.root_id else None
    if known is not None:
        before = known.trajectory[0].subgoals if known.trajectory else ()
        grown = replace(known, trajectory=(_split(before + done),), context_after=after)
        tx.episodes.put(grown)
        return grown
    root = unjudged(
        replace(
            _blank(episodic, run),
            goal=run.task or run.session_id,
            step_number=0,
            action="expand",
            action_target=run.task or run.session_id,
            flow="sequence",
            termination=Termination.EXPAND,
            context_before=steps[0].env_pre.elements,
            context_after=after,
            trajectory=(_split(done),),
            created_at=run.started_at,
        )
    )
    tx.episodes.put(root)
    keep_new(tx, episodic.memory, root, vectors.get(run.task))
    tx.steps.put_run(replace(run, root_id=root.id))
    return root


def _split(actions: tuple[str, ...]) -> Step:
    return Step(kind=StepKind.EXPAND, flow="sequence", subgoals=actions)


def _elements(seen: EnvironmentState | None) -> tuple[str, ...]:
    return seen.elements if seen is not None else ()


def _blank(episodic: EpisodicMemory, run: SessionRun) -> Episode:
    scope = episodic.scope
    return Episode(
        goal="",
        id=episodic.memory.new_id(),
        run_id=run.node_run,
        rep=run.rep,
        workspace=scope.workspace,
        channel=scope.channel,
        thread=scope.thread,
        person=scope.person,
        author=scope.person,
        visibility=scope.visibility,
    )


def _episode(episodic: EpisodicMemory, run: SessionRun, root: Episode, step: PendingStep, rep: int) -> Episode:
    call = ActionCall.parse(step.action)
    arguments = {"target": call.target} | ({"value": call.value} if call.value else {})
    return unjudged(
        replace(
            _blank(episodic, run),
            parent_id=root.id,
            node_path=f"{root.node_path}.{step.step_num - 1}",
            step_number=step.step_num,
            rep=rep,
            goal=step.internal_state.strip() or step.action,
            place=step.env_pre.place,
            context_before=step.env_pre.elements,
            context_after=_elements(step.env_post),
            thoughts=step.think,
            action=call.type,
            action_target=step.action_element_text or call.target,
            output=call.value,
            trajectory=(Step(kind=StepKind.ACT, text=step.action, tool=call.type, arguments=arguments),),
            created_at=step.created_at,
        )
    )
