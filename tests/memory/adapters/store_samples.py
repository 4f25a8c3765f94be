"""Values to store, and everything a store holds about one workspace, for comparing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from memory.model import (
    Audience,
    ChatSetting,
    EnvironmentState,
    Episode,
    EpisodeStatus,
    Event,
    EventKind,
    Grade,
    GradeSource,
    Incoming,
    LedgerEntry,
    Lesson,
    Link,
    LinkKind,
    MutedThread,
    Origin,
    Outgoing,
    Reaction,
    Retrieval,
    RetrievalItem,
    Role,
    Scope,
    SessionRun,
    ShortMemory,
    Signal,
    Step,
    StepKind,
    StoredGrade,
    StoredStep,
    Termination,
    TrustEvidence,
    Usage,
    Vector,
    Verdict,
    Verdicts,
    Visibility,
    Vote,
)
from memory.model.api_key import ApiKey, Right
from memory.model.batch import Batch, BatchLesson
from memory.model.evidence import BeliefRecord, EvidenceRecord, Judgement, Threshold, WeightRecord
from memory.model.saved_messages import SavedMessage
from memory.model.upkeep import JobProgress
from memory.ports import EpisodeFilter, IndexEntry, LessonUse, Neighbourhood, Store, Transaction

NOW = datetime(2025, 3, 14, 15, 9, 26, 535897, tzinfo=UTC)
MODEL = "test-model"
EVERYONE = IndexEntry(partition="workspace", audience=Audience.WORKSPACE, verdict=Verdict.SUCCESS)
CHANNEL = IndexEntry(partition="channel/C1", audience=Audience.CHANNEL, verdict=Verdict.FAILURE)
ALL = EpisodeFilter(limit=None, include_archived=True)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def unit(*numbers: float) -> Vector:
    vector = np.array(numbers, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def episode(episode_id: str, workspace: str = "w", **changes: object) -> Episode:
    values: dict[str, object] = {
        "id": episode_id,
        "workspace": workspace,
        "goal": f"goal of {episode_id}",
        "run_id": "r1",
        "channel": "C1",
        "person": "ana",
        "author": "ana",
        "created_at": NOW,
    }
    return Episode(**(values | changes))  # type: ignore[arg-type]  # any field by name


def full_episode() -> Episode:
    """Every field different from its default, with what databases get wrong."""
    steps = (
        Step(kind=StepKind.THINK, text="👩🏽‍🚀 x" + "ж" * 100_000),
        Step(kind=StepKind.ACT, tool="clock", arguments={"zone": "Europe/Paris", "n": [1, 2.5, None, {"a": True}]}),
        Step(kind=StepKind.OBSERVE, text="12:00\r\n\ttab", is_error=True),
        Step(kind=StepKind.EXPAND, flow="parallel", subgoals=("first", 'second "quoted"')),
    )
    return Episode(
        id="e-full",
        workspace="slack:T1",
        goal="¿Qué hora es? 🧠",
        trajectory=steps,
        status=EpisodeStatus.EXPAND,
        run_id="run",
        parent_id="parent",
        node_path="0.1",
        flow="parallel",
        why="because",
        step_number=3,
        rep=4,
        channel="C1",
        thread="t",
        person="ana",
        visibility=Visibility.PRIVATE,
        place="#general",
        origin=Origin.CORRECTION,
        author="bo",
        context_before=("channel:C1", "tool:clock"),
        context_after=("x'; DROP TABLE episodes; --",),
        thoughts="hmm",
        action="clock",
        action_target="paris",
        output="noon",
        termination=Termination.EXPAND,
        verdicts=Verdicts(personal=Verdict.SUCCESS, channel=Verdict.DISPUTED, workspace=Verdict.FAILURE),
        outcome_reason="a thumb",
        correction="one o'clock",
        task_incomplete="no tool",
        promoted=Audience.CHANNEL,
        quarantine=("injection", "length"),
        strength=0.123456789,
        nudge=-0.25,
        salience=3.5,
        salience_at=at(1),
        retrieval_count=5,
        used_count=6,
        ignored_count=7,
        model="offline",
        usage=Usage(prompt_tokens=8, completion_tokens=9, cost_usd=0.000123),
        exemplar_ids=("a", "b"),
        created_at=at(2),
        graded_at=at(3),
        archived_at=at(4.000001),
    )


def event(episode_id: str, kind: EventKind, workspace: str = "w", source: str = "", actor: str = "ana") -> Event:
    return Event(workspace=workspace, episode_id=episode_id, kind=kind, actor=actor, at=NOW, source_event_id=source)


def reaction(workspace: str = "w", **changes: object) -> Reaction:
    values: dict[str, object] = {
        "workspace": workspace,
        "channel": "C1",
        "message_id": "m1",
        "actor": "ana",
        "source": "emoji:👍🏽",
        "value": 1,
        "at": NOW,
        "run_id": "r1",
        "event_id": "ev-reaction",
    }
    return Reaction(**(values | changes))  # type: ignore[arg-type]  # any field by name


def vote(actor: str = "ana", workspace: str = "w", node_id: str = "", value: int = 1) -> Vote:
    return Vote(
        workspace=workspace,
        run_id="r1",
        actor=actor,
        role=Role.TEACHER,
        value=value,
        at=NOW,
        node_id=node_id,
        source="b",
        event_id="ev-vote",
        is_limited=True,
    )


def evidence(actor: str = "ana", workspace: str = "w", node_id: str = "", agrees: bool = True) -> TrustEvidence:
    return TrustEvidence(workspace=workspace, run_id="r1", actor=actor, node_id=node_id, agrees=agrees)


def entry(message_id: str, workspace: str = "w", part: int = 1, channel: str = "C1", run_id: str = "r1") -> LedgerEntry:
    return LedgerEntry(
        workspace=workspace,
        channel=channel,
        message_id=message_id,
        run_id=run_id,
        part=part,
        posted_at=at(part),
        expires_at=at(100),
    )


def incoming(
    event_id: str, workspace: str = "w", message_id: str = "", run_id: str = "", seconds: float = 0, channel: str = "C1"
) -> Incoming:
    scope = Scope(
        workspace=workspace, channel=channel, person="ana", thread="t", visibility=Visibility.DIRECT, place="#g"
    )
    return Incoming(
        scope=scope,
        event_id=event_id,
        message_id=message_id or f"m-{event_id}",
        text="what time is it?",
        at=at(seconds),
        run_id=run_id,
    )


def outgoing(part: int, workspace: str = "w", run_id: str = "r1") -> Outgoing:
    return Outgoing(
        workspace=workspace,
        run_id=run_id,
        part=part,
        channel="C1",
        thread="t",
        text="noon",
        sent_at=NOW,
        message_id="m1",
    )


def retrieval(retrieval_id: str, workspace: str = "w", run_id: str = "r1", seconds: float = 0) -> Retrieval:
    return Retrieval(
        workspace=workspace,
        id=retrieval_id,
        run_id=run_id,
        node_path="0",
        goal="time",
        at=at(seconds),
        counts={"total_loaded": 3, "env_fallback": True},
        evidence=weighed(),
    )


def weighed() -> EvidenceRecord:
    weights = (
        WeightRecord(episode_id="e1", weight=0.5, effect=-0.25, approves=False),
        WeightRecord(episode_id="ß", weight=0.1, effect=0.0625, approves=True),
    )
    return EvidenceRecord(
        beliefs=(
            BeliefRecord(action="answer", value=0.25, prior=0.0, weights=weights),
            BeliefRecord(action="clock", value=1.0, prior=0.125),
        ),
        nearest=0.875,
        lessons=12,
        threshold=0.1875,
        is_followed=True,
    )


def judgement(run_id: str = "r1", workspace: str = "w", actor: str = "bo", **more: object) -> Judgement:
    given: dict[str, object] = {
        "at": NOW,
        "confidence": 31,
        "is_right": True,
        "is_known": False,
        "is_checked": False,
        **more,
    }
    return Judgement(workspace=workspace, run_id=run_id, actor=actor, **given)  # type: ignore[arg-type]


def item(retrieval_id: str, episode_id: str, rank: int = 1, workspace: str = "w") -> RetrievalItem:
    return RetrievalItem(
        workspace=workspace,
        retrieval_id=retrieval_id,
        rank=rank,
        episode_id=episode_id,
        lesson=Lesson.AVOID,
        context_score=0.5,
        intent_score=-0.25,
        relevance=0.75,
        signal=Signal.USED,
        ratio=0.3,
    )


def link(from_id: str, to_id: str, kind: LinkKind = LinkKind.SUBGOAL_OF, workspace: str = "w") -> Link:
    return Link(workspace=workspace, from_id=from_id, to_id=to_id, kind=kind, at=NOW, weight=0.5)


def session_run(run_id: str = "run-1", workspace: str = "w", **changes: object) -> SessionRun:
    values: dict[str, object] = {
        "workspace": workspace,
        "person": "ana",
        "partition": "person/ana",
        "session_id": "s1",
        "run_id": run_id,
        "node_run": "r1",
        "root_id": "e1",
        "rep": 2,
        "task": "change the priority",
        "is_evaluation": True,
        "started_at": NOW,
    }
    return SessionRun(**(values | changes))  # type: ignore[arg-type]  # any field by name


def step(episode_id: str = "e1", workspace: str = "w", **changes: object) -> StoredStep:
    values: dict[str, object] = {
        "workspace": workspace,
        "episode_id": episode_id,
        "person": "ana",
        "session_id": "s1",
        "run_id": "run-1",
        "number": 1,
        "step_id": "first",
        "action": "fill('42', \"O'Hara\")",
        "element_text": "Name",
        "internal_state": "the form wants a name 🧠",
        "env_pre": EnvironmentState(elements=("b", "a"), url="/form", details={"n": [1, {"é": None}]}),
        "env_post": EnvironmentState(elements=("c",)),
        "embedding": (0.1, -1e-300, 1 / 3),
    }
    return StoredStep(**(values | changes))  # type: ignore[arg-type]  # any field by name


def grade(episode_id: str = "e1", workspace: str = "w", actor: str = "ana", **changes: object) -> StoredGrade:
    values: dict[str, object] = {
        "source": GradeSource.PERSON,
        "is_correct": False,
        "explanation": "wrong field",
        "correction": "fill the other one",
        "confidence": 0.75,
        "at": NOW,
        "grader": "g",
    }
    given = Grade(**(values | changes))  # type: ignore[arg-type]  # any field by name
    return StoredGrade(workspace=workspace, episode_id=episode_id, actor=actor, grade=given)


def short(key: str = "k1", workspace: str = "w", kind: str = "notes", **changes: object) -> ShortMemory:
    values: dict[str, object] = {
        "workspace": workspace,
        "kind": kind,
        "key": key,
        "value": {"n": [1, {"é": None}]},
        "person": "ana",
        "created_at": NOW,
        "expires_at": at(100),
    }
    return ShortMemory(**(values | changes))  # type: ignore[arg-type]  # any field by name


def nearest(
    store: Store,
    workspace: str,
    partitions: Sequence[str],
    model: str,
    vector: Vector,
    k: int,
    floor: float,
    *,
    include_gave_up: bool = True,
) -> Neighbourhood:
    """A search in a transaction of its own."""
    with store.read() as tx:
        return tx.episodes.nearest(workspace, partitions, model, vector, k, floor, include_gave_up=include_gave_up)


def use(episode_id: str, workspace: str = "w") -> LessonUse:
    """That a lesson of these samples was shown and used."""
    goal = episode(episode_id, workspace).goal
    return LessonUse(workspace=workspace, episode_id=episode_id, goal=goal, signal=Signal.USED, at=NOW)


class _AbortError(Exception):
    """Raised on purpose inside a transaction."""


@contextmanager
def aborted(store: Store) -> Iterator[Transaction]:
    """A writing transaction that fails after its body."""
    with suppress(_AbortError), store.write() as tx:
        yield tx
        raise _AbortError


def fill(tx: Transaction, workspace: str) -> None:
    """Something in every table, under the same ids in every workspace."""
    tx.episodes.put(episode("e1", workspace, place="#old", output=f"secret of {workspace}"))
    tx.episodes.put(episode("e2", workspace, parent_id="e1", step_number=2))
    tx.episodes.put_vector(workspace, "e1", MODEL, unit(1, 0, 0))
    tx.episodes.set_index(workspace, "e1", [EVERYONE, CHANNEL])
    tx.episodes.note_words(workspace, {"e1": ["bo"]})
    tx.episodes.add_link(link("e2", "e1", workspace=workspace))
    tx.log.claim(workspace, "ev1", NOW)
    tx.api_keys.add(api_key(workspace))
    tx.log.append(event("e1", EventKind.CREATED, workspace, source="ev1"))
    tx.log.append(event("e2", EventKind.CREATED, workspace))
    tx.teaching.put_reaction(reaction(workspace))
    tx.teaching.put_reaction(reaction(workspace, message_id="m2", run_id=""))
    tx.teaching.set_votes(workspace, "r1", [vote(workspace=workspace)])
    tx.teaching.set_trust_evidence(workspace, "r1", [evidence(workspace=workspace)])
    tx.people.note(workspace, "ana", NOW, timedelta(days=7))
    tx.teaching.put_ledger(entry("m1", workspace))
    tx.deliveries.accept(incoming("ev1", workspace, run_id="r1"))
    tx.deliveries.put_outgoing(outgoing(1, workspace))
    tx.deliveries.put_outgoing(replace(outgoing(3, workspace), sent_at=None, message_id=""))
    tx.retrievals.put(retrieval("q1", workspace), [item("q1", "e1", workspace=workspace)])
    tx.judgements.set(workspace, {"r1": [judgement(workspace=workspace)]})
    tx.judgements.put_threshold(Threshold(workspace=workspace, budget=0.125, value=0.25, reliability={"ana": 0.5}))
    tx.upkeep.put_progress(JobProgress(workspace=workspace, job="confusion", seq=5, tried_at=at(3)))
    tx.steps.put_run(session_run(workspace=workspace))
    tx.steps.put(step(workspace=workspace))
    tx.steps.add_grade(grade(workspace=workspace))
    tx.short.put(short(workspace=workspace))
    tx.settings.put(chat_setting(workspace))
    tx.channels.mute(muted(workspace))
    tx.people.welcome(workspace, NOW, person="ana")
    tx.saved.put(saved_message(workspace))
    tx.batches.put(batch(workspace))
    tx.batches.put_lessons(batch_lesson(workspace))


def api_key(workspace: str = "w") -> ApiKey:
    return ApiKey(workspace=workspace, name="k1", digest="d1", right=Right.TEACH, made_by="ana", made_at=NOW)


def batch(workspace: str = "w", **fields: Any) -> Batch:
    given = {"id": "b1", "name": "faq.csv", "digest": "d1", "actor": "ana", "at": NOW}
    return Batch(workspace=workspace, **{**given, **fields})


def batch_lesson(workspace: str = "w", **fields: Any) -> BatchLesson:
    given = {"key": "k1", "batch_id": "b1", "lesson_id": "e1", "audience": Audience.CHANNEL, "source": "line 2"}
    return BatchLesson(workspace=workspace, **{**given, **fields})


def saved_message(workspace: str = "w") -> SavedMessage:
    return SavedMessage(workspace=workspace, channel="C1", message_id="m1", lesson_id="e1", saved_at=NOW)


def chat_setting(workspace: str = "w", channel: str = "C1", name: str = "mode", value: str = "always") -> ChatSetting:
    return ChatSetting(workspace=workspace, channel=channel, name=name, value=value, changed_by="ana", at=NOW)


def muted(workspace: str = "w", thread: str = "t1") -> MutedThread:
    return MutedThread(workspace=workspace, channel="C1", thread=thread, since=NOW)


def dump(store: Store, workspace: str) -> dict[str, object]:
    """What every reading method says about one workspace. The log's numbers are left out: gaps are allowed."""
    with store.read() as tx:
        return dump_within(tx, workspace)


def dump_within(tx: Transaction, workspace: str) -> dict[str, object]:
    """The same, as a transaction sees it."""
    return _dump_of_tables(tx, workspace) | _dump_of_batches(tx, workspace) | _dump_of_index(tx, workspace)


def _dump_of_tables(tx: Transaction, workspace: str) -> dict[str, object]:
    return {
        "episodes": tx.episodes.get_many(workspace, ["e1", "e2", "e3"]),
        "prefix": [e for e in tx.episodes.find_prefix("e", 100) if e.workspace == workspace],
        "run": tx.episodes.of_run(workspace, "r1"),
        "list": tx.episodes.search(workspace, ALL),
        "vectors": {k: (m, v.tolist()) for k, (m, v) in tx.episodes.vectors(workspace, ["e1", "e2", "e3"]).items()},
        "index": [tx.episodes.index_of(workspace, each) for each in ("e1", "e2", "e3")],
        "words": tx.episodes.words_of_others(workspace, ["e1", "e2", "e3"]),
        "with words": tx.episodes.with_words_of(workspace, "bo"),
        "links": tx.episodes.links(workspace, ["e1", "e2", "e3"]),
        "log": _unnumbered([e for each in ("e1", "e2", "e3") for e in tx.log.of_episode(workspace, each)]),
        "run log": _unnumbered(tx.log.of_run(workspace, "r1")),
        "actor log": _unnumbered(tx.log.by_actor(workspace, "ana", list(EventKind))),
        "reactions": tx.teaching.reactions_of_run(workspace, "r1"),
        "reactions by": tx.teaching.reactions_by(workspace, "ana"),
        "in words": tx.teaching.reactions_in_words(workspace, "ev1"),
        "unclaimed": tx.teaching.unclaimed_reactions(workspace, "C1", "m2"),
        "votes": tx.teaching.votes(workspace, "r1"),
        "voted on": tx.teaching.runs_voted_on(workspace, ["ana"]),
        "evidence": tx.teaching.trust_evidence(workspace, "r1"),
        "known": dict(tx.people.known_people(workspace, ["ana", "new"]).known_from),
        "votes of members": tx.teaching.votes_between(workspace, NOW - timedelta(days=1), None),
        "ledger": tx.teaching.ledger(workspace, "C1", "m1", NOW),
        "ledger of run": tx.teaching.ledger_of_run(workspace, "r1"),
        "recent": tx.teaching.newest_answer(workspace, "C1"),
        "incoming": tx.deliveries.incoming(workspace, "ev1"),
        "incoming of run": tx.deliveries.incoming_of_run(workspace, "r1"),
        "unfinished": [each for each in tx.deliveries.unfinished() if each.scope.workspace == workspace],
        "said": tx.deliveries.messages_of(workspace, "", "ana", 10),
        "outgoing": tx.deliveries.outgoing(workspace, "r1"),
        "retrievals": tx.retrievals.of_run(workspace, "r1"),
        "retrieval": tx.retrievals.get(workspace, "q1"),
        "evidence of runs": tx.retrievals.evidence_of_runs(workspace, ["r1"]),
        "judgements": tx.judgements.of_run(workspace, "r1"),
        "judgement counts": tx.judgements.counts(workspace, 9),
        "threshold": tx.judgements.threshold(workspace),
        "progress": tx.upkeep.progress(workspace, "confusion"),
        "injected": tx.retrievals.of_episode(workspace, "e1"),
        "session run": tx.steps.run(workspace, "ana", "person/ana", "s1", "run-1"),
        "session runs": tx.steps.runs(workspace, "ana", "s1"),
        "steps": tx.steps.of_session(workspace, "ana", "s1"),
        "steps of": tx.steps.of_person(workspace, "ana"),
        "grades": _ungraded(tx, workspace),
        "short": tx.short.get(workspace, "notes", "k1", NOW),
        "short of": tx.short.of_person(workspace, "ana"),
        "keys": tx.api_keys.within(workspace),
        "key": tx.api_keys.find(workspace, "d1"),
        "saved": tx.saved.get(workspace, "C1", "m2"),
        "saved lessons": tx.saved.of_lessons(workspace, ["e1", "none"]),
        "settings": tx.settings.within(workspace, "C1"),
        "muted": [each for each in ("t1", "t2") if tx.channels.is_muted(workspace, "C1", each)],
        "welcomed": {each: at for each in ("ana", "bo") if (at := tx.people.welcomed_at(workspace, each))},
    }


def _dump_of_batches(tx: Transaction, workspace: str) -> dict[str, object]:
    return {
        "batch": tx.batches.get(workspace, "b1"),
        "batches": tx.batches.within(workspace),
        "batch lessons": tx.batches.lessons(workspace, "b1"),
        "of batches": tx.batches.of_lessons(workspace, ["e1", "none"]),
        "learned": tx.batches.known(workspace, ["k1", "k2"]),
        "batch list": tx.episodes.search(workspace, EpisodeFilter(batches=("b1",))),
    }


def _dump_of_index(tx: Transaction, workspace: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for query in (unit(1, 0, 0), unit(1, 2, 3)):
        near = tx.episodes.nearest(workspace, ["channel/C1", "workspace"], MODEL, query, 3, -1.0)
        hits = [(hit.episode_id, round(hit.cosine, 5), hit.audience, hit.verdict) for hit in near.hits]
        found[f"near {query}"] = (near.searched, hits)
    return found


def is_empty(dumped: dict[str, object]) -> bool:
    """Whether nothing at all was found (searches find `(0, [])`, the index three empty lists)."""
    return all(not value or value in ((0, []), [[], [], []]) for value in dumped.values())


def _ungraded(tx: Transaction, workspace: str) -> list[tuple[object, ...]]:
    found = tx.steps.grades(workspace, ["e1", "e2", "e3"])
    every = [*(each for of in sorted(found) for each in found[of]), *tx.steps.grades_by(workspace, "ana")]
    return [(each.episode_id, each.actor, each.grade) for each in every]


def _unnumbered(events: list[Event]) -> list[tuple[object, ...]]:
    return [(e.episode_id, e.kind, e.actor, e.at, e.source_event_id, dict(e.detail)) for e in events]
