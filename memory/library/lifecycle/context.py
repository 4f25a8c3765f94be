"""Begins or resumes a run of a session, and notes its steps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import quote

from pydantic import TypeAdapter

from memory.errors import Conflict, InvalidInput
from memory.library.episodic import EpisodicMemory, EpisodicMemoryConfig, keep_for_a_while
from memory.library.lifecycle.redacting import clean_environment
from memory.model import Audience, EnvironmentState, Scope, SessionRun, Visibility
from memory.model.validation import (
    require_bool,
    require_embedding,
    require_from_one,
    require_instance,
    require_json,
    require_text,
)
from memory.ports import Transaction
from memory.rules.audience import partition_of

PENDING_KIND = "pending_steps"
PENDING_LIFE = timedelta(days=30)
"""How long noted steps are kept if they are not persisted."""

Seen = EnvironmentState | Mapping[str, object] | Iterable[str] | None
"""An environment as agents give it: an `EnvironmentState`, a mapping with `elements` and `url`, or only elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeContext:
    """The current run, for all calls of the lifecycle. It has no state of its own.

    Raises `InvalidInput` for the run of another person or place.
    """

    episodic: EpisodicMemory
    run: SessionRun

    def __post_init__(self) -> None:
        scope = require_instance(EpisodicMemory, self.episodic, "the memory of a run").scope
        run = require_instance(SessionRun, self.run, "the run of a context")
        if (run.workspace, run.person, run.partition) != (scope.workspace, scope.person, place_of(scope)):
            raise InvalidInput("the run was begun by somebody else or elsewhere; begin one here with init_episode()")

    @property
    def session_id(self) -> str:
        """The id of the session: all repetitions of one task by one person."""
        return self.run.session_id

    @property
    def run_id(self) -> str:
        """The id of the run: one repetition of the task."""
        return self.run.run_id

    @property
    def rep(self) -> int:
        """The number of the repetition, from 1."""
        return self.run.rep

    @property
    def scope(self) -> Scope:
        """The memory's scope."""
        return self.episodic.scope


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingStep:
    """A noted step that is not persisted yet."""

    step_id: str
    step_num: int
    action: str
    action_element_text: str
    internal_state: str
    think: str
    embedding: tuple[float, ...]
    env_pre: EnvironmentState
    env_post: EnvironmentState | None
    """None if it is not known yet."""
    created_at: datetime


_PENDING = TypeAdapter(list[PendingStep])


def place_of(scope: Scope) -> str:
    """The partition of runs begun in this scope: of one person in one channel with one visibility.

    A run has one audience, by its channel, so no run spans two channels, even public ones.
    """
    own = partition_of(scope, Audience.PERSONAL)
    return f"{own}/in/{quote(scope.channel, safe='')}/public" if scope.visibility is Visibility.PUBLIC else own


def known_run(tx: Transaction, scope: Scope, session_id: str, run_id: str) -> SessionRun | None:
    """The run with this id that was begun in this scope, or None."""
    return tx.steps.run(scope.workspace, scope.person, place_of(scope), session_id, run_id)


@cache
def default_episodic() -> EpisodicMemory:
    """The default memory: in this process's memory, for one user."""
    return EpisodicMemoryConfig().new_episodic_memory()


def memory_or_default(episodic: EpisodicMemory | None) -> EpisodicMemory:
    """The given memory, else the default one. Raises `InvalidInput` for other types."""
    return default_episodic() if episodic is None else require_instance(EpisodicMemory, episodic, "episodic")


def init_episode(
    session_id: str,
    run_id: str = "",
    *,
    episodic: EpisodicMemory | None = None,
    task: str = "",
    rep: int | None = None,
    evaluation: bool = False,
) -> EpisodeContext:
    """Begin a run of a session, or resume the run with this id.

    `rep` defaults to 1 + the number of the session's runs. In an `evaluation`, the first repetition runs without
    memories, as the baseline. A resumed run keeps its number, task and `evaluation`. Sessions belong to the memory's
    person, so equal ids of two people are different sessions. A run belongs to its channel and the channel's
    visibility; elsewhere, or after a change, its id begins another run of the session.
    Raises `InvalidInput` without a session id, or for a repetition below 1.
    """
    if not require_text(session_id, "session_id").strip():
        raise InvalidInput("a session needs an id that names the task it repeats")
    require_text(run_id, "run_id")
    require_text(task, "task")
    require_bool(evaluation, "evaluation")
    if rep is not None:
        require_from_one(rep, "repetitions")
    memory = memory_or_default(episodic)
    scope, service = memory.scope, memory.memory
    with service.store.write() as tx:
        known = known_run(tx, scope, session_id, run_id) if run_id else None
        if known is not None:
            tx.steps.put_run(known)
            return EpisodeContext(episodic=memory, run=known)
        before = {each.node_run for each in tx.steps.runs(scope.workspace, scope.person, session_id)}
        run = new_run(memory, session_id, run_id or service.new_id(), rep or 1 + len(before), service.clock())
        run = replace(run, task=service.core.redactor.text(task), is_evaluation=evaluation)
        tx.steps.put_run(run)
    return EpisodeContext(episodic=memory, run=run)


def new_run(episodic: EpisodicMemory, session_id: str, run_id: str, rep: int, started_at: datetime) -> SessionRun:
    """A new run in this scope, not stored yet."""
    return SessionRun(
        workspace=episodic.scope.workspace,
        person=episodic.scope.person,
        partition=place_of(episodic.scope),
        session_id=session_id,
        run_id=run_id,
        node_run=episodic.memory.new_id(),
        rep=rep,
        started_at=started_at,
    )


def record_step_start(
    context: EpisodeContext,
    action: str,
    *,
    env_pre: Seen = None,
    internal_state: str = "",
    think: str = "",
    action_element_text: str = "",
    internal_state_embedding: Sequence[float] = (),
    env_post: Seen = None,
    step_id: str = "",
    step_num: int | None = None,
) -> str:
    """Note an action with what the agent sees and thinks; returns the step's id.

    `env_post`, the environment after the action, is usually not known yet: `record_step_end` adds it, else it is the
    next step's `env_pre`. The same step id replaces a noted step. Raises `InvalidInput` without an action, and
    `Conflict` for a step that is persisted already or a number that is taken.
    """
    service = require_instance(EpisodeContext, context, "the context of a step").episodic.memory
    if not require_text(action, "action").strip():
        raise InvalidInput("a step needs an action, for example click('42')")
    texts = {"internal_state": internal_state, "think": think, "action_element_text": action_element_text}
    for name, value in {**texts, "step_id": step_id}.items():
        require_text(value, name)
    if step_num is not None:
        require_from_one(step_num, "steps")
    vector = (
        require_embedding(internal_state_embedding, "internal_state_embedding") if len(internal_state_embedding) else ()
    )
    before, after = (
        environment_state(env_pre, "env_pre"),
        None if env_post is None else environment_state(env_post, "env_post"),
    )
    redactor = service.core.redactor
    with service.store.write() as tx:
        pending = pending_steps(tx, context)
        known = next((step for step in pending if step_id and step.step_id == step_id), None)
        others = [step for step in pending if step is not known]
        number = step_num or (known.step_num if known else 1 + _last_number(tx, context, pending))
        step = PendingStep(
            step_id=step_id or service.new_id(),
            step_num=number,
            action=redactor.text(action),
            action_element_text=redactor.text(action_element_text),
            internal_state=redactor.text(internal_state),
            think=redactor.text(think),
            embedding=vector,
            env_pre=clean_environment(redactor, before),
            env_post=None if after is None else clean_environment(redactor, after),
            created_at=known.created_at if known else service.clock(),
        )
        _require_free(tx, context, step, others)
        put_pending(tx, context, sorted([*others, step], key=lambda each: each.step_num))
    return step.step_id


def record_step_end(context: EpisodeContext, step_id: str, env_post: Seen) -> bool:
    """Add the environment after a noted step. False if there is no such step, or it is persisted already."""
    service = require_instance(EpisodeContext, context, "the context of a step").episodic.memory
    after = clean_environment(service.core.redactor, environment_state(env_post, "env_post"))
    with service.store.write() as tx:
        pending = pending_steps(tx, context)
        if all(step.step_id != step_id for step in pending):
            return False
        put_pending(tx, context, [replace(s, env_post=after) if s.step_id == step_id else s for s in pending])
    return True


def environment_state(given: Seen, name: str) -> EnvironmentState:
    """An environment as an `EnvironmentState`.

    Raises `TypeError` for elements that are no list of texts, and `InvalidInput` for details that are no JSON.
    """
    state = EnvironmentState.of(given)
    require_json(state.details, f"what else is in {name}")
    return state


def _last_number(tx: Transaction, context: EpisodeContext, pending: Sequence[PendingStep]) -> int:
    stored = [node.step_number for node in tx.episodes.of_run(context.run.workspace, context.run.node_run)]
    return max([0, *stored, *(step.step_num for step in pending)])


def _require_free(tx: Transaction, context: EpisodeContext, step: PendingStep, others: Sequence[PendingStep]) -> None:
    run = context.run
    nodes = tx.episodes.of_run(run.workspace, run.node_run)
    own = {node.id for node in nodes}
    every = tx.steps.of_session(run.workspace, run.person, run.session_id)
    if any(each.step_id == step.step_id for each in every if each.episode_id in own):
        raise Conflict(f"step {step.step_id} of run {run.run_id} is persisted already; give the next one its own id")
    taken = {node.step_number for node in nodes}
    if step.step_num in taken or any(other.step_num == step.step_num for other in others):
        raise Conflict(f"run {run.run_id} has a step number {step.step_num} already; leave it out to get the next one")


def pending_steps(tx: Transaction, context: EpisodeContext) -> list[PendingStep]:
    """The run's noted steps, in order."""
    now = context.episodic.memory.clock()
    entry = tx.short.get(context.run.workspace, PENDING_KIND, context.run.node_run, now)
    return _PENDING.validate_python(entry.value["steps"]) if entry else []


def put_pending(tx: Transaction, context: EpisodeContext, steps: Sequence[PendingStep]) -> None:
    """Replace the run's noted steps."""
    kept = {"steps": _PENDING.dump_python(list(steps), mode="json")}
    keep_for_a_while(tx, context.episodic, PENDING_KIND, context.run.node_run, kept, PENDING_LIFE)
