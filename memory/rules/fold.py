"""The state of an episode as a fold of its events: what `rebuild --check` recomputes and every write goes through.

`apply` is one step of the fold; `facts` strips an episode to what the run itself produced; `replay` folds a whole log.
Writing code applies the same step to the stored state, so stored and replayed state agree by construction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from memory.model import (
    NEEDS_QUESTION,
    Audience,
    Episode,
    EpisodeStatus,
    Event,
    EventKind,
    Reaction,
    Role,
    Signal,
    TeachingPolicy,
    Verdicts,
    Vote,
    derive_status,
)
from memory.rules.strength import BASE_PENDING, SALIENCE_START, bumped, nudged, strength
from memory.rules.verdict import fold_votes, judge

USES = (EventKind.USED, EventKind.IGNORED, EventKind.UNKNOWN, EventKind.CONTRADICTED)
"""How a lesson fared that was shown, by the names of `Signal`."""

GRADINGS = (EventKind.GRADED, EventKind.REGRADED, EventKind.UNGRADED)
"""Events that give an episode its grade, change it or take it back."""

DECISIONS = (EventKind.PROMOTED, EventKind.ARCHIVED, EventKind.RESTORED, EventKind.RELEASED)
"""What a person decides about an episode by one event; a vote is a register, withdrawn by `unvoted`."""

__all__ = ["replaced"]

_FIELDS = {field.name: place for place, field in enumerate(fields(Episode))}
_VALUES = attrgetter(*_FIELDS)
_WRITERS = [getattr(Episode, name).__set__ for name in _FIELDS]

if TYPE_CHECKING:
    from dataclasses import replace as replaced  # whose arguments are checked
else:

    def replaced(episode: Episode, /, **changes: object) -> Episode:
        """`dataclasses.replace` of an episode, in less than half of its time: there are more than fifty fields."""
        values = list(_VALUES(episode))
        for name, value in changes.items():
            values[_FIELDS[name]] = value
        new = object.__new__(Episode)
        for write, value in zip(_WRITERS, values, strict=True):
            write(new, value)
        new.__post_init__()
        return new


def facts(episode: Episode, **changes: Any) -> Episode:  # noqa: ANN401 - fields
    """The episode as the run made it, before anybody or anything touched it; with these changes."""
    return replaced(
        episode,
        **changes,
        status=EpisodeStatus.PENDING,
        verdicts=Verdicts(),
        outcome_reason="",
        correction="",
        promoted=None,
        quarantine=(),
        strength=BASE_PENDING,
        nudge=0.0,
        salience=SALIENCE_START,
        salience_at=episode.created_at,
        retrieval_count=0,
        used_count=0,
        ignored_count=0,
        graded_at=None,
        archived_at=None,
    )


def with_verdicts(episode: Episode, verdicts: Verdicts) -> Episode:
    """The episode with new verdicts and all that is derived from them."""
    return replaced(episode, **_judged(episode, verdicts, episode.nudge))


def apply(episode: Episode, event: Event, verdicts: Verdicts | None = None) -> Episode:
    """One step of the fold for events that touch the episode directly, with new verdicts if they are given.

    Votes go through `reaction_of` and `judge`.
    """
    changes = _changes(episode, event)
    if verdicts is not None:
        changes |= _judged(episode, verdicts, changes.get("nudge", episode.nudge))
    return replaced(episode, **changes) if changes else episode


def _judged(episode: Episode, verdicts: Verdicts, nudge: float) -> dict[str, Any]:
    status = derive_status(verdicts.overall, episode.termination)
    return {"verdicts": verdicts, "status": status, "strength": strength(verdicts, nudge)}


def _changes(episode: Episode, event: Event) -> dict[str, Any]:
    """What an event makes of an episode's fields."""
    detail = event.detail
    match event.kind:
        case EventKind.QUARANTINED | EventKind.RELEASED | EventKind.RESTATED:
            held = {"quarantine": _held(episode.quarantine, event)}
            goal = str(detail.get("goal", ""))
            return held | ({"goal": goal, "action_target": goal} if event.kind is EventKind.RESTATED else {})
        case EventKind.GRADED | EventKind.REGRADED | EventKind.UNGRADED:
            # Without a word about the reason, the one that was given stays: nobody repeats it in their own name.
            reason = str(detail.get("reason", episode.outcome_reason))
            moment = episode.graded_at if event.kind is EventKind.UNGRADED else event.at
            return {"graded_at": moment, "outcome_reason": reason}
        case EventKind.CORRECTED:
            return {"correction": str(detail.get("text", ""))}
        case EventKind.INJECTED | EventKind.QUERY_BUMP:
            return {
                "salience": bumped(episode.salience, episode.salience_at, event.at),
                "salience_at": max(event.at, episode.salience_at),
                "retrieval_count": episode.retrieval_count + (event.kind is EventKind.INJECTED),
            }
        case EventKind.USED | EventKind.IGNORED | EventKind.UNKNOWN | EventKind.CONTRADICTED:
            return _after_use(episode, Signal(event.kind.value))
        case EventKind.ARCHIVED:
            return {"archived_at": event.at}
        case EventKind.RESTORED:
            return {"archived_at": None}
        case EventKind.PROMOTED:
            audience = str(detail.get("audience", ""))
            return {"promoted": Audience(audience) if audience else None}
        case _:
            return {}


def _held(before: Sequence[str], event: Event) -> tuple[str, ...]:
    """Why an episode is held back after it was, for more reasons; was released; was given a question by its author."""
    match event.kind:
        case EventKind.RELEASED:
            return tuple(flag for flag in before if flag == NEEDS_QUESTION)
        case EventKind.RESTATED:
            before = [flag for flag in before if flag != NEEDS_QUESTION]
    flags = event.detail.get("flags", ())
    return tuple(dict.fromkeys((*before, *map(str, flags if isinstance(flags, list | tuple) else ()))))


def _after_use(episode: Episode, signal: Signal) -> dict[str, Any]:
    nudge = nudged(episode.nudge, signal)
    return {
        "nudge": nudge,
        "strength": strength(episode.verdicts, nudge),
        "used_count": episode.used_count + (signal is Signal.USED),
        "ignored_count": episode.ignored_count + (signal is Signal.IGNORED),
    }


def reaction_detail(reaction: Reaction) -> dict[str, object]:
    """What a `voted` / `unvoted` event must hold so that the register can be rebuilt from it."""
    return {
        "channel": reaction.channel,
        "message_id": reaction.message_id,
        "node_id": reaction.node_id,
        "source": reaction.source,
        "value": reaction.value,
        "role": reaction.role.value,
        "run_id": reaction.run_id,
        "at": reaction.at.isoformat(),
        "event": reaction.event_id,
    }


def reaction_of(event: Event) -> Reaction:
    """The register's value as a `voted` / `unvoted` event left it."""
    detail = event.detail
    return Reaction(
        workspace=event.workspace,
        channel=str(detail["channel"]),
        message_id=str(detail["message_id"]),
        node_id=str(detail["node_id"]),
        actor=event.actor,
        source=str(detail["source"]),
        value=int(str(detail["value"])),
        role=Role(str(detail["role"])),
        run_id=str(detail["run_id"]),
        at=datetime.fromisoformat(str(detail["at"])),
        is_active=event.kind is EventKind.VOTED,
        seq=event.seq,
        event_id=str(detail.get("event", "")),
    )


def registers(events: Iterable[Event]) -> list[Reaction]:
    """The registers that a run's events leave, in order of arrival."""
    latest: dict[tuple[str, str, str, str, str, str], Reaction] = {}
    for event in events:
        if event.kind in (EventKind.VOTED, EventKind.UNVOTED):
            reaction = reaction_of(event)
            latest[reaction.key] = reaction
    return sorted(latest.values(), key=lambda reaction: reaction.seq)


def effective(events: Iterable[Event]) -> list[Event]:
    """One episode's events without the decisions of a person that a later purge of that person withdrew."""
    left: list[Event] = []
    for event in events:
        if event.kind is EventKind.PURGED:
            left = [each for each in left if each.kind not in DECISIONS or each.actor != event.actor]
        else:
            left.append(event)
    return left


def replay(
    episode: Episode,
    run_events: Sequence[Event],
    policy: TeachingPolicy,
    *,
    votes: Sequence[Vote] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Episode:
    """The episode as its run's whole log says it must be.

    `run_events` are the events of every episode of the run in log order: votes hang on the root but may speak for any
    node. What a vote weighs, and whether it is beyond its voter's limit, depends on other runs: `votes` and `weights`
    bring that (`memory.services.verdicts.tally`); without them every vote counts 1.
    """
    state = facts(episode)
    for event in effective(each for each in run_events if each.episode_id == episode.id):
        state = apply(state, event)
    cast = fold_votes(registers(run_events)) if votes is None else votes
    return with_verdicts(state, judge(state, cast, policy, weights))
