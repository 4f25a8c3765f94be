"""The state of an episode as a fold of its events, used by all writes and recomputed by `rebuild --check`.

`unjudged` reduces an episode to what its run produced, `apply` is one step of the fold, `replay` folds a whole log.
Writes apply the same step to the stored state, so stored and replayed state agree by construction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from memory.model import (
    INITIAL_SALIENCE,
    INITIAL_STRENGTH,
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
    derive_strength,
)
from memory.rules.strength import bumped, nudged
from memory.rules.verdict import fold_votes, judge

USES = (EventKind.USED, EventKind.IGNORED, EventKind.UNKNOWN, EventKind.CONTRADICTED)
"""Events of a shown lesson's use; their names are those of `Signal`."""

GRADINGS = (EventKind.GRADED, EventKind.REGRADED, EventKind.UNGRADED)
"""Events that give an episode a grade, change it or remove it."""

DECISIONS = (EventKind.PROMOTED, EventKind.ARCHIVED, EventKind.RESTORED, EventKind.RELEASED)
"""Decisions of a person that are one event each; votes are registers, withdrawn by `unvoted`."""

__all__ = ["replaced"]

_FIELDS = {field.name: place for place, field in enumerate(fields(Episode))}
_VALUES = attrgetter(*_FIELDS)
_WRITERS = [getattr(Episode, name).__set__ for name in _FIELDS]

if TYPE_CHECKING:
    from dataclasses import replace as replaced  # type checkers know its arguments
else:

    def replaced(episode: Episode, /, **changes: object) -> Episode:
        """`dataclasses.replace` for episodes, which have more than fifty fields, in less than half of its time."""
        values = list(_VALUES(episode))
        for name, value in changes.items():
            values[_FIELDS[name]] = value
        new = object.__new__(Episode)
        for write, value in zip(_WRITERS, values, strict=True):
            write(new, value)
        new.__post_init__()
        return new


def unjudged(episode: Episode, **changes: Any) -> Episode:  # noqa: ANN401 - fields
    """The episode as its run made it, before any votes or use, with these changes."""
    return replaced(
        episode,
        **changes,
        status=EpisodeStatus.PENDING,
        verdicts=Verdicts(),
        outcome_reason="",
        correction="",
        promoted=None,
        quarantine=(),
        strength=INITIAL_STRENGTH,
        nudge=0.0,
        salience=INITIAL_SALIENCE,
        salience_at=episode.created_at,
        retrieval_count=0,
        used_count=0,
        ignored_count=0,
        graded_at=None,
        archived_at=None,
    )


def with_verdicts(episode: Episode, verdicts: Verdicts) -> Episode:
    """The episode with new verdicts, and the status and strength derived from them."""
    return replaced(episode, **_verdict_fields(episode, verdicts, episode.nudge))


def apply(episode: Episode, event: Event, verdicts: Verdicts | None = None) -> Episode:
    """One step of the fold, for events on the episode itself; with new verdicts if given.

    Votes go through `reaction_of` and `judge`.
    """
    changes = _changes(episode, event)
    if verdicts is not None:
        changes |= _verdict_fields(episode, verdicts, changes.get("nudge", episode.nudge))
    return replaced(episode, **changes) if changes else episode


def _verdict_fields(episode: Episode, verdicts: Verdicts, nudge: float) -> dict[str, Any]:
    status = derive_status(verdicts.overall, episode.termination)
    return {"verdicts": verdicts, "status": status, "strength": derive_strength(verdicts, nudge)}


def _changes(episode: Episode, event: Event) -> dict[str, Any]:
    """The fields that an event changes."""
    detail = event.detail
    match event.kind:
        case EventKind.QUARANTINED | EventKind.RELEASED | EventKind.RESTATED:
            flags = {"quarantine": _quarantine_after(episode.quarantine, event)}
            goal = str(detail.get("goal", ""))
            return flags | ({"goal": goal, "action_target": goal} if event.kind is EventKind.RESTATED else {})
        case EventKind.GRADED | EventKind.REGRADED | EventKind.UNGRADED:
            # Without a new reason, the last one stays.
            reason = str(detail.get("reason", episode.outcome_reason))
            moment = episode.graded_at if event.kind is EventKind.UNGRADED else event.at
            return {"graded_at": moment, "outcome_reason": reason}
        case EventKind.CORRECTED:
            # The text of one that is held back does not appear until its release.
            return {"correction": str(detail["text"])} if "text" in detail else {}
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


def _quarantine_after(before: Sequence[str], event: Event) -> tuple[str, ...]:
    """The episode's reasons for quarantine after a `quarantined`, `released` or `restated` event."""
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
        "strength": derive_strength(episode.verdicts, nudge),
        "used_count": episode.used_count + (signal is Signal.USED),
        "ignored_count": episode.ignored_count + (signal is Signal.IGNORED),
    }


def reaction_detail(reaction: Reaction) -> dict[str, object]:
    """The detail of a `voted` / `unvoted` event, from which `reaction_of` rebuilds the register."""
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
    """The register's value after a `voted` / `unvoted` event."""
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
    """The registers after a run's events, in order of arrival."""
    latest: dict[tuple[str, str, str, str, str, str], Reaction] = {}
    for event in events:
        if event.kind in (EventKind.VOTED, EventKind.UNVOTED):
            reaction = reaction_of(event)
            latest[reaction.key] = reaction
    return sorted(latest.values(), key=lambda reaction: reaction.seq)


UNDO = "undo"
"""Marks a `promoted` event that takes back the promotions by the same person before it."""


def effective_events(events: Iterable[Event]) -> list[Event]:
    """One episode's events, without promotions that were undone and decisions of people who were purged later."""
    left: list[Event] = []
    for event in events:
        if event.kind is EventKind.PURGED:
            left = [each for each in left if each.kind not in DECISIONS or each.actor != event.actor]
        elif event.kind is EventKind.PROMOTED and event.detail.get(UNDO):
            # It says what others' promotions came to then; these may be purged or forgotten since.
            left = [each for each in left if each.kind is not EventKind.PROMOTED or each.actor != event.actor]
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
    """The episode's state computed from its run's whole log.

    `run_events` are the events of all episodes of the run in log order: votes are events of the root but may apply to
    any node. A vote's weight and limit depend on other runs: `votes` and `weights` have them
    (`memory.services.verdicts.tally`); without them every vote counts 1.
    """
    state = unjudged(episode)
    for event in effective_events(each for each in run_events if each.episode_id == episode.id):
        state = apply(state, event)
    cast = fold_votes(registers(run_events)) if votes is None else votes
    return with_verdicts(state, judge(state, cast, policy, weights))
