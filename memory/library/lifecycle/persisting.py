"""Steps that were noted become memories: an episode each, under one for the whole run (seed 001, `persistMemories`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import EmbeddingFailed
from memory.library.episodic import EpisodicMemory
from memory.library.lifecycle.context import (
    EpisodeContext,
    PendingStep,
    Seen,
    pending_steps,
    put_pending,
    run_of,
    seen,
)
from memory.library.lifecycle.entries import entries_of
from memory.library.lifecycle.redacting import clean_environment
from memory.model import (
    ActionCall,
    EnvironmentState,
    Episode,
    EventKind,
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
from memory.model.validation import one_of
from memory.ports import Transaction
from memory.rules.fold import facts
from memory.rules.quarantine import flags_of
from memory.services.core import event
from memory.services.quarantine_actions import hold_back

_PATH = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStep:
    """A step on its way into the store."""

    step_id: str
    step_num: int
    number: int
    rep: int
    action: str
    element_text: str
    internal_state: str
    think: str
    embedding: tuple[float, ...]
    env_pre: EnvironmentState
    env_post: EnvironmentState
    created_at: datetime


def persist_memories(context: EpisodeContext, *, env_post: Seen = None) -> list[MemoryEntry]:
    """Make pending memories of the steps noted so far and return them; a second call finds nothing left to do.

    What a step led to is what was given for it, else what the next one began with; for the last one `env_post`.
    One transaction: after a crash either all of them are stored or all are still noted.
    """
    episodic = one_of(EpisodeContext, context, "the context of a run").episodic
    store = episodic.memory.store
    last = clean_environment(episodic.memory.core.redactor, seen(env_post, "env_post"))
    with store.read() as tx:
        noted = pending_steps(tx, context)
    vectors = embedded(episodic, [context.run.task, *(step.internal_state for step in noted)]) if noted else {}
    with store.write() as tx:
        pending = pending_steps(tx, context)
        if not pending:
            return []
        known = tx.steps.of_session(context.run.workspace, context.run.person, context.run.session_id)
        first = 1 + max((step.number for step in known), default=0)
        run = run_of(tx, context.run) or context.run
        steps = [_new(step, first + place, run.rep, _after(pending, place, last)) for place, step in enumerate(pending)]
        store_steps(tx, episodic, run, steps, vectors)
        put_pending(tx, context, [])
        numbers = {step.number for step in steps}
        return [e.memory for e in entries_of(tx, episodic, context.session_id) if e.memory.id in numbers]


def _after(pending: Sequence[PendingStep], place: int, last: EnvironmentState) -> EnvironmentState:
    known = pending[place].env_post
    if known is not None:
        return known
    return pending[place + 1].env_pre if place + 1 < len(pending) else last


def _new(step: PendingStep, number: int, rep: int, env_post: EnvironmentState) -> NewStep:
    return NewStep(
        step_id=step.step_id,
        step_num=step.step_num,
        number=number,
        rep=rep,
        action=step.action,
        element_text=step.action_element_text,
        internal_state=step.internal_state,
        think=step.think,
        embedding=step.embedding,
        env_pre=step.env_pre,
        env_post=env_post,
        created_at=step.created_at,
    )


def embedded(episodic: EpisodicMemory, texts: Sequence[str]) -> dict[str, Vector]:
    """A vector for each text that says something; none at all while the embedder fails."""
    wanted = list(dict.fromkeys(text for text in texts if text.strip()))
    if not wanted:
        return {}
    try:
        return dict(zip(wanted, episodic.memory.embedder.embed(wanted), strict=True))
    except EmbeddingFailed:
        return {}


def store_steps(
    tx: Transaction, episodic: EpisodicMemory, run: SessionRun, steps: Sequence[NewStep], vectors: Mapping[str, Vector]
) -> dict[int, Episode]:
    """Store steps as pending episodes under the run's root; returns them by number."""
    root = _root(tx, episodic, run, steps, vectors)
    stored: dict[int, Episode] = {}
    for step in steps:
        episode = _episode(episodic, run, root, step)
        _put(tx, episodic, episode, vectors.get(step.internal_state))
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
                number=step.number,
                step_id=step.step_id,
                action=step.action,
                element_text=step.element_text,
                internal_state=step.internal_state,
                env_pre=step.env_pre,
                env_post=step.env_post,
                embedding=step.embedding,
            )
        )
        stored[step.number] = episode
    return stored


def _put(tx: Transaction, episodic: EpisodicMemory, episode: Episode, vector: Vector | None) -> None:
    tx.episodes.put(episode)
    tx.log.append(event(episode, EventKind.CREATED, episode.author, episode.created_at))
    hold_back(tx, episode, flags_of(episode), episode.created_at)
    if vector is not None:
        tx.episodes.put_vector(episode.workspace, episode.id, episodic.memory.embedder.name, vector)


def _root(
    tx: Transaction, episodic: EpisodicMemory, run: SessionRun, steps: Sequence[NewStep], vectors: Mapping[str, Vector]
) -> Episode:
    """The episode for the whole run, with these steps added to what it was split into."""
    done = tuple(f"{call.type}: {step.element_text or call.target}" for step in steps for call in [_call(step)])
    known = tx.episodes.get(run.workspace, run.root_id) if run.root_id else None
    if known is not None:
        before = known.trajectory[0].subgoals if known.trajectory else ()
        grown = replace(known, trajectory=(_split(before + done),), context_after=steps[-1].env_post.elements)
        tx.episodes.put(grown)
        return grown
    root = facts(
        replace(
            _blank(episodic, run),
            id=episodic.memory.new_id(),
            goal=run.task or run.session_id,
            step_number=0,
            action="expand",
            action_target=run.task or run.session_id,
            flow="sequence",
            termination=Termination.EXPAND,
            context_before=steps[0].env_pre.elements,
            context_after=steps[-1].env_post.elements,
            trajectory=(_split(done),),
            created_at=run.started_at,
        )
    )
    _put(tx, episodic, root, vectors.get(run.task))
    tx.steps.put_run(replace(run, root_id=root.id))
    return root


def _split(actions: tuple[str, ...]) -> Step:
    return Step(kind=StepKind.EXPAND, flow="sequence", subgoals=actions)


def _call(step: NewStep) -> ActionCall:
    return ActionCall.parse(step.action)


def _blank(episodic: EpisodicMemory, run: SessionRun) -> Episode:
    scope = episodic.scope
    return Episode(
        goal="",
        run_id=run.node_run,
        rep=run.rep,
        workspace=scope.workspace,
        channel=scope.channel,
        thread=scope.thread,
        person=scope.person,
        author=scope.person,
        visibility=scope.visibility,
    )


def _episode(episodic: EpisodicMemory, run: SessionRun, root: Episode, step: NewStep) -> Episode:
    call = _call(step)
    arguments: dict[str, object] = {"target": call.target}
    if call.value:
        arguments["value"] = call.value
    return facts(
        replace(
            _blank(episodic, run),
            id=episodic.memory.new_id(),
            parent_id=root.id,
            node_path=f"{_PATH}.{step.step_num - 1}",
            step_number=step.step_num,
            rep=step.rep,
            goal=step.internal_state.strip() or step.action,
            place=step.env_pre.place,
            context_before=step.env_pre.elements,
            context_after=step.env_post.elements,
            thoughts=step.think,
            action=call.type,
            action_target=step.element_text or call.target,
            output=call.value,
            trajectory=(Step(kind=StepKind.ACT, text=step.action, tool=call.type, arguments=arguments),),
            created_at=step.created_at,
        )
    )
