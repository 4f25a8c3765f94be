"""Reads memory entries: steps with their episodes and grades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.library.episodic import EpisodicMemory
from memory.library.lifecycle.context import memory_or_default
from memory.model import Episode, Grade, GradeSource, MemoryEntry, Outcome, StoredStep, Vector, Verdict
from memory.model.validation import require_text
from memory.ports import Transaction
from memory.rules.audience import may_read

_OF_VERDICT = {Verdict.SUCCESS: Outcome.SUCCESS, Verdict.FAILURE: Outcome.FAILURE}


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEntry:
    """An entry with its episode."""

    memory: MemoryEntry
    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJudgement:
    """The outcome of a step's grades and votes."""

    outcome: Outcome = Outcome.PENDING
    reason: str = ""
    correction: str = ""
    by: GradeSource | None = None
    at: datetime | None = None


def judgement(episode: Episode, grades: Sequence[Grade]) -> StepJudgement:
    """The outcome for the asker: by people's votes, or a model's guess if no person judged.

    Reason and correction are those of the latest grade by a person that agrees with the outcome, else the episode's. A
    guess with confidence 0 is ignored.
    """
    verdict = asker_verdict(episode)
    outcome = _OF_VERDICT.get(verdict)
    if outcome is not None:
        agreeing = [grade for grade in grades if grade.is_correct == (outcome is Outcome.SUCCESS)]
        grade = latest(agreeing, of=GradeSource.PERSON)
        moments = [moment for moment in (episode.graded_at, grade.at if grade else None) if moment is not None]
        return StepJudgement(
            outcome=outcome,
            reason=grade.explanation if grade else episode.outcome_reason,
            correction=grade.correction if grade else episode.correction,
            by=grade.source if grade else GradeSource.REACTION,
            at=max(moments, default=None),
        )
    guess = latest(grades, of=GradeSource.MODEL)
    is_alone = verdict is not Verdict.DISPUTED and all(grade.source is GradeSource.MODEL for grade in grades)
    if guess is None or not guess.confidence or not is_alone:
        return StepJudgement()
    return StepJudgement(
        outcome=Outcome.SUCCESS if guess.is_correct else Outcome.FAILURE,
        reason=guess.explanation,
        correction=guess.correction,
        by=GradeSource.MODEL,
        at=guess.at,
    )


def asker_verdict(episode: Episode) -> Verdict:
    """The verdict of the narrowest audience that has one."""
    verdicts = episode.verdicts
    ordered = (verdicts.personal, verdicts.channel, verdicts.workspace)
    return next((verdict for verdict in ordered if verdict is not Verdict.PENDING), Verdict.PENDING)


def latest(grades: Sequence[Grade], *, of: GradeSource) -> Grade | None:
    """The last grade of one source; of equal times, the one that was stored later."""
    wanted = [grade for grade in grades if grade.source is of]
    return max(enumerate(wanted), key=lambda pair: (pair[1].at, pair[0]))[1] if wanted else None


def load_all_memories_for_session(session_id: str, *, episodic: EpisodicMemory | None = None) -> list[MemoryEntry]:
    """All memories of one's own session, graded or not, first step first. Empty for an unknown session.

    Memories from a direct message or a private channel are included only where they may be read.
    """
    memory = memory_or_default(episodic)
    with memory.memory.store.read() as tx:
        found = entries_of(tx, memory, require_text(session_id, "session_id"))
    return [entry.memory for entry in found]


def entries_of(tx: Transaction, episodic: EpisodicMemory, session_id: str) -> list[EpisodeEntry]:
    """The session's entries that may be read in this scope, with their episodes, by number."""
    scope = episodic.scope
    every = tx.steps.of_session(scope.workspace, scope.person, session_id)
    nodes = tx.episodes.get_many(scope.workspace, [step.episode_id for step in every])
    episodes = {name: node for name, node in nodes.items() if may_read(scope, node)}
    steps = [step for step in every if step.episode_id in episodes]
    wholes = tx.episodes.get_many(scope.workspace, {node.parent_id for node in episodes.values()})
    roots = {name: node for name, node in wholes.items() if may_read(scope, node)}
    vectors = tx.episodes.vectors(scope.workspace, [step.episode_id for step in steps if not step.embedding])
    grades = {
        episode_id: tuple(each.grade for each in given)
        for episode_id, given in tx.steps.grades(scope.workspace, [*episodes, *roots]).items()
    }
    return [
        EpisodeEntry(
            memory=_entry(
                step,
                episodes[step.episode_id],
                vectors.get(step.episode_id),
                grades.get(step.episode_id, ()),
                _whole(roots.get(episodes[step.episode_id].parent_id), grades),
                grades.get(episodes[step.episode_id].parent_id, ()),
            ),
            episode=episodes[step.episode_id],
        )
        for step in steps
    ]


def _whole(root: Episode | None, grades: Mapping[str, Sequence[Grade]]) -> StepJudgement:
    """The outcome of the whole run."""
    return judgement(root, grades.get(root.id, ())) if root is not None else StepJudgement()


def _entry(
    step: StoredStep,
    episode: Episode,
    vector: tuple[str, Vector] | None,
    grades: Sequence[Grade],
    whole: StepJudgement,
    run_grades: Sequence[Grade],
) -> MemoryEntry:
    judged = judgement(episode, grades)
    embedding = step.embedding or (tuple(float(number) for number in vector[1]) if vector else ())
    return MemoryEntry(
        id=step.number,
        step_id=step.step_id,
        env_pre=step.env_pre,
        internal_state=step.internal_state,
        think=episode.thoughts,
        internal_state_embedding=embedding,
        action=step.action,
        action_element_text=step.element_text,
        env_post=step.env_post,
        outcome=judged.outcome,
        outcome_reason=judged.reason,
        correction=judged.correction,
        task_incomplete=whole.reason if whole.outcome is Outcome.FAILURE else "",
        created_at=episode.created_at,
        step_num=episode.step_number,
        rep=episode.rep,
        session_id=step.session_id,
        run_id=step.run_id,
        quarantine=episode.quarantine,
        graded_by=judged.by,
        graded_at=judged.at,
        grades=tuple(grades),
        run_grades=tuple(run_grades),
    )
