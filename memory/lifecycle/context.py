"""One run of a session: begin or resume it, and note each step as it starts (seed 001, `initEpisode`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

from memory.episodic import EpisodicMemory, EpisodicMemoryConfig
from memory.errors import Conflict, InvalidInput
from memory.lifecycle.redacting import clean_environment
from memory.model import EnvironmentState, Scope, SessionRun, ShortMemory
from memory.ports import Transaction

PENDING_KIND = "pending_steps"
PENDING_LIFE = timedelta(days=30)
"""How long steps that were never persisted are kept."""

Seen = EnvironmentState | Mapping[str, object] | Iterable[str] | None
"""What an agent saw: an `EnvironmentState`, a mapping with `elements` and `url`, or the elements alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeContext:
    """The run that is going on. Every call of the lifecycle takes it; it holds no state of its own."""

    episodic: EpisodicMemory
    run: SessionRun

    @property
    def session_id(self) -> str:
        """The session: all repetitions of one task by one person."""
        return self.run.session_id

    @property
    def run_id(self) -> str:
        """The run: one repetition of the task."""
        return self.run.run_id

    @property
    def rep(self) -> int:
        """Which repetition it is, from 1."""
        return self.run.rep

    @property
    def scope(self) -> Scope:
        """Whose memory it is."""
        return self.episodic.scope


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingStep:
    """A step that was noted and is not persisted yet."""

    step_id: str
    step_num: int
    action: str
    action_element_text: str
    internal_state: str
    think: str
    embedding: tuple[float, ...]
    env_pre: EnvironmentState
    env_post: EnvironmentState | None
    created_at: datetime


@cache
def default_episodic() -> EpisodicMemory:
    """The memory of a process that names none: in this process, for one user, gone at its end."""
    return EpisodicMemoryConfig().new_episodic_memory()


def init_episode(
    session_id: str,
    run_id: str = "",
    *,
    episodic: EpisodicMemory | None = None,
    task: str = "",
    rep: int | None = None,
    evaluation: bool = False,
) -> EpisodeContext:
    """Begin a run of a session, or resume the one with this id.

    `rep` is 1 + the number of runs the session had before, unless it is given. In an `evaluation`, the first repetition
    runs without memories, as the baseline. A resumed run keeps the number, task and kind it began with. Sessions belong
    to the person whose memory it is: equal ids of two people never meet.
    Raises `InvalidInput` without a session id, or for a repetition below 1.
    """
    if not session_id.strip():
        raise InvalidInput("a session needs an id that names the task it repeats")
    if rep is not None and rep < 1:
        raise InvalidInput(f"repetitions are counted from 1, got {rep}")
    memory = episodic or default_episodic()
    scope, service = memory.scope, memory.memory
    with service.store.write() as tx:
        known = tx.steps.run(scope.workspace, scope.person, session_id, run_id) if run_id else None
        if known is not None:
            return EpisodeContext(episodic=memory, run=known)
        run = SessionRun(
            workspace=scope.workspace,
            person=scope.person,
            session_id=session_id,
            run_id=run_id or service.new_id(),
            node_run=service.new_id(),
            rep=rep or 1 + len(tx.steps.runs(scope.workspace, scope.person, session_id)),
            task=service.core.redactor.text(task),
            is_evaluation=evaluation,
            started_at=service.clock(),
        )
        tx.steps.put_run(run)
    return EpisodeContext(episodic=memory, run=run)


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
    """Note an action with what the agent sees and thinks; returns the step's id. Kept until it is persisted.

    What it sees afterwards (`env_post`) is usually not known yet: `record_step_end` adds it, else it is what the next
    step begins with. The same step id again, before it is persisted, replaces the note.
    Raises `InvalidInput` without an action, and `Conflict` for a step that is persisted or a number that is taken.
    """
    if not action.strip():
        raise InvalidInput("a step needs an action, for example click('42')")
    if step_num is not None and step_num < 1:
        raise InvalidInput(f"steps are counted from 1, got {step_num}")
    service = context.episodic.memory
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
            embedding=tuple(float(number) for number in internal_state_embedding),
            env_pre=clean_environment(redactor, EnvironmentState.of(env_pre)),
            env_post=None if env_post is None else clean_environment(redactor, EnvironmentState.of(env_post)),
            created_at=known.created_at if known else service.clock(),
        )
        _require_free(tx, context, step, others)
        put_pending(tx, context, sorted([*others, step], key=lambda each: each.step_num))
    return step.step_id


def record_step_end(context: EpisodeContext, step_id: str, env_post: Seen) -> bool:
    """Add what the agent saw after a step that is not persisted yet. False if there is no such step."""
    service = context.episodic.memory
    with service.store.write() as tx:
        pending = pending_steps(tx, context)
        if all(step.step_id != step_id for step in pending):
            return False
        after = clean_environment(service.core.redactor, EnvironmentState.of(env_post))
        put_pending(tx, context, [replace(s, env_post=after) if s.step_id == step_id else s for s in pending])
    return True


def _last_number(tx: Transaction, context: EpisodeContext, pending: Sequence[PendingStep]) -> int:
    stored = [node.step_number for node in tx.episodes.of_run(context.run.workspace, context.run.node_run)]
    return max([0, *stored, *(step.step_num for step in pending)])


def _require_free(tx: Transaction, context: EpisodeContext, step: PendingStep, others: Sequence[PendingStep]) -> None:
    run = context.run
    stored = {
        s.step_id for s in tx.steps.of_session(run.workspace, run.person, run.session_id) if s.run_id == run.run_id
    }
    if step.step_id in stored:
        raise Conflict(f"step {step.step_id} of run {run.run_id} is persisted already; give the next one its own id")
    taken = {node.step_number for node in tx.episodes.of_run(run.workspace, run.node_run)}
    if step.step_num in taken or any(other.step_num == step.step_num for other in others):
        raise Conflict(f"run {run.run_id} has a step number {step.step_num} already; leave it out to get the next one")


def pending_steps(tx: Transaction, context: EpisodeContext) -> list[PendingStep]:
    """The run's steps that are not persisted yet, in order."""
    now = context.episodic.memory.clock()
    entry = tx.short.get(context.run.workspace, PENDING_KIND, context.run.node_run, now)
    notes = entry.value.get("steps") if entry else None
    return [_from_json(note) for note in notes] if isinstance(notes, list) else []


def put_pending(tx: Transaction, context: EpisodeContext, steps: Sequence[PendingStep]) -> None:
    """Replace the run's steps that are not persisted yet."""
    run, now = context.run, context.episodic.memory.clock()
    tx.short.put(
        ShortMemory(
            workspace=run.workspace,
            kind=PENDING_KIND,
            key=run.node_run,
            value={"steps": [_to_json(step) for step in steps]},
            person=run.person,
            created_at=now,
            expires_at=now + PENDING_LIFE,
        )
    )


def _to_json(step: PendingStep) -> dict[str, object]:
    return {
        "step_id": step.step_id,
        "step_num": step.step_num,
        "action": step.action,
        "action_element_text": step.action_element_text,
        "internal_state": step.internal_state,
        "think": step.think,
        "embedding": list(step.embedding),
        "env_pre": _environment(step.env_pre),
        "env_post": None if step.env_post is None else _environment(step.env_post),
        "created_at": step.created_at.isoformat(),
    }


def _environment(environment: EnvironmentState) -> dict[str, object]:
    return {"elements": list(environment.elements), "url": environment.url, "details": dict(environment.details)}


def _from_json(note: dict[str, object]) -> PendingStep:
    after = note["env_post"]
    embedding = note["embedding"]
    return PendingStep(
        step_id=str(note["step_id"]),
        step_num=int(str(note["step_num"])),
        action=str(note["action"]),
        action_element_text=str(note["action_element_text"]),
        internal_state=str(note["internal_state"]),
        think=str(note["think"]),
        embedding=tuple(embedding) if isinstance(embedding, list) else (),
        env_pre=EnvironmentState(**note["env_pre"]),  # type: ignore[arg-type]  # as `_environment` wrote it
        env_post=None if after is None else EnvironmentState(**after),  # type: ignore[arg-type]  # the same
        created_at=datetime.fromisoformat(str(note["created_at"])),
    )
